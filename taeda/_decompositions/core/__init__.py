"""Bodies for `run_decompositions` that end at the ops of PyTorch's core ATen set, for ops whose own bodies are kernels
here or end elsewhere."""

from taeda._decompositions.core.table import bodies as bodies
from taeda._decompositions.core.table import laid_out as laid_out
from taeda._schema.core_ops import CORE_OPS

# What PyTorch leaves as it is besides: assertions, numbers out of tensors, and a few that have no simpler form.
ENDS = CORE_OPS | {
    "_assert_scalar", "_assert_tensor_metadata", "_native_batch_norm_legit_functional", "detach", "item", "lift_fresh",
    "linalg_vector_norm", "max", "min", "var_mean.correction",
}  # fmt: skip
