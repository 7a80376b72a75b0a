"""What libraries ask of tracing below autograd."""
