"""RNN, GRU, LSTM: written out step by step, as ONNX lets activations and clipping be chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.nn import functional as F
from taeda.onnx.reader.table import op


def _activation(name: str, alpha: float | None, beta: float | None) -> Callable[[Tensor], Tensor]:
    def of(usual: float, value: float | None) -> float:
        return usual if value is None else value

    table: dict[str, Callable[[Tensor], Tensor]] = {
        "relu": taeda.relu,
        "tanh": taeda.tanh,
        "sigmoid": taeda.sigmoid,
        "softsign": F.softsign,
        "softplus": F.softplus,
        "affine": lambda x: of(1.0, alpha) * x + of(0.0, beta),
        "leakyrelu": lambda x: F.leaky_relu(x, of(0.01, alpha)),
        "thresholdedrelu": lambda x: taeda.where(x > of(1.0, alpha), x, taeda.zeros_like(x)),
        "scaledtanh": lambda x: of(1.0, alpha) * taeda.tanh(of(1.0, beta) * x),
        "hardsigmoid": lambda x: (of(0.2, alpha) * x + of(0.5, beta)).clamp(0, 1),
        "elu": lambda x: F.elu(x, of(1.0, alpha)),
    }
    return table[name.lower()]


def _functions(usual: list[str], direction: int, given: Any, alpha: Any, beta: Any) -> list[Callable[[Tensor], Tensor]]:
    names = list(given or usual * 2)[direction * len(usual) : (direction + 1) * len(usual)]
    start = direction * len(usual)
    pick = lambda values, i: values[i] if values and i < len(values) else None
    return [_activation(n, pick(alpha, start + i), pick(beta, start + i)) for i, n in enumerate(names)]


class _Layer:
    """What the three have in common: directions, lengths, layout."""

    def __init__(self, x: Tensor, w: Tensor, lengths: Tensor | None, layout: int, direction: str) -> None:
        self.x = x.transpose(0, 1) if layout else x
        self.layout, self.lengths = layout, lengths
        self.steps, self.batch = int(self.x.shape[0]), int(self.x.shape[1])
        self.reverse = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]

    def state(self, given: Tensor | None, direction: int, hidden: int) -> Tensor:
        if given is None:
            return taeda.zeros(self.batch, hidden, dtype=self.x.dtype, device=self.x.device)
        return given[:, direction] if self.layout else given[direction]

    def run(self, direction: int, states: list[Tensor], step: Callable[[Tensor, list[Tensor]], list[Tensor]]) -> Any:
        order = range(self.steps)
        rows: list[Any] = [None] * self.steps
        for t in reversed(order) if self.reverse[direction] else order:
            new = step(self.x[t], states)
            if self.lengths is not None:
                there = (self.lengths > t)[:, None].to(self.x.device)
                rows[t] = taeda.where(there, new[0], taeda.zeros_like(new[0]))
                states = [taeda.where(there, n, s) for n, s in zip(new, states)]
            else:
                rows[t], states = new[0], new
        return taeda.stack(rows), states

    def result(self, rows: list[Tensor], states: list[list[Tensor]], outputs: list[str]) -> Any:
        y = taeda.stack(rows, 1)  # steps, directions, batch, hidden
        last = [taeda.stack([s[i] for s in states]) for i in range(len(states[0]))]
        if self.layout:
            y, last = y.permute(2, 0, 1, 3), [s.transpose(0, 1) for s in last]
        return (y, *last)[: max(len(outputs), 1)] if len(outputs) > 1 else y


def _clipped(x: Tensor, clip: float | None) -> Tensor:
    return x if not clip else x.clamp(-clip, clip)


@op("RNN")
def rnn(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
    *,
    outputs: list[str],
    hidden_size: int | None = None,
    activations: Any = None,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    layout: int = 0,
    **_: Any,
) -> Any:
    layer = _Layer(x, w, lengths, layout, direction)
    hidden = int(r.shape[-1])
    rows, states = [], []
    for d in range(len(layer.reverse)):
        (f,) = _functions(["Tanh"], d, activations, activation_alpha, activation_beta)
        bias = b[d][:hidden] + b[d][hidden:] if b is not None else 0

        def step(xt: Tensor, s: list[Tensor], d: int = d, f: Any = f, bias: Any = bias) -> list[Tensor]:
            return [f(_clipped(xt @ w[d].t() + s[0] @ r[d].t() + bias, clip))]

        y, last = layer.run(d, [layer.state(h, d, hidden)], step)
        rows.append(y)
        states.append(last)
    return layer.result(rows, states, outputs)


@op("GRU")
def gru(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
    *,
    outputs: list[str],
    hidden_size: int | None = None,
    activations: Any = None,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    layout: int = 0,
    linear_before_reset: int = 0,
    **_: Any,
) -> Any:
    layer = _Layer(x, w, lengths, layout, direction)
    n = int(r.shape[-1])
    rows, states = [], []
    for d in range(len(layer.reverse)):
        f, g = _functions(["Sigmoid", "Tanh"], d, activations, activation_alpha, activation_beta)
        wb = b[d][: 3 * n] if b is not None else taeda.zeros(3 * n, dtype=x.dtype, device=x.device)
        rb = b[d][3 * n :] if b is not None else taeda.zeros(3 * n, dtype=x.dtype, device=x.device)

        def step(
            xt: Tensor, s: list[Tensor], d: int = d, f: Any = f, g: Any = g, wb: Any = wb, rb: Any = rb
        ) -> list[Tensor]:
            given = xt @ w[d].t() + wb
            gates = s[0] @ r[d][: 2 * n].t() + rb[: 2 * n]
            z = f(_clipped(given[:, :n] + gates[:, :n], clip))
            reset = f(_clipped(given[:, n : 2 * n] + gates[:, n:], clip))
            if linear_before_reset:
                inner = reset * (s[0] @ r[d][2 * n :].t() + rb[2 * n :])
            else:
                inner = (reset * s[0]) @ r[d][2 * n :].t() + rb[2 * n :]
            return [(1 - z) * g(_clipped(given[:, 2 * n :] + inner, clip)) + z * s[0]]

        y, last = layer.run(d, [layer.state(h, d, n)], step)
        rows.append(y)
        states.append(last)
    return layer.result(rows, states, outputs)


@op("LSTM")
def lstm(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
    c: Tensor | None = None,
    peepholes: Tensor | None = None,
    *,
    outputs: list[str],
    hidden_size: int | None = None,
    activations: Any = None,
    activation_alpha: Any = None,
    activation_beta: Any = None,
    clip: float | None = None,
    direction: str = "forward",
    input_forget: int = 0,
    layout: int = 0,
    **_: Any,
) -> Any:
    layer = _Layer(x, w, lengths, layout, direction)
    n = int(r.shape[-1])
    rows, states = [], []
    for d in range(len(layer.reverse)):
        f, g, k = _functions(["Sigmoid", "Tanh", "Tanh"], d, activations, activation_alpha, activation_beta)
        bias = b[d][: 4 * n] + b[d][4 * n :] if b is not None else 0
        p = peepholes[d] if peepholes is not None else taeda.zeros(3 * n, dtype=x.dtype, device=x.device)

        def step(
            xt: Tensor, s: list[Tensor], d: int = d, fs: Any = (f, g, k), bias: Any = bias, p: Any = p
        ) -> list[Tensor]:
            f, g, k = fs
            gates = xt @ w[d].t() + s[0] @ r[d].t() + bias
            i, o, forget, cell = gates.split(n, 1)
            i = f(_clipped(i + p[:n] * s[1], clip))
            forget = 1 - i if input_forget else f(_clipped(forget + p[2 * n :] * s[1], clip))
            new = forget * s[1] + i * g(_clipped(cell, clip))
            o = f(_clipped(o + p[n : 2 * n] * new, clip))
            return [o * k(new), new]

        y, last = layer.run(d, [layer.state(h, d, n), layer.state(c, d, n)], step)
        rows.append(y)
        states.append(last)
    return layer.result(rows, states, outputs)
