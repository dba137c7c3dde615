"""Results of a paper for the commands: solutions, certificates, conformity, sweeps."""
