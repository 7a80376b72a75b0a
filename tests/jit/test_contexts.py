"""``with`` over objects of compiled classes."""

import warnings
from pathlib import Path
from typing import Any

import pytest

import taeda
from taeda import jit


@jit.script
class Lines:
    def __init__(self):
        self.lines = jit.annotate(list[str], [])


@jit.script
class Named:
    def __init__(self, name: str, to: Lines):
        self.name = name
        self.to = to

    def __enter__(self):
        self.to.lines.append("enter " + self.name)

    def __exit__(self, kind: Any, value: Any, traceback: Any):
        self.to.lines.append("exit " + self.name)
        if self.name == "fails":
            raise KeyError(self.name)


def test_an_exception_leaves_what_was_entered():
    def inner(to: Lines, n: int, name: str):
        with Named(name, to):
            if n > 1:
                raise ValueError("too many")
        return n

    def outer(to: Lines, n: int, name: str):
        with Named("a", to), Named("b", to):
            with Named("done", to):
                pass
            return inner(to, n, name)

    run = jit.script(outer)
    expected = ["enter a", "enter b", "enter done", "exit done", "enter c", "exit c", "exit b", "exit a"]
    for n in (1, 2):
        to = make_lines()
        if n == 1:
            assert run(to, n, "c") == 1
        else:
            with pytest.raises(ValueError, match="too many"):
                run(to, n, "c")
        assert to.lines == expected
    to = make_lines()
    with pytest.raises(KeyError):  # what __exit__ raises takes its place
        run(to, 2, "fails")
    assert to.lines[-3:] == ["exit fails", "exit b", "exit a"]


@jit.script
def make_lines() -> Lines:
    return Lines()


def test_a_warning_is_given_where_the_program_stands(tmp_path: Path) -> None:
    def warns() -> None:
        warnings.warn("said", stacklevel=2)

    def other() -> None:
        warnings.warn("said", stacklevel=2)

    def both(n: int) -> None:
        for _ in range(n):
            warns()
            other()

    program, lines = jit.script(both), [f.__code__.co_firstlineno + 1 for f in (warns, other)]
    for _ in range(2):  # each run says it anew, but a loop once
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("default")
            program(3)
        assert [(w.filename, w.lineno, str(w.message)) for w in said] == [(__file__, n, "said") for n in lines]
    jit.save(program, tmp_path / "warns.pt")
    with pytest.warns(UserWarning, match="said") as known:
        jit.load(tmp_path / "warns.pt")(1)
    assert {w.filename for w in known} == {__file__}
    with warnings.catch_warnings(), pytest.raises(UserWarning, match="said"):
        warnings.simplefilter("error")
        program(1)


class Cast(taeda.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = taeda.nn.Linear(3, 4)

    def forward(self, x: taeda.Tensor, on: bool, fails: bool = False) -> tuple[taeda.Tensor, taeda.Tensor]:
        with taeda.autocast("cpu", enabled=on):
            low = self.layer(x)
            with taeda.autocast(device_type="cpu", dtype=taeda.float16):
                half = self.layer(x).relu()
            if fails:
                raise ValueError("inside")
        return low, half


def test_autocast_within_programs(tmp_path: Path) -> None:
    model, x = Cast(), taeda.rand(2, 3)
    program = jit.script(model)
    program.save(tmp_path / "cast.pt")
    frozen = jit.freeze(jit.script(Cast().eval()))
    for run in (program, jit.load(tmp_path / "cast.pt"), frozen):
        for on, dtype in ((True, taeda.bfloat16), (False, taeda.float32)):
            low, half = run(x, on)
            assert (low.dtype, half.dtype) == (dtype, taeda.float16)
        with pytest.raises(ValueError, match="inside"):
            run(x, True, True)
        assert not taeda.is_autocast_enabled("cpu") and run.forward(x, False)[0].dtype == taeda.float32
    kinds = [node.kind() for node in program.graph_for(x, True).nodes()]
    assert kinds.count("prim::enter_autocast") == kinds.count("prim::leave_autocast") == 2
    for on in (True, False):
        assert all(map(taeda.equal, program(x, on), model(x, on)))
    grads = [taeda.autograd.grad(run(x, True)[0].float().sum(), list(run.parameters())) for run in (program, model)]
    assert all(map(taeda.equal, *grads))


def test_constants_within_autocast_are_not_computed_outside() -> None:
    def product(x: taeda.Tensor) -> taeda.Tensor:
        a = taeda.ones([2, 2])
        with taeda.autocast("cpu"):
            return taeda.mm(a, a) + x

    assert jit.script(product)(taeda.zeros(2, dtype=taeda.bfloat16)).dtype == taeda.bfloat16


def test_archives_with_autocast_go_both_ways(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    x = taeda.rand(2, 3)

    class Ours(taeda.nn.Module):
        def forward(self, x: taeda.Tensor) -> tuple[taeda.Tensor, taeda.Tensor]:
            with taeda.autocast("cpu"):
                low = taeda.mm(x, x.t())
                with taeda.autocast(device_type="cpu", enabled=False):
                    return low, taeda.mm(x, x.t())

    jit.script(Ours()).save(tmp_path / "ours.pt")
    low, whole = torch.jit.load(tmp_path / "ours.pt")(torch.from_numpy(x.numpy()))
    assert (low.dtype, whole.dtype) == (torch.bfloat16, torch.float32)

    class Theirs(torch.nn.Module):
        def forward(self, x: torch.Tensor):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return torch.mm(x, x.t())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(Theirs()).save(tmp_path / "theirs.pt")
    assert jit.load(tmp_path / "theirs.pt")(x).dtype == taeda.bfloat16


def product(x: taeda.Tensor) -> taeda.Tensor:
    return taeda.mm(x, x)


def test_autocast_is_left_by_every_way() -> None:
    def steps(x: taeda.Tensor, n: int) -> taeda.Tensor:
        for i in range(5):
            with taeda.autocast("cpu"):
                if i == 1:
                    continue
                x = product(x)
                if i == n:
                    return x
                if i == 3:
                    break
            x = x.float() + i
        return jit.wait(jit.fork(product, x))

    program = jit.script(steps)
    for x in (taeda.rand(2, 2), taeda.rand(0, 0), taeda.rand(4, 4)[::2, ::2], taeda.rand(1, 1).expand(2, 2)):
        for n in (0, 2, 9):
            found, expected = program(x, n), steps(x, n)
            assert found.dtype == expected.dtype and found.equal(expected)
            assert not taeda.is_autocast_enabled("cpu")
