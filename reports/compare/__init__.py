"""Two audits side by side: changes beyond error bars."""
