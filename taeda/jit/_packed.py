"""Packed weights of quantised modules as objects of Python: what they show, and how they are pickled.

The layout of the states is PyTorch's, so that files with packed weights go both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import ops

_CLASSES = "__torch__.torch.classes."
_q: Any = ops.quantized


def _linear_state(packed: Any) -> Any:
    return packed.unpack()


def _linear(state: Any) -> Any:
    weight, bias = state
    return _q.linear_prepack(weight, bias) if weight.is_quantized else _q.linear_prepack_fp16(weight, bias)


def _conv_state(packed: Any) -> Any:
    lists = (packed._stride, packed._padding, packed._dilation, packed._output_padding)
    facts = [len(packed._stride), *(n for numbers in lists for n in numbers), packed._groups, packed._transpose]
    return "2", [taeda.tensor(facts, dtype=taeda.int16), packed._weight], [packed._bias]


def _conv(state: Any) -> Any:
    if len(state) == 6:  # layout 1: a tensor for each number
        weight, bias, stride, padding, dilation, groups = state
        lists = (stride, padding, dilation, [0] * len(stride))
        facts = [len(stride), *(int(n) for numbers in lists for n in numbers), int(groups), 0]
    elif state[0] == 3:
        _, facts, (_, weight, bias) = state
    elif state[0] == "2":
        _, (facts, weight), (bias,) = state
        facts = facts.tolist()
    else:
        raise RuntimeError(f"taeda: packed convolutions are read in their layouts 1 to 3; got {state[0]!r}")
    rank, *numbers = facts
    stride, padding, dilation, output_padding = (numbers[i * rank : (i + 1) * rank] for i in range(4))
    groups, transpose = numbers[4 * rank :]
    name = f"conv{'_transpose' if transpose else ''}{rank}d_prepack"
    more = [output_padding] if transpose else []
    return getattr(_q, name)(weight, bias, stride, padding, *more, dilation, groups)


def _embedding_state(packed: Any) -> Any:
    return 1, [packed._weight], [], [packed._bit_rate]


def _embedding(state: Any) -> Any:
    _, (weight,), _, _ = state
    return _q.embedding_bag_prepack(weight)


def _cell_state(packed: Any) -> Any:
    biases = [packed._b_ih, packed._b_hh] if packed._kind == "quantized_dynamic" else []
    return packed._kind, biases, [], [int(packed._reduce_range)] * bool(biases), [packed._w_ih, packed._w_hh]


def _cell(state: Any) -> Any:
    kind, biases, _, numbers, weights = state
    if kind == "quantized_fp16":
        return _q.make_quantized_cell_params_fp16(*weights)
    if kind == "quantized_dynamic":
        return _q.make_quantized_cell_params_dynamic(*weights, *biases, bool(numbers[0]))
    raise RuntimeError(f"taeda: packed cells are of the kinds quantized_dynamic and quantized_fp16; got {kind!r}")


# By class: its methods, what its state is, and what makes an object of that.
_KNOWN: dict[str, tuple[dict[str, Callable[..., Any]], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "quantized.LinearPackedParamsBase": (
        {
            "unpack": lambda packed: (packed._weight, packed._bias),
            "bias": lambda packed: packed._bias,
            "set_bias": lambda packed, bias: packed._c.setattr("_bias", bias),
        },
        _linear_state,
        _linear,
    ),
    "quantized.EmbeddingPackedParamsBase": (
        {
            "unpack": lambda packed: packed._weight,
            "bit_rate": lambda packed: packed._bit_rate,
            "version": lambda packed: 1,
        },
        _embedding_state,
        _embedding,
    ),
    "rnn.CellParamsBase": ({}, _cell_state, _cell),
}
for _name in ("Conv2d", "Conv3d"):
    _KNOWN[f"quantized.{_name}PackedParamsBase"] = (
        {
            "unpack": lambda packed: (packed._weight, packed._bias),
            "weight": lambda packed: packed._weight,
            "bias": lambda packed: packed._bias,
            **{
                fact: lambda packed, _name=f"_{fact}": getattr(packed, _name)
                for fact in ("stride", "padding", "output_padding", "dilation", "groups")
            },
            "transpose": lambda packed: bool(packed._transpose),
        },
        _conv_state,
        _conv,
    )


def declare(name: str) -> Any:
    """The class of packed weights of that name, ``__torch__…``, which exists from the first packed weight on; None for
    other names."""
    byte = lambda *shape: taeda.quantize_per_tensor(taeda.zeros(shape), 1.0, 0, taeda.qint8)
    match name.removeprefix(_CLASSES).split("."):
        case ["quantized", "LinearPackedParamsBase"]:
            _q.linear_prepack(byte(1, 1), None)
        case ["quantized", "Conv2dPackedParamsBase"]:
            _q.conv2d_prepack(byte(1, 1, 1, 1), None, [1, 1], [0, 0], [1, 1], 1)
        case ["quantized", "Conv3dPackedParamsBase"]:
            _q.conv3d_prepack(byte(1, 1, 1, 1, 1), None, [1, 1, 1], [0, 0, 0], [1, 1, 1], 1)
        case ["quantized", "EmbeddingPackedParamsBase"]:
            one = taeda.ones(1)
            _q.embedding_bag_prepack(taeda.quantize_per_channel(taeda.zeros(1, 4), one, one, 0, taeda.quint8))
        case ["rnn", "CellParamsBase"]:
            half = _q.linear_prepack_fp16(taeda.zeros(1, 1), None)
            _q.make_quantized_cell_params_fp16(half, half)
        case _:
            return None
    return taeda._C._find_named_type(name)


def is_packed(name: str) -> bool:
    """Whether a class of that name, ``__torch__…``, is one of packed weights."""
    return name.removeprefix(_CLASSES) in _KNOWN


def _of(packed: Any) -> Any:
    return _KNOWN.get(packed._type()._name.removeprefix(_CLASSES))


def method(packed: Any, name: str) -> Callable[..., Any] | None:
    """A method of a packed weight; None for one that it lacks, and for other objects."""
    known = _of(packed)
    function = known and known[0].get(name)
    return function and (lambda *args: function(packed, *args))


def state_of(packed: Any) -> Any:
    """What it is made of, and its class; None for objects of other classes."""
    known = _of(packed)
    return None if known is None else (known[1](packed), packed._type()._name)


def from_state(state: Any) -> Any:
    """The native object of such a state. TypeError for another class."""
    parts, name = state
    known = _KNOWN.get(str(name).removeprefix(_CLASSES))
    if known is None:
        raise TypeError(f"objects of {name} cannot be unpickled")
    made = known[2](parts)
    return getattr(made, "_c", made)
