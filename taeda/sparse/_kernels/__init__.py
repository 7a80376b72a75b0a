"""The kernels of sparse layouts. The core loads them before the first sparse tensor is there.

Each is a function that takes tensors apart (``taeda/sparse/_parts``), works with their indices and values, and puts the
result together; so autograd, which does not record a call on sparse tensors itself, records what it is made of. An op
that has no kernel here goes to ``fallback``: by its formula, if it is pointwise, else through another layout.
"""

from taeda.sparse._kernels import copies, factories, meta, products, reductions, structure, sums
from taeda.sparse._kernels.registry import register

register(copies, factories, meta, products, reductions, structure, sums)
