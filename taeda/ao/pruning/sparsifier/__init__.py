"""What chooses the elements that become zero."""
