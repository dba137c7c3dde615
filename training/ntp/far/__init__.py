"""Stage 2 far beyond the steps that can be taken: the flow, its late law, and how far each holds."""
