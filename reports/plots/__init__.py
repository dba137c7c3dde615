"""The style of all plots, and a finding as a plot."""
