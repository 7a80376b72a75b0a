"""Embeddings whose tables hold integers of 8, 4 or 2 bits, with a scale and a bias for each row."""

from taedagen.opdef import *

_PARAMS = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase"
_FILES = "quantized/embedding"
_BAG = ("Tensor indices, Tensor? offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, "
        "Tensor? per_sample_weights=None, Tensor? compressed_indices_mapping=None, "
        "bool include_last_offset=False")  # fmt: skip
_OPTIMIZED = "bool optimized_qparams=False, int nbins=200, float ratio=0.16"


def _declare(schema, doc):
    composite(f"quantized::{schema}", files=_FILES, samples=[])(defined(f'def _(*_):\n    """{doc}"""'))


# --- rows as bytes: the integers, then a scale and a bias (float32 after 8-bit integers, float16 after smaller ones)
for _name, _bits in (("byte", 8), ("4bit", 4), ("2bit", 2)):
    _more = "" if _bits == 8 else f", {_OPTIMIZED}"
    _declare(
        f"embedding_bag_{_name}_prepack(Tensor weight{_more}) -> Tensor",
        f"The rows of a float table as bytes: integers of {_bits} bits, then what makes numbers of them.",
    )
    _declare(
        f"embedding_bag_{_name}_prepack_with_rowwise_min_max(Tensor weight, Tensor rowwise_min_max{_more}) -> Tensor",
        "The same with the smallest and largest number of each row, (rows, 2), given.",
    )
    _declare(f"embedding_bag_{_name}_unpack(Tensor weight) -> Tensor", "The table as float32.")
    _declare(
        f"embedding_bag_{_name}_rowwise_offsets(Tensor weight, {_BAG}) -> Tensor",
        "Sums (``mode`` 0), means (1) or maxima (2) of bags of rows; ``embedding_bag`` of the unpacked table.",
    )

# --- packed from quantised tensors
_declare(
    f"embedding_bag_prepack(Tensor weight) -> {_PARAMS} W_prepack",
    "A quint8 or quint4x2 table that was quantised by row with float zero points, ready for look-ups.",
)
_declare(f"embedding_bag_unpack({_PARAMS} W_prepack) -> Tensor W_origin", "The table that was packed.")
for _name in ("byte", "4bit"):
    _declare(f"embedding_bag_{_name}({_PARAMS} weight, {_BAG}) -> Tensor", "``embedding_bag`` of the table.")
    _declare(
        f"embedding_{_name}({_PARAMS} weight, Tensor indices, bool pruned_weights=False) -> Tensor",
        "The rows at the indices, as float32.",
    )
