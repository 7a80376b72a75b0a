"""Branches, loops, sequences and what may be absent."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.onnx.reader.table import op
from taeda.onnx.reader.values import dtype_of


def _results(values: list[Any]) -> Any:
    return tuple(values)


@op("If")
def if_(condition: Tensor, *, run: dict[str, Any], then_branch: Any, else_branch: Any) -> Any:
    return _results((then_branch if bool(condition) else else_branch).run(run))


@op("Loop")
def loop(most: Tensor | None, condition: Tensor | None, *carried: Any, run: dict[str, Any], body: Any) -> Any:
    state = list(carried)
    rows: list[list[Any]] = [[] for _ in range(len(body.outputs) - 1 - len(state))]
    go_on = True if condition is None else bool(condition)
    step = 0
    while go_on and (most is None or step < int(most)):
        flag = taeda.tensor(go_on)
        given = dict(zip(body.inputs, [taeda.tensor(step, dtype=taeda.int64), flag, *state]))
        results = body.run(run | given)
        go_on = bool(results[0])
        state = results[1 : 1 + len(carried)]
        for row, value in zip(rows, results[1 + len(carried) :]):
            row.append(value)
        step += 1
    stacked = [taeda.stack(row) if row else taeda.empty(0) for row in rows]
    return _results([*state, *stacked])


@op("Scan")
def scan(*values: Any, run: dict[str, Any], opset: int, body: Any, num_scan_inputs: int, scan_input_axes: Any = None,
         scan_input_directions: Any = None, scan_output_axes: Any = None, scan_output_directions: Any = None,
         directions: Any = None) -> Any:  # fmt: skip
    if opset < 9:  # with a batch before all else
        given = values[1:]
        count = given[0].shape[0]
        each = [
            _scan([v[i] for v in given], run, body, num_scan_inputs, None, directions, None, None) for i in range(count)
        ]
        return _results([taeda.stack(column) for column in zip(*each)])
    return _results(_scan(list(values), run, body, num_scan_inputs, scan_input_axes, scan_input_directions,
                          scan_output_axes, scan_output_directions))  # fmt: skip


def _scan(values: list[Any], run: Any, body: Any, count: int, axes: Any, directions: Any, out_axes: Any,
          out_directions: Any) -> list[Any]:  # fmt: skip
    states, inputs = values[: len(values) - count], values[len(values) - count :]
    axes, directions = list(axes or [0] * count), list(directions or [0] * count)
    rows: list[list[Any]] = [[] for _ in range(len(body.outputs) - len(states))]
    length = int(inputs[0].shape[axes[0]])
    for t in range(length):
        slices = [x.select(a, length - 1 - t if d else t) for x, a, d in zip(inputs, axes, directions)]
        results = body.run(run | dict(zip(body.inputs, [*states, *slices])))
        states = results[: len(states)]
        for row, value in zip(rows, results[len(states) :]):
            row.append(value)
    out_axes, out_directions = list(out_axes or [0] * len(rows)), list(out_directions or [0] * len(rows))
    stacked = [taeda.stack(row[::-1] if d else row, a) for row, a, d in zip(rows, out_axes, out_directions)]
    return [*states, *stacked]


@op("SequenceConstruct")
def sequence_construct(*values: Any) -> list[Any]:
    return list(values)


@op("SequenceEmpty")
def sequence_empty(*, dtype: int | None = None) -> list[Any]:
    return []


@op("SequenceAt")
def sequence_at(sequence: list[Any], place: Tensor) -> Any:
    return sequence[int(place)]


@op("SequenceInsert")
def sequence_insert(sequence: list[Any], value: Any, place: Tensor | None = None) -> list[Any]:
    changed = list(sequence)
    changed.insert(len(changed) if place is None else int(place), value)
    return changed


@op("SequenceErase")
def sequence_erase(sequence: list[Any], place: Tensor | None = None) -> list[Any]:
    changed = list(sequence)
    del changed[-1 if place is None else int(place)]
    return changed


@op("SequenceLength")
def sequence_length(sequence: list[Any]) -> Tensor:
    return taeda.tensor(len(sequence), dtype=taeda.int64)


@op("SplitToSequence")
def split_to_sequence(x: Tensor, lengths: Tensor | None = None, *, axis: int = 0, keepdims: int = 1) -> list[Any]:
    if lengths is None:
        parts = list(taeda.split(x, 1, axis))
        return parts if keepdims else [p.squeeze(axis) for p in parts]
    if lengths.dim() == 0:
        return list(taeda.split(x, int(lengths), axis))
    return list(taeda.split(x, lengths.tolist(), axis))


@op("ConcatFromSequence")
def concat_from_sequence(sequence: list[Any], *, axis: int, new_axis: int = 0) -> Tensor:
    return taeda.stack(sequence, axis) if new_axis else taeda.cat(sequence, axis)


@op("SequenceMap")
def sequence_map(sequence: list[Any], *more: Any, run: dict[str, Any], body: Any) -> Any:
    rows = []
    for i, value in enumerate(sequence):
        others = [m[i] if isinstance(m, list) else m for m in more]
        rows.append(body.run(run | dict(zip(body.inputs, [value, *others]))))
    return _results([list(column) for column in zip(*rows)])


@op("Optional")
def optional(value: Any = None, *, type: Any = None) -> Any:
    return value


@op("OptionalGetElement")
def optional_get_element(value: Any) -> Any:
    return value


@op("OptionalHasElement")
def optional_has_element(value: Any = None) -> Tensor:
    return taeda.tensor(value is not None)


@op("RandomUniform")
def random_uniform(
    *, shape: Any, dtype: int = 1, low: float = 0.0, high: float = 1.0, seed: float | None = None
) -> Tensor:
    return (taeda.rand(shape) * (high - low) + low).to(dtype_of(dtype))


def normal(like: Tensor, mean: float, scale: float) -> Tensor:
    """Normally distributed numbers in the shape of ``like``."""
    return taeda.randn(like.shape) * scale + mean


@op("RandomNormal")
def random_normal(
    *, shape: Any, dtype: int = 1, mean: float = 0.0, scale: float = 1.0, seed: float | None = None
) -> Tensor:
    return normal(taeda.empty(shape), mean, scale).to(dtype_of(dtype))


@op("RandomNormalLike")
def random_normal_like(x: Tensor, *, dtype: int | None = None, mean: float = 0.0, scale: float = 1.0,
                       seed: float | None = None) -> Tensor:  # fmt: skip
    return normal(x, mean, scale).to(x.dtype if dtype is None else dtype_of(dtype))


@op("RandomUniformLike")
def random_uniform_like(x: Tensor, *, dtype: int | None = None, low: float = 0.0, high: float = 1.0,
                        seed: float | None = None) -> Tensor:  # fmt: skip
    return (taeda.rand(x.shape) * (high - low) + low).to(x.dtype if dtype is None else dtype_of(dtype))


@op("Bernoulli")
def bernoulli(x: Tensor, *, dtype: int | None = None, seed: float | None = None) -> Tensor:
    return taeda.bernoulli(x).to(x.dtype if dtype is None else dtype_of(dtype))


@op("Multinomial")
def multinomial(x: Tensor, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None) -> Tensor:
    return taeda.multinomial(taeda.softmax(x, -1), sample_size, True).to(dtype_of(dtype))
