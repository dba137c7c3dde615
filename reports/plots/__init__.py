"""What all plots share, and a finding as a plot."""
