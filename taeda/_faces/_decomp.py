"""What PyTorch keeps in ``torch._decomp``."""

from taeda._decompositions import core_aten_decompositions as core_aten_decompositions
from taeda._decompositions import decomposition_table as decomposition_table
from taeda._decompositions import get_decompositions as get_decompositions
from taeda._decompositions import register_decomposition as register_decomposition
from taeda._decompositions import remove_decompositions as remove_decompositions

global_decomposition_table = {"post_autograd": decomposition_table}
