"""PyTorch's own tests, run over Taeda: ``make pytorch-tests``."""
