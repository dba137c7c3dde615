"""Stage 2 beyond affordable steps: gradient flow, its asymptotic law, and their error bounds."""
