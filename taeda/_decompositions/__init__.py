"""What composite ops are made of, as Python functions over tensors: the bodies in ``taedagen/ops`` themselves.

The library runs the same bodies, as C++ made from them. taedagen is loaded on first use.
"""

from taeda._decompositions.bodies import decomposition_of as decomposition_of
from taeda._decompositions.bodies import formula_of as formula_of
from taeda._decompositions.table import core_aten_decompositions as core_aten_decompositions
from taeda._decompositions.table import decomposition_table as decomposition_table
from taeda._decompositions.table import get_decompositions as get_decompositions
from taeda._decompositions.table import register_decomposition as register_decomposition
from taeda._decompositions.table import remove_decompositions as remove_decompositions
