"""Right calls of operators that have no samples: quantised ones, by name, each made anew when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import taeda
from fuzz.other_data import PACKED

Arguments = Callable[[], list[Any]]
OUTPUT = (0.1, 3)  # the scale and zero point of results


def q(*sizes: int, dtype: taeda.dtype = taeda.quint8) -> taeda.Tensor:
    return taeda.quantize_per_tensor(taeda.rand(sizes), 0.02, 3 if dtype == taeda.quint8 else 0, dtype)


def packed(kind: str, which: int = 0) -> Any:
    return PACKED[f"{kind}PackedParamsBase"][which]()


def linear(inputs: int) -> Any:
    return taeda.ops.quantized.linear_prepack(q(12, inputs, dtype=taeda.qint8), taeda.zeros(12))


def cell(hidden: int) -> Any:
    bias = taeda.zeros(12)
    return taeda.ops.quantized.make_quantized_cell_params_dynamic(linear(3), linear(hidden), bias, bias, False)


def of_arithmetic() -> Iterator[tuple[str, Arguments]]:
    for name in ("add", "add_relu", "mul", "mul_relu", "matmul"):
        yield f"quantized.{name}.default", lambda: [q(4, 4), q(4, 4), *OUTPUT]
    for name in ("add", "mul", "add_relu", "mul_relu"):
        yield f"quantized.{name}.out", lambda: [q(4, 4), q(4, 4), q(4, 4)]
        yield f"quantized.{name}_out.default", lambda: [q(4, 4), q(4, 4), q(4, 4)]
        yield f"quantized.{name}.Scalar", lambda: [q(4, 4), 2.5]
    for name in ("cat", "cat_relu"):
        yield f"quantized.{name}.default", lambda: [[q(2, 3), q(2, 3)], 1, *OUTPUT]
        yield f"quantized.{name}_out.default", lambda: [[q(2, 3), q(2, 3)], 0, q(4, 3)]
    for name in ("sigmoid", "hardswish", "elu", "celu", "dropout"):
        yield f"quantized.{name}.default", lambda: [q(3, 5), *OUTPUT]
    yield "quantized.leaky_relu.default", lambda: [q(3, 5), 0.1, False, *OUTPUT]
    yield "quantized.relu6.default", lambda: [q(3, 5)]
    yield "quantized.threshold.default", lambda: [q(3, 5), 0.5, 1.0]
    yield "quantized.clamp.default", lambda: [q(3, 5), 0.5, 1.0]
    yield "quantized.softmax.default", lambda: [q(3, 5), 1, *OUTPUT]
    yield "quantized.prelu.default", lambda: [q(3, 5), taeda.rand(5), *OUTPUT]


def of_layers() -> Iterator[tuple[str, Arguments]]:
    weights = lambda n: [taeda.ones(n), taeda.zeros(n)]
    yield "quantized.layer_norm.default", lambda: [q(2, 3, 4), [4], *weights(4), 1e-5, *OUTPUT]
    yield "quantized.group_norm.default", lambda: [q(2, 4, 3), 2, *weights(4), 1e-5, *OUTPUT]
    yield "quantized.instance_norm.default", lambda: [q(2, 4, 3), *weights(4), 1e-5, *OUTPUT]
    for name, sizes in (("", (2, 4, 3)), ("1d", (2, 4, 3)), ("2d", (2, 4, 3, 3)), ("3d", (2, 4, 2, 3, 3))):
        for relu in ("", "_relu"):
            yield (
                f"quantized.batch_norm{name}{relu}.default",
                lambda s=sizes: [q(*s), *weights(4), *weights(4)[::-1], 1e-5, *OUTPUT],
            )
    yield "aten.quantized_batch_norm.default", lambda: [q(2, 4, 3, 3), *weights(4), *weights(4)[::-1], 1e-5, *OUTPUT]
    for rank in (1, 2, 3):
        sizes = [2, 3, *[5] * rank]
        pool = lambda s=sizes, r=rank: [q(*s), [2] * r, [2] * r, [0] * r, [1] * r, False]
        yield f"aten.quantized_max_pool{rank}d.default", pool
        if rank < 3:
            yield f"quantized.max_pool{rank}d.default", pool


def of_products() -> Iterator[tuple[str, Arguments]]:
    for name in ("linear", "linear_relu", "linear_tanh"):
        yield f"quantized.{name}.default", lambda: [q(2, 3), packed("Linear"), *OUTPUT]
    yield "quantized.linear_leaky_relu.default", lambda: [q(2, 3), packed("Linear"), *OUTPUT, 0.1]
    for name in ("linear_dynamic", "linear_relu_dynamic"):
        yield f"quantized.{name}.default", lambda: [taeda.rand(2, 3), packed("Linear"), False]
        yield f"quantized.{name}_fp16.default", lambda: [taeda.rand(2, 3), packed("Linear", 1)]
    yield "quantized.linear_prepack.default", lambda: [q(4, 3, dtype=taeda.qint8), taeda.zeros(4)]
    for which, (name, sizes) in enumerate(
        (("conv2d", (2, 3, 4, 5)), ("conv1d", (2, 3, 5)), ("conv_transpose2d", (2, 3, 4, 5)))
    ):
        overload = "new" if name == "conv2d" else "default"
        yield f"quantized.{name}.{overload}", lambda s=sizes, w=which: [q(*s), packed("Conv2d", w), *OUTPUT]
        yield f"quantized.{name}_dynamic.default", lambda s=sizes, w=which: [taeda.rand(s), packed("Conv2d", w), False]
    yield "quantized.conv2d_relu.new", lambda: [q(2, 3, 4, 5), packed("Conv2d"), *OUTPUT]
    yield "quantized.conv2d_add.default", lambda: [q(2, 3, 4, 5), q(2, 4, 4, 6), packed("Conv2d"), *OUTPUT]
    yield "quantized.conv3d.new", lambda: [q(2, 3, 2, 4, 5), packed("Conv3d"), *OUTPUT]
    for rank in (1, 2, 3):
        ones, zeros = [1] * rank, [0] * rank
        filters = lambda r=rank: q(4, 3, *[2] * r, dtype=taeda.qint8)
        yield (
            f"quantized.conv{rank}d_prepack.default",
            lambda f=filters, o=ones, z=zeros: [f(), taeda.zeros(4), o, z, o, 1],
        )
        yield (
            f"quantized.conv_transpose{rank}d_prepack.default",
            lambda f=filters, o=ones, z=zeros: [f(), taeda.zeros(3), o, z, z, o, 1],
        )


def of_tables() -> Iterator[tuple[str, Arguments]]:
    places = lambda: [taeda.tensor([0, 4, 2, 1]), taeda.tensor([0, 2])]
    for bits in ("byte", "4bit", "2bit"):
        prepack = getattr(taeda.ops.quantized, f"embedding_bag_{bits}_prepack")
        yield f"quantized.embedding_bag_{bits}_prepack.default", lambda: [taeda.rand(5, 8)]
        yield f"quantized.embedding_bag_{bits}_unpack.default", lambda p=prepack: [p(taeda.rand(5, 8))]
        yield (
            f"quantized.embedding_bag_{bits}_rowwise_offsets.default",
            lambda p=prepack: [p(taeda.rand(5, 8)), *places(), False, 0, False, None, None, False],
        )
        yield (
            f"quantized.embedding_bag_{bits}_rowwise_offsets.default",
            lambda p=prepack: [
                p(taeda.rand(5, 8)),
                *places(),
                False,
                0,
                True,
                taeda.rand(4),
                taeda.arange(5).int(),
                False,
            ],
        )
    for which, bits in ((1, "byte"), (0, "4bit")):
        yield f"quantized.embedding_bag_{bits}.default", lambda w=which: [packed("Embedding", w), *places(), False, 0]
        yield f"quantized.embedding_{bits}.default", lambda w=which: [packed("Embedding", w), places()[0]]


def of_recurrences() -> Iterator[tuple[str, Arguments]]:
    """Twelve rows of weights: four gates of three numbers, three of four, one of twelve."""
    state = lambda *sizes: [taeda.zeros(sizes), taeda.zeros(sizes)]
    flags = [True, 1, 0.0, False, False]
    packed_data = lambda: [taeda.rand(5, 3), taeda.tensor([2, 2, 1])]
    yield "aten.quantized_lstm.input", lambda: [taeda.rand(4, 2, 3), state(1, 2, 3), [cell(3)], *flags, False]
    yield "aten.quantized_lstm.data", lambda: [*packed_data(), state(1, 2, 3), [cell(3)], *flags]
    yield "aten.quantized_gru.input", lambda: [taeda.rand(4, 2, 3), taeda.zeros(1, 2, 4), [cell(4)], *flags, False]
    yield "aten.quantized_gru.data", lambda: [*packed_data(), taeda.zeros(1, 2, 4), [cell(4)], *flags]
    bias = lambda: [taeda.zeros(12), taeda.zeros(12)]
    yield (
        "quantized.quantized_lstm_cell_dynamic.default",
        lambda: [taeda.rand(2, 3), state(2, 3), linear(3), linear(3), *bias()],
    )
    for name, hidden in (("gru", 4), ("rnn_relu", 12), ("rnn_tanh", 12)):
        yield (
            f"quantized.quantized_{name}_cell_dynamic.default",
            lambda n=hidden: [taeda.rand(2, 3), taeda.zeros(2, n), linear(3), linear(n), *bias()],
        )


@cache
def right_calls() -> tuple[tuple[str, Arguments], ...]:
    return (*of_arithmetic(), *of_layers(), *of_products(), *of_tables(), *of_recurrences())


def overload(name: str) -> Any:
    namespace, packet, kind = name.split(".")
    return getattr(getattr(getattr(taeda.ops, namespace), packet), kind)
