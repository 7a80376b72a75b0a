"""``torch.nested._internal.nested_tensor``."""

from taeda.nested import nested_tensor_from_jagged as nested_view_from_values_offsets
from taeda.nested._tensor import NestedTensor as NestedTensor

__all__ = ["NestedTensor", "nested_view_from_values_offsets"]
