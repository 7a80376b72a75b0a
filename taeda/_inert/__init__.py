"""Switches and filters for a compiler that programs set: they are checked and kept, and nothing reads them."""
