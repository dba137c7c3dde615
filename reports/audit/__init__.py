"""The audit: claims on datasets, the ledger, and users' claims."""
