"""Sizes as values of a graph: what a recorder learns of a program, and that nobody pays who does not record."""

import copy
import gc
import math
import operator
import threading
import weakref
from pathlib import Path

import pytest

import taeda as torch
from taeda._schema.recorder import SizeRecorder
from taeda._schema.symbols import SymNode


def recorded(program, *args):
    recorder = SizeRecorder()
    with recorder:
        result = program(*args)
    return result, recorder


def expressions(recorder):
    return [node.expr for node in recorder.operations]


def conditions(recorder):
    return [(guard.condition.expr, guard.value) for guard in recorder.guards]


def uses(recorder):
    return [(str(use.op), [(name, i, str(symbol)) for name, i, symbol in use.arguments]) for use in recorder.uses]


def test_plain_ints_when_nobody_records():
    x = torch.ones(2, 3)
    for value in (*x.shape, x.size(0), x.stride(0), x.numel(), x.storage_offset(), len(x), x.shape.numel()):
        assert type(value) is int
    with SizeRecorder():
        assert isinstance(x.shape[0], torch.SymInt)
    assert type(x.shape[0]) is int


def test_sizes_read_are_symbols():
    x = torch.ones(2, 3)[:, 1:]
    with SizeRecorder() as recorder:
        sizes = x.shape, x.size(), x.size(1), x.size(dim=-1), x.stride(), x.stride(0), x.numel(), x.storage_offset()
        assert type(len(x)) is int and type(x.dim()) is int
    assert [str(s) for s in sizes[0]] == ["s0", "s1"] and str(sizes[1]) == "torch.Size([s0, s1])"
    assert str(sizes[2]) == str(sizes[3]) == "s1" and str(sizes[4]) == "(s2, s3)" and str(sizes[5]) == "s2"
    read = [(node.operation, node.operands[1], node.hint) for node in recorder.sizes]
    assert read == [("size", 0, 2), ("size", 1, 2), ("stride", 0, 3), ("stride", 1, 1), ("numel", None, 4),
                    ("storage_offset", None, 1)]  # fmt: skip
    assert all(node.operands[0] is x for node in recorder.sizes) and recorder.guards == []


def attention_heads(x, heads):
    batch, length, width = x.shape
    q = x.view(batch, length, heads, width // heads).transpose(1, 2)
    scores = q @ q.transpose(-2, -1) / math.sqrt(q.size(-1))
    return (scores.softmax(-1) @ q).transpose(1, 2).reshape(batch, length, -1)


def test_attention_head_splitting():
    x = torch.randn(2, 5, 8)
    result, recorder = recorded(attention_heads, x, 4)
    assert torch.equal(result, attention_heads(x, 4))
    assert expressions(recorder)[0] == "s2 // 4"
    assert uses(recorder)[0] == ("aten.view.default",
                                 [("size", 0, "s0"), ("size", 1, "s1"), ("size", 3, "s2 // 4")])  # fmt: skip
    assert uses(recorder)[-1] == ("aten.reshape.default", [("shape", 0, "s0"), ("shape", 1, "s1")])
    line = attention_heads.__code__.co_firstlineno + 3  # the square root needs the number
    assert [(g.condition.expr, g.value, g.file, g.line) for g in recorder.guards] == [("s3 == 2", True, __file__, line)]


def flatten_pairs(x):
    rows, columns = x.shape
    if rows % 2 == 0:
        x = x.view(rows * columns // 2, -1)
    total = torch.zeros(())
    for i in range(x.size(1)):
        total = total + x[:, i].sum()
    return total if columns > 100 else -total


def test_branches_and_loops_are_guards_with_their_lines():
    x = torch.arange(12.0).view(4, 3)
    result, recorder = recorded(flatten_pairs, x)
    assert result == -66
    first = flatten_pairs.__code__.co_firstlineno
    assert [(g.condition.expr, g.value, Path(g.file).name, g.line - first) for g in recorder.guards] == [
        ("(s0 % 2) == 0", True, "test_symbols.py", 2),
        ("s2 == 2", True, "test_symbols.py", 5),
        ("s1 > 100", False, "test_symbols.py", 7),
    ]
    assert str(recorder.guards[2]) == f"not (s1 > 100)  # {__file__}:{first + 7}"
    assert uses(recorder) == [("aten.view.default", [("size", 0, "(s0 * s1) // 2")])]


def test_guards_in_the_library_name_the_users_line():
    layer = torch.nn.BatchNorm1d(3)
    _, recorder = recorded(lambda: layer(torch.ones(2, 3)))
    assert recorder.guards and {g.file for g in recorder.guards} == {__file__}


CALLS = {
    "zeros": (lambda x, s, t: torch.zeros(s, t + 1), [("size", 0, "s0"), ("size", 1, "s1 + 1")]),
    "view": (lambda x, s, t: x.view(s * t, -1), [("size", 0, "s0 * s1")]),
    "view.list": (lambda x, s, t: x.view((t, s)), [("size", 0, "s1"), ("size", 1, "s0")]),
    "expand": (lambda x, s, t: x[:1].expand(s, -1), [("size", 0, "s0")]),
    "narrow": (lambda x, s, t: x.narrow(0, 0, s - 1), [("length", None, "s0 - 1")]),
    "slice": (lambda x, s, t: x[: s - 1, t - 1 :], [("end", None, "s0 - 1"), ("start", None, "s1 - 1")]),
    "select": (lambda x, s, t: x[s - 1], [("index", None, "s0 - 1")]),
    "scalar": (lambda x, s, t: x * s, [("other", None, "s0")]),
    "reflected": (lambda x, s, t: s - x, None),
    "float": (lambda x, s, t: x / (s / 2), [("other", None, "s0 / 2")]),
    "keyword": (lambda x, s, t: torch.full(size=(s,), fill_value=t), [("size", 0, "s0"), ("fill_value", None, "s1")]),
    "arange": (lambda x, s, t: torch.arange(s), [("end", None, "s0")]),
    "op": (lambda x, s, t: torch.ops.aten.view.default(x, [s * t]), [("size", 0, "s0 * s1")]),
    "whole size": (lambda x, s, t: torch.ones(x.shape), [("size", 0, "s0"), ("size", 1, "s1")]),
    "size sum": (lambda x, s, t: x.reshape(torch.Size([1]) + x.shape), [("shape", 1, "s0"), ("shape", 2, "s1")]),
}


@pytest.mark.parametrize("name", CALLS)
def test_ops_take_symbols_and_say_so(name):
    call, wanted = CALLS[name]
    x = torch.arange(6.0).view(2, 3)
    result, recorder = recorded(lambda: call(x, *x.shape))
    assert torch.equal(result, call(x, 2, 3)) and recorder.guards == []
    if wanted is not None:
        assert [item for use in uses(recorder) for item in use[1]] == wanted


def symbols(*values):
    recorder = SizeRecorder()
    with recorder:
        sizes = torch.empty(*values, device="meta").shape
    recorder.is_recording = True  # go on without new sizes
    return recorder, *sizes


OPERATIONS = [
    (operator.add, "+"), (operator.sub, "-"), (operator.mul, "*"), (operator.truediv, "/"), (operator.floordiv, "//"),
    (operator.mod, "%"), (operator.pow, "**"), (operator.lshift, "<<"), (operator.rshift, ">>"), (operator.and_, "&"),
    (operator.or_, "|"), (operator.xor, "^"), (operator.eq, "=="), (operator.ne, "!="), (operator.lt, "<"),
    (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">="),
]  # fmt: skip
KINDS = {int: "SymInt", float: "SymFloat", bool: "SymBool"}


@pytest.mark.parametrize("function, sign", OPERATIONS)
def test_operators(function, sign):
    recorder, s, t = symbols(6, 4)
    for a, b, x, y in ((s, t, 6, 4), (s, 3, 6, 3), (5, t, 5, 4)):
        result = function(a, b)
        wanted = function(x, y)
        assert type(result).__name__ == KINDS[type(wanted)] and result.node.hint == wanted
        if a is s:
            assert str(result) == f"s0 {sign} {b}"
    assert len(recorder.operations) == 3 and recorder.guards == []
    if function not in (operator.eq, operator.ne):
        with pytest.raises(TypeError):
            function(s, object())


def test_other_operations():
    _, s, t = symbols(6, 4)
    half = s / 4
    for result, wanted in [(-s, -6), (abs(s), 6), (+s, 6), (round(s), 6), (math.floor(half), 1), (math.ceil(half), 2),
                           (math.trunc(half), 1), (round(half), 2), (round(half, 1), 1.5), (half.is_integer(), False),
                           (s + 1.5, 7.5), ((s == 6) & (t == 4), True), ((s == 5) | True, True), ((s == 6) + 1, 2),
                           (torch.sym_max(s, 10), 10), (torch.sym_max(s, 1.5), 6.0), (torch.sym_min(s, t), 4),
                           (torch.sym_int(half), 1), (torch.sym_float(s), 6.0), (torch.sym_not(s == 6), False),
                           (torch.sym_sum([s, t, 3]), 13), (torch.sym_ite(s == 6, s, t), 6),
                           (torch.sym_sqrt(t), 2.0)]:  # fmt: skip
        assert type(result).__name__ == KINDS[type(wanted)] and result.node.hint == wanted, result
    assert s.as_integer_ratio()[0] is s and torch.sym_int(s) is s
    assert (s == "a") is False and (s == None) is False  # noqa: E711
    assert not isinstance(s, int) and isinstance(s, torch.SymInt) and copy.deepcopy(s) is s
    assert torch.sym_max(1, 2.5) == 2.5 and torch.sym_not(3) is False and torch.sym_ite(True, 1, 2) == 1


@pytest.mark.parametrize("use, condition, value", [
    (int, "s0 == 6", True), (bool, "s0 != 0", True), (lambda s: range(s), "s0 == 6", True),
    (lambda s: [0] * s, "s0 == 6", True), (lambda s: list(range(9))[s], "s0 == 6", True), (math.sqrt, "s0 == 6", True),
    (lambda s: bool(s > 7), "s0 > 7", False), (lambda s: hash(s == 6), "s0 == 6", True), (float, "s0 == 6", True),
    (lambda s: max(s, 3), "s0 < 3", False), (lambda s: float(s / 4), "(s0 / 4) == 1.5", True),
    (lambda s: f"{s:03d}", "s0 == 6", True), (lambda s: s.bit_length(), "s0 == 6", True),
    (lambda s: torch.tensor([s]), "s0 == 6", True), (lambda s: torch.ones(2).__setitem__(0, s), "s0 == 6", True),
    (lambda s: 3 in (s, 1, 3), "s0 == 3", False),
])  # fmt: skip
def test_what_needs_the_number_is_a_guard(use, condition, value):
    recorder, s = symbols(6)
    result, plain = use(s), use(6)
    assert type(result) is type(plain) or isinstance(result, torch.SymInt)
    assert conditions(recorder) == [(condition, value)] and recorder.guards[0].file == __file__
    use(s)
    assert len(recorder.guards) == 1


def test_no_keys_of_dicts():
    _, s = symbols(6)
    with pytest.raises(TypeError, match="unhashable"):
        dict([(s, 1)])
    assert str(s) == repr(s) == f"{s}" == "s0" and hash(s / 4) == hash(1.5)


def test_after_the_recording_symbols_are_numbers():
    recorder = SizeRecorder()
    with recorder:
        s = torch.ones(6).shape[0]
    assert (s + 1, s / 4, s == 6) == (7, 1.5, True) and type(s + 1) is int and type(s == 6) is bool
    assert torch.zeros(s).shape == (6,) and torch.ones(8)[:s].shape == (6,) and int(s) == 6
    assert (recorder.operations, recorder.guards, recorder.uses) == ([], [], [])


def test_recorders_nest_and_end_with_an_error():
    x = torch.ones(2)
    with SizeRecorder() as outer:
        with pytest.raises(ZeroDivisionError), SizeRecorder() as inner:
            x.shape[0] // 0
        x.numel()
    assert len(inner.sizes) == 1 and [n.operation for n in outer.sizes] == ["numel"]
    assert type(x.numel()) is int and not outer.is_recording and not inner.is_recording


def test_other_threads_do_not_record():
    found = []
    with SizeRecorder():
        thread = threading.Thread(target=lambda: found.append(torch.ones(2).shape[0]))
        thread.start()
        thread.join()
    assert type(found[0]) is int


def test_a_size_is_the_same_symbol_until_it_changes():
    x = torch.ones(4)
    with SizeRecorder() as recorder:
        a, b = x.shape[0], x.size(0)
        x.resize_(6)
        c = x.shape[0]
    assert a.node is b.node and c.node is not a.node and [n.hint for n in recorder.sizes] == [4, 6]


def test_a_recorder_of_ones_own_may_keep_sizes_plain():
    class Fixed(SizeRecorder):
        def read(self, tensor, what, dim, value):
            assert type(tensor.shape[0]) is int  # its own look at sizes is not recorded
            return super().read(tensor, what, dim, value) if dim == 0 else value

    with Fixed() as recorder:
        s, t = torch.ones(2, 3).shape
    assert str(s) == "s0" and t == 3 and type(t) is int and len(recorder.sizes) == 1


def test_errors_of_a_recorder_reach_the_program():
    class Broken(SizeRecorder):
        def read(self, *args):
            raise LookupError("no more symbols")

    x = torch.ones(2)
    with Broken(), pytest.raises(LookupError):
        x.shape  # noqa: B018
    assert x.shape == (2,)


def test_sizes_with_symbols_are_collected():
    class Owner:
        pass

    owner = Owner()
    recorder = SizeRecorder()
    owner.size = torch.Size([torch.SymInt(SymNode(3, "size", (owner, 0), recorder, "s0")), 2])
    assert owner.size.numel() == 6 and gc.is_tracked(owner.size) and not gc.is_tracked(torch.Size([1, 2]))
    found = weakref.ref(owner)
    del owner
    gc.collect()
    assert found() is None


def test_a_node_needs_a_hint():
    with pytest.raises(TypeError, match=r"taeda\.SymInt: takes a node with a hint, got int"):
        torch.SymInt(3)
    node = SymNode(3, "size", (None, 0), None, "s7")
    assert (node.expr, node.pytype, node.has_hint(), node.is_int(), node.maybe_as_int()) == (
        "s7",
        int,
        True,
        True,
        None,
    )
    assert torch.ones(torch.SymInt(node)).shape == (3,)
