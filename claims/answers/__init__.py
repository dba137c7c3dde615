"""What a paper gives to commands: solutions, certificates, conformity, sweeps."""
