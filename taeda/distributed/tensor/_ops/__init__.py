"""What programs import from where PyTorch has it."""
