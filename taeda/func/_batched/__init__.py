"""All examples of a ``vmap`` at once: tensors that hold a batch and show one example, and what each op does to them.

tensor.py has the tensors and finds an op's rule; the other files are rules, by family.
"""
