"""The audit: claims on datasets, the ledger, and claims from outside."""
