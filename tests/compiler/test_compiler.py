"""``compile`` and ``compiler``, while nothing is compiled."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import taeda
from taeda import compiler, nn
from taeda.compiler import _eager


@pytest.fixture
def net():
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


X = taeda.tensor([[1.0, 2.0], [3.0, 5.0]])


def test_a_module(net):
    made = taeda.compile(net, backend="eager")
    assert taeda.equal(made(X), net(X)) and made._orig_mod is net and isinstance(made, _eager.OptimizedModule)
    assert list(made.state_dict()) == [f"_orig_mod.{name}" for name in net.state_dict()]
    assert len(made) == 2 and made and made.get_submodule("0") is made.get_submodule("_orig_mod.0") is net[0]
    made.eval()
    assert not made.training and not net.training
    net.train()
    assert made.training
    made.note = 3
    assert net.note == 3 and "note" in dir(made)
    del made.note
    assert not hasattr(net, "note")
    with pytest.raises(AttributeError, match="note"):
        _ = made.note
    made.load_state_dict(made.state_dict())
    made.double()
    assert net[0].weight.dtype == taeda.float64 and "OptimizedModule" in repr(made)
    assert taeda.compile(made, backend="eager") is made
    with pytest.raises(TypeError, match="len"):
        len(taeda.compile(nn.Linear(1, 1), backend="eager"))
    assert taeda.compile(nn.Linear(1, 1), backend="eager")


def test_hooks_of_both(net):
    made = taeda.compile(net, backend="eager")
    calls = []
    made.register_forward_hook(lambda *_: calls.append("outer"))
    net.register_forward_hook(lambda *_: calls.append("inner"))
    made(X)
    assert calls == ["inner", "outer"]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copies(net, again):
    made = taeda.compile(net.eval(), backend="eager")
    other = again(made)
    assert type(other) is type(made) and other._orig_mod is not net and taeda.equal(other(X), made(X))


def test_a_module_that_compiles_itself(net):
    wanted = net.eval()(X)
    net.compile(backend="eager", dynamic=True)
    assert taeda.equal(net(X), wanted) and "_orig_mod" not in "".join(net.state_dict())
    assert taeda.equal(copy.deepcopy(net)(X), wanted)


def test_functions():
    def function(x, n=2):
        """x by n."""
        return x * n

    made = taeda.compile(function, backend="eager")
    assert made(3) == 6 and made(3, n=1) == 3 and made is not function
    assert (made.__name__, made.__doc__, made._torchdynamo_orig_callable) == ("function", "x by n.", function)
    assert taeda.compile(fullgraph=True, backend="eager")(function)(3) == 6
    assert taeda.compile(function, disable=True) is function
    assert taeda.compile(nn.Linear, backend="eager") is nn.Linear
    assert compiler.compile is taeda.compile


def test_it_says_once_that_nothing_is_compiled(net, monkeypatch):
    monkeypatch.setattr(_eager, "_said_so", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        taeda.compile(net, backend="eager")
        taeda.compile(net, disable=True)
    with pytest.warns(UserWarning, match="nothing is compiled") as seen:
        taeda.compile(net)
        taeda.compile(lambda: 1, mode="max-autotune", dynamic=False)
    assert len(seen) == 1 and seen[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"mode": "fast"}, "mode 'fast'"),
        ({"mode": "default", "options": {"a": 1}}, "exclude"),
        ({"backend": "no_such"}, "backend 'no_such'"),
        ({"backend": lambda graph, inputs: graph}, "graph"),
    ],
)
def test_settings_are_checked(options, error):
    with pytest.raises(RuntimeError, match=error):
        taeda.compile(lambda: 1, **options)
    with pytest.raises(AssertionError, match="int"):
        taeda.compile(3)


def test_backends():
    assert compiler.get_default_backend() == "inductor"
    compiler.set_default_backend("eager")
    try:
        assert compiler.get_default_backend() == "eager"
        with pytest.raises(RuntimeError, match="no_such"):
            compiler.set_default_backend("no_such")
    finally:
        compiler.set_default_backend(None)
    assert compiler.list_backends() == ["cudagraphs", "inductor"] and "eager" in compiler.list_backends(())


def test_marks():
    def function():
        return 1

    assert not (compiler.is_compiling() or compiler.is_exporting() or compiler.is_dynamo_compiling())
    marks = (
        compiler.allow_in_graph, compiler.assume_constant_result, compiler.disable, compiler.disable(),
        compiler.disable(recursive=False, reason="why"), compiler.nested_compile_region,
        compiler.nested_compile_region(), compiler.substitute_in_graph(len), compiler.set_stance("force_eager"),
    )  # fmt: skip
    assert all(mark(function) is function for mark in marks)
    assert compiler.allow_in_graph([function]) == [function]
    for mark in (compiler.allow_in_graph, compiler.disable):
        with pytest.raises(AssertionError, match="int"):
            mark(3)
    with compiler.set_stance("eager_on_recompile"):
        pass
    with pytest.raises(RuntimeError, match="stance"):
        compiler.set_stance("no_such")
    compiler.reset()
    compiler.cudagraph_mark_step_begin()
    compiler.config.cache_key_tag = compiler.config.cache_key_tag


def test_nothing_to_keep():
    assert compiler.save_cache_artifacts() is None and compiler.load_cache_artifacts(b"") is None
    with pytest.raises(RuntimeError, match="compiler"):
        compiler.load_compiled_function(None)


def test_functions_of_arrays():
    made = compiler.wrap_numpy(lambda a, *, b: {"sum": np.add(a, b), "other": 3})
    found = made(taeda.ones(2), b=taeda.arange(2.0))
    assert found["sum"].tolist() == [1, 2] and found["other"] == 3


class Guard:
    def __init__(self, guard_type, is_global, value):
        self.guard_type, self.is_global, self.value = guard_type, is_global, value


GUARDS = [Guard(kind, is_global, value) for kind in ("TENSOR_MATCH", "SHAPE_ENV", "ID_MATCH")
          for is_global in (True, False) for value in (nn.Parameter(taeda.ones(1)), 3)]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("keep_portable_guards_unsafe", "001111110000"),
        ("keep_tensor_guards_unsafe", "010100000000"),
        ("skip_guard_on_globals_unsafe", "001100110011"),
        ("skip_all_guards_unsafe", "000000000000"),
    ],
)
def test_filters_of_guards(name, kept):
    assert "".join(str(int(keep)) for keep in getattr(compiler, name)(GUARDS)) == kept


def test_the_inner_name(net):
    from taeda import _dynamo

    assert _dynamo.allow_in_graph is compiler.allow_in_graph and _dynamo.disable is compiler.disable
    assert isinstance(taeda.compile(net, backend="eager"), _dynamo.eval_frame.OptimizedModule)
    assert not _dynamo.is_compiling() and not _dynamo.utils.is_compile_supported("cpu")
    assert _dynamo.optimize("eager")(lambda: 3)() == 3
    _dynamo.config.suppress_errors = _dynamo.config.suppress_errors
    _dynamo.reset()
