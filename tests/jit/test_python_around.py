# ruff: noqa: UP006, UP035, UP007, UP045 (as TorchScript spells types)
"""What a program takes over from the Python around it."""

import io
import itertools
import pickle
import types
import warnings
from dataclasses import dataclass
from typing import Any, List, Optional, Union

import pytest

import taeda
from taeda import jit, nn

X = taeda.tensor([1.0, 2.0])


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(taeda.ones(2))

    def forward(self, x):
        return x + self.p


class Namer:
    def __call__(self, x) -> str:
        return type(x).__name__


shift, namer, program = Shift(), Namer(), jit.script(Shift())


def test_python_calls_its_objects():
    @jit.script
    def f(x):
        return shift(x) * 2

    assert taeda.equal(f(X), shift(X) * 2) and "python_value" in str(f.graph)

    @jit.script
    def g(x):
        return namer(x)

    assert g(X) == "Tensor"
    with pytest.raises(RuntimeError, match="is a global"):

        @jit.script
        def h(x):
            return program(x)


@jit.ignore
def first_or(x, *rest):
    return rest[0] if rest else x


def test_ignored_functions_take_any_number():
    @jit.script
    def f(x, y):
        return first_or(x) + first_or(x, y) * 10

    assert taeda.equal(f(X, X + 1), X + (X + 1) * 10)


class Twice(nn.Module):
    def forward(self, x):
        return x * 2

    def __prepare_scriptable__(self):
        return nn.Identity()


def test_what_is_prepared_for_programs():
    model = nn.Sequential(Twice(), Twice())
    assert taeda.equal(jit.script(model)(X), X) and taeda.equal(model(X), X * 4)
    assert taeda.equal(jit.script(Twice())(X), X)


def test_methods_of_one_object():
    class M(nn.Module):
        @jit.ignore
        def name(self):
            return "old"

    @jit.ignore
    def name(self):
        return "new"

    m = M()
    m.name = types.MethodType(name, m)
    assert jit.script(m).name() == "new"


def test_modules_that_were_not_initialised():
    class M(nn.Module):
        def __init__(self):
            pass

    with pytest.raises(RuntimeError, match="super"):
        jit.script(M())


@dataclass(order=True)
class Point:
    x: float
    note: Optional[taeda.Tensor] = None


def test_dataclasses_with_what_may_be_none():
    P = jit.script(Point)

    @jit.script
    def f(a: float, b: float):
        return P(a) < P(b), P(a) >= P(b), P(a, torch.tensor(1.0)) < P(a, torch.tensor(2.0))

    assert f(1.0, 2.0) == (True, False, True)


class Pair:
    def __init__(self, a: int):
        self.a = a

    def most(self, others: List["Pair"]) -> int:
        a = self.a
        for other in others:
            a = max(a, other.a)
        return a


def test_classes_that_name_themselves():
    @jit.script
    def f(a: int, b: int):
        return Pair(a).most([Pair(b)])

    assert f(1, 2) == 2


def test_names_declared_in_branches():
    @jit.script
    def f(n: int):
        if n > 0:
            y: Union[str, int] = "a"
        else:
            y: Union[str, int] = n
        if isinstance(y, str):
            return y
        return "b"

    assert [f(1), f(-1)] == ["a", "b"]


def test_old_types_of_tensors():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")

        @jit.script
        def f(x: taeda.LongTensor):
            return x + 1

    assert any("LongTensor" in str(w.message) for w in said) and f(taeda.ones(1)).item() == 2


def test_sizes_are_repeated():
    from taeda.nn.modules.utils import _pair

    @jit.script
    def f(n: int):
        return _pair(n), _pair((n, 1)), _pair(3)

    assert f(2) == ((2, 2), (2, 1), (3, 3))


def test_truths_stay_truths_where_a_device_is_a_text():
    @jit.script
    def f():
        return torch.tensor(True, device="cpu"), torch.as_tensor([1, 2], device="cpu")

    assert [t.dtype for t in f()] == [taeda.bool, taeda.int64]


def test_polar_numbers():
    import cmath

    @jit.script
    def f(r: float, phi: float):
        return cmath.rect(r, phi)

    assert f(2.0, 0.5) == pytest.approx(cmath.rect(2.0, 0.5))


def test_embeddings_of_limited_norm():
    @jit.script
    def f(indices, table):
        return torch.nn.functional.embedding(indices, table, max_norm=0.5)

    table, indices = taeda.randn(4, 3), taeda.tensor([1, 2])
    assert f(indices, table.clone()).norm(dim=1).max() <= 0.5 + 1e-5


def test_declared_outside():
    with pytest.raises(ValueError, match="__init__"):

        @jit.script
        class Late:
            def __init__(self, x: int):
                self.x = x

            def set(self, x: int):
                self.x: int = x

    with pytest.raises(RuntimeError, match="derives from"):

        @jit.interface
        class Derived(nn.ReLU):
            pass


def test_traces_keep_names_and_lists():
    def f(pairs):
        total = pairs["a"][0] + pairs["b"][0]
        return total.neg()

    given = {"a": [X], "b": [X]}
    traced = jit.trace(f, (given,))
    assert "%total" in str(traced.graph)
    file = io.BytesIO()
    jit.save(traced, file)
    file.seek(0)
    assert taeda.equal(jit.load(file)(given), f(given))


def test_exported_methods_of_traced_parts():
    class Part(nn.Module):
        @jit.export
        def more(self, x):
            return x + 2

        def forward(self, x):
            return (lambda a: a + 1)(x)

    traced = jit.trace(nn.Sequential(Part()), X)
    assert taeda.equal(traced[0].more(X), X + 2)


def test_caches_are_not_traced():
    from taeda.nn.utils import parametrize

    class Symmetric(nn.Module):
        def forward(self, w):
            return w.triu() + w.triu(1).mT

    model = nn.Linear(2, 2)
    parametrize.register_parametrization(model, "weight", Symmetric())
    with parametrize.cached(), pytest.raises(RuntimeError, match="cached"):
        jit.trace(model, X)


def test_small_names():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = self.b = nn.Parameter(X.clone())

    assert list(jit._unique_state_dict(Shared())) == ["a"]

    @jit.script
    def f(x):
        return torch.add(x, x)

    with jit._hide_source_ranges():
        assert "#" not in repr(f.graph)
    assert "#" in repr(f.graph)
    with pytest.raises(pickle.PicklingError, match="by name"):
        pickle.dumps(f)
    uses = next(f.graph.inputs()).uses()
    assert uses[1].isAfter(uses[0]) and not uses[0].isAfter(uses[1])
    assert isinstance(next(f.graph.inputs()).type(), taeda.TensorType)
    shaped = taeda.TensorType.create_from_tensor(X)
    assert isinstance(shaped, taeda.TensorType) and shaped.with_sizes([None]).scalarType() == "Float"
    assert taeda.TensorType.get().sizes() is None
    with pytest.raises(RuntimeError, match="why"):
        taeda._C.InferredType("why").type()
    with pytest.raises(ValueError, match="None"):
        f.graph.create("prim::Constant", [None])
    assert "WILDCARD" in str(f.graph.alias_db())


def test_questions_of_annotations():
    from taeda import _jit_internal as asked

    assert asked.is_optional(Optional[int]) and asked.is_optional(Union[int, None]) and not asked.is_optional(int)
    assert (
        asked.is_list(List[int]) and asked.is_dict(dict[str, int]) and asked.is_tuple(tuple) and not asked.is_list(Any)
    )
    assert asked.is_union(Union[int, str]) and asked.is_future(jit.Future[int])
    with pytest.warns(UserWarning, match="empty list"):
        jit.isinstance([], List[int])


def test_graphs_from_texts():
    graph = taeda._C.parse_ir(
        """graph():
          %0 : Generator = prim::Constant[value=torch.Generator(device="cpu", seed=7)]()
          %1 : int[] = prim::Constant[value=annotate(List[int], [])]()
          %2 : Short(requires_grad=0, device=cpu) = prim::Constant[value={5}]()
          %3 : Long(1, strides=[1], requires_grad=0, device=cpu) = prim::Constant[value={-1}]()
          return (%1, %2, %3)""",
        True,
    )
    generator, empty, short, row = [node.output().toIValue() for node in graph.nodes()]
    assert generator.initial_seed() == 7 and empty == [] and row.tolist() == [-1]
    assert short.dtype is taeda.int16 and short.item() == 5
    for text in ('torch.Generator(device="cpu", seed=-1)', "{many}"):
        with pytest.raises(RuntimeError):
            taeda._C.parse_ir(f"graph():\n  %0 : Tensor = prim::Constant[value={text}]()\n  return (%0)", True)


torch = taeda


def test_a_bool_and_something_else_give_a_bool():
    def mixed(flag: bool, n: int, xs: list[int]):
        window = n and n > 1
        return window, flag and n, n or flag, (len(xs) > 1) and xs, flag and n > 1 and n, n and n

    scripted = taeda.jit.script(mixed)
    for values in itertools.product((True, False), (0, 1, 5), ([], [1, 2])):
        *bools, both = mixed(*values)
        assert scripted(*values) == (*map(bool, bools), both)
