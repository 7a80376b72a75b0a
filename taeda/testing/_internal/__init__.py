"""Helpers of PyTorch's own tests, as far as tests of published packages import them."""
