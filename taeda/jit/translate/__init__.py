"""From graphs to programs: registers, instructions, and the text that the machine in C++ reads."""
