"""Expected failures, ``"aspect op": reason``. A test of this table that passes is a failure: take the row out."""

from __future__ import annotations

_STRIDES = "PyTorch reads strided indices, offsets and bag sizes as if they were contiguous"

KNOWN: dict[str, str] = {
    "torch _embedding_bag": _STRIDES,
    "torch _embedding_bag_forward_only": _STRIDES,
    "torch _embedding_bag_dense_backward": _STRIDES,
    "dtype gelu_backward": "PyTorch answers mixed dtypes in two ways: as here with its oneDNN switched off; with it "
    "it refuses (int64, float32) and rounds (float16, bfloat16) to bfloat16",
    **dict.fromkeys(
        ("dtype matrix_exp", "dtype linalg_matrix_exp"),
        "PyTorch computes half-precision exponentials in half precision, where they overflow to NaN; here in float32",
    ),
    **dict.fromkeys(
        [
            f"recording {op}space.{ends}"
            for op in ("lin", "log")
            for ends in ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")
        ],
        "PyTorch's op records a node that raises; its function, which programs call, records nothing",
    ),
    **dict.fromkeys(
        ("torch _local_scalar_dense", "dtype _local_scalar_dense"),
        "PyTorch gives the first element of several; here several are an error, as for item, its caller",
    ),
    **dict.fromkeys(
        ("torch pin_memory", "dtype pin_memory"),
        "PyTorch refuses where no accelerator is; here the memory serves as it is",
    ),
    **dict.fromkeys(
        ("dtype _add_relu.Tensor", "dtype _add_relu.Scalar"),
        "PyTorch's ends in an internal assertion for all dtypes but float32, float64 and some integers",
    ),
    "torch _masked_softmax": "PyTorch's keeps the order of the operand's dimensions in memory; its softmax does not",
    "dtype _neg_view": "the negatives of truth values are a tensor that cannot be read, in PyTorch, too",
    "torch _standard_gamma_grad": "PyTorch resizes an output made like the smaller operand, so that the strides of its "
    "result depend on which operand is broadcast",
    "torch _convert_indices_from_coo_to_csr": "PyTorch's kernel reads any layout as if it were contiguous",
    "torch choose_qparams_optimized": "PyTorch reads a strided input as if it were contiguous",
    "torch _weight_norm_interface": "PyTorch's kernel reads any layout as if it were contiguous; _weight_norm, its "
    "caller, makes it so first",
}
