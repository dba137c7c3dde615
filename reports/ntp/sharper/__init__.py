"""Statements sharper than those of arXiv 2409.17335, with proofs in docs/proofs.md."""
