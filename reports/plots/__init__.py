"""Style of all plots, and plots of findings."""
