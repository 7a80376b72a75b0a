"""What passes over exported programs ask of them."""

from taeda.export import register_dataclass as register_dataclass_as_pytree_node
from taeda.export._parts import get_buffer as get_buffer
from taeda.export._parts import get_lifted_tensor_constant as get_lifted_tensor_constant
from taeda.export._parts import get_param as get_param
from taeda.export._parts import is_buffer as is_buffer
from taeda.export._parts import is_lifted_tensor_constant as is_lifted_tensor_constant
from taeda.export._parts import is_param as is_param
from taeda.export._parts import node_inline_ as node_inline_
from taeda.export._parts import node_replace_ as node_replace_
from taeda.export._parts import nodes_count as nodes_count
from taeda.export._parts import nodes_filter as nodes_filter
from taeda.export._parts import nodes_first as nodes_first
from taeda.export._parts import nodes_map as nodes_map
from taeda.export._parts import sequential_split as sequential_split
from taeda.export._parts import without_state_dict_hooks as _disable_load_state_dict_hooks

__all__ = ["_disable_load_state_dict_hooks", "register_dataclass_as_pytree_node"]
