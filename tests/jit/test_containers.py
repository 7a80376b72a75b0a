"""``ScriptList``, ``ScriptDict``, ``_Await``: what Python and programs share."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any, Dict, List, Tuple  # noqa: UP035

import pytest

import taeda as torch
from taeda import Tensor, jit

LISTS: list[Callable[[Any], Any]] = [
    repr, bool, len, list, lambda x: x[1], lambda x: x[-1], lambda x: list(x[1:3]), lambda x: list(x[-1::-1]),
    lambda x: x[9], lambda x: x["a"], lambda x: x.append(7), lambda x: x.extend([7, 8]), lambda x: x.extend({5: 6}),
    lambda x: x.insert(-1, 9), lambda x: x.insert(99, 9), lambda x: x.pop(), lambda x: x.pop(-2), lambda x: x.pop(9),
    lambda x: x.remove(3), lambda x: x.remove(99), lambda x: x.count(3), lambda x: x.clear(), lambda x: 3 in x,
    lambda x: 99 in x, lambda x: x.__setitem__(1, 5), lambda x: x.__setitem__(slice(0, 2), [5, 6]),
    lambda x: x.__setitem__(9, 5), lambda x: x.__delitem__(1), lambda x: x.__delitem__(9), lambda x: x.__delitem__("a"),
]  # fmt: skip
DICTS: list[Callable[[Any], Any]] = [
    repr, bool, len, list, lambda x: x["a"], lambda x: x["c"], lambda x: list(x.keys()), lambda x: list(x.items()),
    lambda x: "a" in x, lambda x: "c" in x, lambda x: x.__setitem__("c", 5), lambda x: x.__delitem__("a"),
    lambda x: x.__delitem__("c"), lambda x: x[3],
]  # fmt: skip


def outcome(work: Callable[[Any], Any], held: Any) -> tuple[Any, Any]:
    try:
        return work(held), repr(held)
    except Exception as error:
        return type(error), repr(held)


@pytest.mark.parametrize("number", range(len(LISTS)))
def test_lists_are_as_pythons(number: int) -> None:
    assert outcome(LISTS[number], jit.script([1, 3, 3, 4])) == outcome(LISTS[number], [1, 3, 3, 4])


@pytest.mark.parametrize("number", range(len(DICTS)))
def test_dicts_are_as_pythons(number: int) -> None:
    assert outcome(DICTS[number], jit.script({"a": 1, "b": 2})) == outcome(DICTS[number], {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (lambda x, d: x.append("a"), TypeError), (lambda x, d: x.extend([1, "a"]), TypeError),
        (lambda x, d: "a" in x, TypeError), (lambda x, d: x.count(None), TypeError),
        (lambda x, d: x.__setitem__(slice(0, 2), [1]), RuntimeError), (lambda x, d: d.__setitem__("a", "b"), TypeError),
        (lambda x, d: d.__setitem__(1, 1), TypeError), (lambda x, d: d.__delitem__(1), TypeError),
        (lambda x, d: 1 in d, KeyError), (lambda x, d: jit.script([1, "a"]), TypeError),
        (lambda x, d: jit.script({1: 2, "a": 3}), TypeError),
    ],
)  # fmt: skip
def test_items_are_of_one_type(work: Callable[[Any, Any], Any], error: type[Exception]) -> None:
    x, d = jit.script([1, 2]), jit.script({"a": 1})
    with pytest.raises(error):
        work(x, d)
    assert list(x) == [1, 2] and list(d.items()) == [("a", 1)]


def test_programs_write_to_them() -> None:
    @jit.script
    def write(x: List[int], d: Dict[str, List[int]], pair: Tuple[List[int], int]) -> List[int]:  # noqa: UP006
        x.append(len(x))
        pair[0].append(pair[1])
        d["new"] = [1]
        d["old"].append(2)
        return x

    x, d = jit.script([5]), jit.script({"old": [1]})
    assert write(x, d, (x, 8)) == [5, 1, 8] == list(x)
    assert list(d.items()) == [("old", [1, 2]), ("new", [1])]
    with pytest.raises(RuntimeError, match=r"List\[int\]"):
        write(jit.script([1.5]), d, (x, 8))
    tensors = jit.script([torch.zeros(2)])

    @jit.script
    def double(x: List[Tensor]):  # noqa: UP006
        x.append(x[0] + 1)

    double(tensors)
    assert tensors[1].tolist() == [1.0, 1.0] and isinstance(tensors, torch.ScriptList)


def test_they_are_values_of_attributes() -> None:
    class Keeps(torch.nn.Module):
        seen: List[int]  # noqa: UP006

        def __init__(self) -> None:
            super().__init__()
            self.seen = []

        def forward(self, n: int) -> int:
            self.seen.append(n)
            return len(self.seen)

    module, seen = jit.script(Keeps()), jit.script([1])
    module.seen = seen
    assert module(7) == 2 and list(seen) == [1, 7]


@pytest.mark.parametrize("held", [[1, 2], {"a": [1.5]}, []])
def test_copies_and_pickles(held: Any) -> None:
    shared = jit.script(held)
    for twin in (copy.copy(shared), copy.deepcopy(shared), pickle.loads(pickle.dumps(shared))):
        assert type(twin) is type(shared) and repr(twin) == repr(held) and twin._c.type() is shared._c.type()
        assert twin != shared


# --- Calls that are made when their results are wanted
def noisy(x: int) -> int:
    print("called", x)
    return x + 1


def test_awaits_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    wait, given = jit._awaitable(noisy, 1), jit._awaitable_nowait(5)
    assert wait.fn() is noisy and wait.args() == (1,) and not wait.is_nowait() and given.is_nowait()
    assert capsys.readouterr().out == ""
    assert jit._awaitable_wait(wait) == jit._awaitable_wait(wait) == 2 and jit._awaitable_wait(given) == 5
    assert capsys.readouterr().out == "called 1\n"
    assert jit._awaitable(torch.ones, 2).shape == (2,)
    for wrong in (lambda: jit._awaitable(3), lambda: jit._awaitable_wait(3), lambda: pickle.dumps(given)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(RuntimeError, match="result"):
        given.fn()


def lazily(x: Tensor, given: jit._Await[int]):
    later = jit._awaitable(noisy, 4)
    never = jit._awaitable(noisy, 9)
    assert isinstance(never, jit._Await)
    print("before")
    if x.sum() > 0:
        return x + jit._awaitable_wait(later) + jit._awaitable_wait(given)
    return x


def hands_out(x: int) -> Tuple[jit._Await[int], torch.jit.Future[int]]:  # noqa: UP006
    return jit._awaitable(noisy, x), jit.fork(noisy, x)


def test_awaits_in_programs(capsys: pytest.CaptureFixture[str]) -> None:
    program = jit.script(lazily)
    file = io.BytesIO()
    jit.save(program, file)
    file.seek(0)
    for form in (program, jit.load(file)):
        assert form(torch.ones(1), jit._awaitable_nowait(7)).tolist() == [13.0]
        assert capsys.readouterr().out == "before\ncalled 4\n"
        assert form(-torch.ones(1), jit._awaitable_nowait(7)).tolist() == [-1.0]
        assert capsys.readouterr().out == "before\n"
    wait, future = jit.script(hands_out)(2)
    assert wait.is_nowait() and wait.wait() == 3 and future.wait() == 3
    assert "awaitable(__awaitable_function" in program.code and "prim::awaitable_0" in str(program.graph)


def test_methods_of_the_other_kind_are_refused() -> None:
    numbers, names = jit.script([1, 2])._c, jit.script({"a": 1})._c
    calls = [(numbers.put, (1, 2)), (numbers.find, (1,)), (numbers.drop, (1,))]
    calls += [(names.get, (0,)), (names.set, (0, "a")), (names.insert, (0, "a")), (names.erase, (0,))]
    for call, arguments in calls:
        with pytest.raises(TypeError, match="this container is a"):
            call(*arguments)


@pytest.mark.torch
def test_pytorch_reads_awaits(tmp_path: Any) -> None:
    import torch as real

    jit.save(jit.script(lambda_free), tmp_path / "waits.pt")
    assert real.jit.load(str(tmp_path / "waits.pt"))(real.ones(1)).tolist() == [6.0]


def lambda_free(x: Tensor) -> Tensor:
    return x + jit._awaitable_wait(jit._awaitable(noisy, 4))


def test_a_union_of_containers_takes_the_one_that_holds_the_items() -> None:
    def counts(x: int) -> dict[str, Tensor] | dict[str, int]:
        found: dict[str, Tensor] | dict[str, int] = {"a": x, "b": 2}
        return found

    def names(x: str) -> list[Tensor] | list[str] | int:
        found: list[Tensor] | list[str] | int = [x, "b"]
        return found

    assert jit.script(counts)(1) == {"a": 1, "b": 2} and jit.script(names)("a") == ["a", "b"]
    with pytest.raises(RuntimeError, match="an item of the dict must be a Tensor"):
        jit.CompilationUnit("def f():\n    x: Union[Dict[str, Tensor], Dict[str, int]] = {'a': 'b'}\n    return x")


def test_a_list_of_floats_as_index_is_cut_to_whole_numbers() -> None:
    def function(x: Tensor) -> Tensor:
        places = [0.1, 1.9, 2.3]
        return x[places] + x[[2.0, 1.0, 0.5]]

    x = torch.arange(12.0).view(6, 2)
    assert torch.equal(jit.script(function)(x), function(x))
