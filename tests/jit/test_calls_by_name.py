"""Arguments by name, dtypes and devices as arguments, functions of the library that look at their arguments."""

from __future__ import annotations

import cmath

import pytest

import taeda
from taeda import jit
from taeda.nn.utils.rnn import pad_sequence


def by_name(x: taeda.Tensor):
    return taeda.ceil(input=x), taeda.softmax(input=x, dim=0), taeda.sum(input=x)


def devices():
    return taeda.device(type="cuda", index=1), taeda.device(type="cpu")


def padded(rows: list[taeda.Tensor]):
    return pad_sequence(rows), pad_sequence(rows, True, 2.0)


def angles(z: complex):
    return cmath.phase(z), cmath.sqrt(z)


CALLS = {
    "by_name": (by_name, (taeda.tensor([0.2, 1.7]),)), "devices": (devices, ()),
    "padded": (padded, ([taeda.ones(2), taeda.ones(3)],)), "angles": (angles, (1 + 2j,)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_programs_give_what_python_gives(name: str) -> None:
    function, args = CALLS[name]
    for a, b in zip(jit.script(function)(*args), function(*args), strict=True):
        assert taeda.equal(a, b) if isinstance(a, taeda.Tensor) else a == b


@pytest.mark.parametrize("dtype", [taeda.float64, taeda.float32, taeda.int64, taeda.int32, taeda.bool, taeda.complex64])
def test_type_of_a_dtype(dtype: taeda.dtype) -> None:
    def convert(x: taeda.Tensor, dtype: taeda.dtype) -> taeda.Tensor:
        return x.type(dtype)

    assert jit.script(convert)(taeda.ones(2), dtype).dtype == dtype


def test_switched_off_nothing_becomes_a_program() -> None:
    module = taeda.nn.Linear(2, 2)
    jit._state.disable()
    try:
        assert jit.script(by_name) is by_name and jit.trace(module, taeda.ones(2)) is module
    finally:
        jit._state.enable()
    assert isinstance(jit.script(module), jit.ScriptModule)


def test_overloads_that_come_later():
    """What a program calls is what there is when it is compiled."""

    def scripted():
        def call(x, n: int):
            return taeda.ops.taeda_late.f(x, n)

        return taeda.jit.script(call)

    with taeda.library._scoped_library("taeda_late", "DEF") as library:
        library.define("f(Tensor x, float y) -> str")
        library.impl("f", lambda x, y: "float", "CompositeExplicitAutograd")
        assert scripted()(taeda.ones(1), 2) == "float"
        library.define("f.int(Tensor x, int y) -> str")
        library.impl("f.int", lambda x, y: "int", "CompositeExplicitAutograd")
        assert scripted()(taeda.ones(1), 2) == "int"
