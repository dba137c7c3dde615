"""Two audits side by side: what changed beyond error bars."""
