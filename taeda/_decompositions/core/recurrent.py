"""Recurrent layers, a step after the other: lengths must be known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda._decompositions.core.table import aten, body_of, varies

Cell = Callable[[Tensor, tuple[Tensor, ...], Tensor, Any], tuple[Tensor, ...]]


def _lstm_cell(given: Tensor, state: tuple[Tensor, ...], weight: Tensor, bias: Any) -> tuple[Tensor, ...]:
    hidden, memory = state
    gates = aten.add.Tensor(aten.linear.default(hidden, weight, bias), given)
    ingate, forget, fresh, out = aten.chunk.default(gates, 4, 1)
    ingate, forget, out = (aten.sigmoid.default(x) for x in (ingate, forget, out))
    memory = aten.add.Tensor(aten.mul.Tensor(forget, memory), aten.mul.Tensor(ingate, aten.tanh.default(fresh)))
    return aten.mul.Tensor(out, aten.tanh.default(memory)), memory


def _gru_cell(given: Tensor, state: tuple[Tensor, ...], weight: Tensor, bias: Any) -> tuple[Tensor, ...]:
    (hidden,) = state
    given_parts = aten.chunk.default(given, 3, 1)
    back = aten.chunk.default(aten.linear.default(hidden, weight, bias), 3, 1)
    reset, keep = (aten.sigmoid.default(aten.add.Tensor(back[i], given_parts[i])) for i in (0, 1))
    fresh = aten.tanh.default(aten.add.Tensor(given_parts[2], aten.mul.Tensor(back[2], reset)))
    return (aten.add.Tensor(aten.mul.Tensor(aten.sub.Tensor(hidden, fresh), keep), fresh),)


def _plain_cell(function: Any) -> Cell:
    def cell(given: Tensor, state: tuple[Tensor, ...], weight: Tensor, bias: Any) -> tuple[Tensor, ...]:
        return (function(aten.add.Tensor(aten.linear.default(state[0], weight, bias), given)),)

    return cell


def _direction(cell: Cell, steps: Tensor, state: tuple[Tensor, ...], params: list[Any], backward: bool
               ) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
    """One layer in one direction over (time, batch, features)."""
    w_ih, w_hh, b_ih, b_hh = params
    given = aten.unbind.int(aten.linear.default(steps, w_ih, b_ih), 0)
    hidden = []
    for x in reversed(given) if backward else given:
        state = cell(x, state, w_hh, b_hh)
        hidden.append(state[0])
    return aten.stack.default(hidden[::-1] if backward else hidden, 0), state


def _layers(cell: Cell, input: Tensor, start: list[Tensor], params: list[Tensor], has_biases: bool, num_layers: int,
            dropout: float, train: bool, bidirectional: bool, batch_first: bool) -> Any:  # fmt: skip
    """The output and the last states. ``start``: for each kind of state (layers and directions, batch, features)."""
    each, directions = 4 if has_biases else 2, 2 if bidirectional else 1
    length = input.shape[1 if batch_first else 0]
    if input.dim() != 3 or varies(length) or length == 0 or len(params) != each * num_layers * directions:
        return NotImplemented
    x = aten.transpose.int(input, 0, 1) if batch_first else input
    starts = [aten.unbind.int(state, 0) for state in start]
    last: list[tuple[Tensor, ...]] = []
    for layer in range(num_layers):
        outputs = []
        for way in range(directions):
            at = layer * directions + way
            own = [*params[at * each : (at + 1) * each], *([] if has_biases else [None, None])]
            output, state = _direction(cell, x, tuple(s[at] for s in starts), own, way == 1)
            outputs.append(output)
            last.append(state)
        x = outputs[0] if directions == 1 else aten.cat.default(outputs, 2)
        if dropout > 0 and train and layer < num_layers - 1:
            x = aten.native_dropout.default(x, dropout, True)[0]
    states = [aten.stack.default([state[i] for state in last], 0) for i in range(len(start))]
    return [aten.transpose.int(x, 0, 1) if batch_first else x, *states]


@body_of("lstm.input")
def _lstm(input: Tensor, hx: list[Tensor], params: list[Tensor], *rest: Any) -> Any:
    projects = hx[0].shape[-1] != hx[1].shape[-1]
    return NotImplemented if projects else _layers(_lstm_cell, input, list(hx), params, *rest)


def _give_layers(name: str, cell: Cell) -> None:
    def body(input: Tensor, hx: Tensor, params: list[Tensor], *rest: Any) -> Any:
        return _layers(cell, input, [hx], params, *rest)

    body_of(f"{name}.input")(body)


_give_layers("gru", _gru_cell)
_give_layers("rnn_tanh", _plain_cell(aten.tanh.default))
_give_layers("rnn_relu", _plain_cell(aten.relu.default))
