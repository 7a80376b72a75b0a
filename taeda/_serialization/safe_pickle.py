"""A pickle machine that cannot run code from the file.

It knows the opcodes that checkpoints need, calls only what the table of admitted globals holds, and answers anything
else with ``pickle.UnpicklingError``. The opcodes are those of Python's ``pickle`` module (PEP 307, PEP 3154).
"""

from __future__ import annotations

import _compat_pickle
import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from taeda import Tensor
from taeda._serialization.rebuild import set_state

_MARK = object()
_NUMBERS = {code: struct.Struct("<" + code) for code in "BHIQi"}
_KEY_BUDGET = 10_000  # tuples that share parts can take exponential time to hash


class Refused(pickle.UnpicklingError):
    """The file asks for something that safe loading does not do."""


def _make_bytearray(data: Any = b"", *rest: Any) -> bytearray:
    if rest or not isinstance(data, bytes):  # an integer would allocate as much as the file says
        raise Refused("a bytearray may only be made from bytes")
    return bytearray(data)


def _encode(text: Any, encoding: Any) -> bytes:
    """How protocol 2 spells bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise Refused("text may only be encoded as latin1")
    return text.encode("latin1")


BUILTINS: Mapping[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.set": set,
    "builtins.frozenset": frozenset,
    "builtins.complex": complex,
    "builtins.bytearray": _make_bytearray,
    "_codecs.encode": _encode,
}


def checked_key(key: Any) -> Any:
    """``key``, once it is known to hash in reasonable time."""
    if isinstance(key, (tuple, frozenset)):
        pending, budget = [key], _KEY_BUDGET
        while pending:
            part = pending.pop()
            budget -= 1
            if budget < 0:
                raise Refused("a dictionary key or set element is absurdly large")
            if isinstance(part, (tuple, frozenset)):
                pending.extend(part)
    return key


class SafeUnpickler:
    """Runs one pickle.

    Args:
        data: the whole pickle.
        find_global: gives the object for an admitted ``module.name`` and raises UnpicklingError for any other.
        persistent_load: gives the storage for a persistent id.
    """

    def __init__(
        self, data: bytes, find_global: Callable[[str], Any], persistent_load: Callable[[Any], Any], encoding: str
    ) -> None:
        self._data = data
        self._at = 0
        self._find_global = find_global
        self._persistent_load = persistent_load
        self._encoding = encoding
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._callables: set[int] = set()
        self._protocol = 0

    def load(self) -> Any:
        """The pickled object.

        Raises:
            pickle.UnpicklingError: the pickle is damaged or asks for something that is not admitted.
        """
        try:
            return self._run()
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError,
                struct.error) as error:  # fmt: skip
            raise Refused(f"the pickle is damaged near byte {self._at} ({type(error).__name__}: {error})") from error

    def _run(self) -> Any:
        """Steps up to the end. The most frequent ones are taken here: a call for each would take half of the time."""
        data, stack, memo = self._data, self._stack, self._memo
        at = self._at
        while True:
            opcode = data[at]
            at += 1
            if opcode == _BINPUT:
                memo[data[at]] = stack[-1]
                at += 1
            elif opcode == _BINGET:
                stack.append(memo[data[at]])
                at += 1
            elif opcode == _BININT1:
                stack.append(data[at])
                at += 1
            elif opcode == _MARK_CODE:
                stack.append(_MARK)
            elif opcode == _TUPLE:
                stack.append(tuple(self._pop_to_mark()))
            elif opcode == _BINUNICODE:
                begin = at + 4
                at = begin + int.from_bytes(data[at:begin], "little")
                if at > len(data):
                    raise Refused("the pickle ends too early")
                stack.append(data[begin:at].decode("utf-8", "surrogatepass"))
            elif opcode == _STOP:
                return self._pop()
            else:
                step = _STEPS.get(opcode)
                if step is None:
                    raise Refused(f"opcode {opcode} is not used by checkpoints")
                self._at = at
                step(self)
                at = self._at

    # Reading the stream

    def _take(self, count: int) -> bytes:
        piece = self._data[self._at : self._at + count]
        if len(piece) != count:
            raise Refused("the pickle ends too early")
        self._at += count
        return piece

    def _number(self, code: str) -> Any:
        form = _NUMBERS[code]
        (number,) = form.unpack_from(self._data, self._at)  # struct.error past the end
        self._at += form.size
        return number

    def _line(self) -> str:
        end = self._data.index(b"\n", self._at)
        text = self._data[self._at : end].decode()
        self._at = end + 1
        return text

    # The stack

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise Refused("the pickle takes a mark for a value")
        return value

    def _pop_to_mark(self) -> list[Any]:
        at = len(self._stack) - 1
        stack = self._stack
        while stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise Refused("the pickle looks for a mark that is not there")
        items = stack[at + 1 :]
        del stack[at:]
        return items

    def _top(self, *kinds: type) -> Any:
        value = self._stack[-1]
        if not isinstance(value, kinds):
            raise Refused(f"the pickle adds items to a {type(value).__name__}")
        return value

    # Steps with more to them than a line

    def frame(self) -> None:
        self._number("Q")

    def protocol(self) -> None:
        self._protocol = self._take(1)[0]
        if self._protocol > pickle.HIGHEST_PROTOCOL:
            raise Refused(f"pickle protocol {self._protocol} is not known")

    def global_line(self) -> None:
        self._push_global(self._line(), self._line())

    def stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if type(name) is not str or type(module) is not str:
            raise Refused("a global's name is not text")
        self._push_global(module, name)

    def _push_global(self, module: str, name: str) -> None:
        if self._protocol < 3:
            module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))
            module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        value = self._find_global(f"{module}.{name}")
        self._callables.add(id(value))
        self._stack.append(value)

    def reduce(self) -> None:
        args, function = self._pop(), self._pop()
        if id(function) not in self._callables or not isinstance(args, tuple):
            raise Refused(f"the pickle calls something that is not an admitted global: {type(function).__name__}")
        if function in (set, frozenset, Counter, OrderedDict):
            for arg in args:
                self._check_items(arg)
        try:
            self._stack.append(function(*args))
        except RuntimeError as error:
            if str(error).startswith("taeda.load"):
                raise
            raise Refused(f"the pickle makes what there is not: {error}") from error

    def _check_items(self, arg: Any) -> None:
        if not isinstance(arg, (list, tuple, set, frozenset, dict)):
            raise Refused(f"a container is made from a {type(arg).__name__}")
        for item in arg:
            checked_key(item[0] if isinstance(item, (list, tuple)) and item else item)
            checked_key(item)

    def new_object(self) -> None:
        args, cls = self._pop(), self._pop()
        if id(cls) not in self._callables or not isinstance(cls, type) or not isinstance(args, tuple):
            raise Refused("the pickle makes an object of something that is not an admitted class")
        if issubclass(cls, Tensor):
            self._stack.append(cls(*args))
        else:
            self._stack.append(cls.__new__(cls, *args))

    def build(self) -> None:
        state, target = self._pop(), self._stack[-1]
        if isinstance(target, Tensor):
            set_state(target, state)
        elif type(target) is OrderedDict:
            if not isinstance(state, dict):
                raise Refused("an OrderedDict's attributes are not a dictionary")
            target.__dict__.update(state)
        elif not isinstance(target, type) and self._is_admitted(type(target)):
            _set_object_state(target, state)
        else:
            raise Refused(f"the pickle sets attributes of a {type(target).__name__}")

    def _is_admitted(self, cls: type) -> bool:
        """Whether the pickle named the class or may: a function that it called can give one of a class unnamed, as
        ``numpy.dtype`` gives a ``Float64DType``."""
        if id(cls) in self._callables:
            return True
        try:
            return self._find_global(f"{cls.__module__}.{cls.__qualname__}") is cls
        except Refused:
            return False

    def set_items(self, items: list[Any]) -> None:
        target = self._top(dict)
        for at in range(0, len(items), 2):
            target[checked_key(items[at])] = items[at + 1]

    def add_items(self) -> None:
        items = self._pop_to_mark()
        self._top(set).update(checked_key(item) for item in items)

    def memoize(self, index: int) -> None:
        self._memo[index] = self._stack[-1]

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def text(self, code: str) -> None:
        self.push(self._take(self._number(code)).decode("utf-8", "surrogatepass"))

    def old_string(self, code: str) -> None:
        """A string of Python 2, which may be text or bytes: the caller's ``encoding`` says which."""
        data = self._take(self._number(code))
        self.push(data if self._encoding == "bytes" else data.decode(self._encoding))

    def data(self, code: str) -> None:
        self.push(self._take(self._number(code)))

    def persistent(self) -> None:
        self.push(self._persistent_load(self._pop()))


def _set_object_state(target: Any, state: Any) -> None:
    custom = getattr(target, "__setstate__", None)
    if custom is not None:
        custom(state)
        return
    plain, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for part in (plain, slots):
        for name, value in (part or {}).items():
            object.__setattr__(target, name, value)


Step = Callable[[SafeUnpickler], Any]


def _last(count: int) -> Step:
    def step(machine: SafeUnpickler) -> None:
        items = [machine._pop() for _ in range(count)]
        machine.push(tuple(reversed(items)))

    return step


_BY_CODE: dict[bytes, Step] = {
    pickle.PROTO: SafeUnpickler.protocol,
    pickle.FRAME: SafeUnpickler.frame,
    pickle.MARK: lambda m: m.push(_MARK),
    pickle.POP: lambda m: m._stack.pop(),
    pickle.POP_MARK: SafeUnpickler._pop_to_mark,
    pickle.DUP: lambda m: m.push(m._stack[-1]),
    pickle.NONE: lambda m: m.push(None),
    pickle.NEWTRUE: lambda m: m.push(True),
    pickle.NEWFALSE: lambda m: m.push(False),
    pickle.BININT: lambda m: m.push(m._number("i")),
    pickle.BININT1: lambda m: m.push(m._number("B")),
    pickle.BININT2: lambda m: m.push(m._number("H")),
    pickle.LONG1: lambda m: m.push(pickle.decode_long(m._take(m._number("B")))),
    pickle.LONG4: lambda m: m.push(pickle.decode_long(m._take(m._number("I")))),
    pickle.BINFLOAT: lambda m: m.push(struct.unpack(">d", m._take(8))[0]),
    pickle.BINUNICODE: lambda m: m.text("I"),
    pickle.SHORT_BINUNICODE: lambda m: m.text("B"),
    pickle.BINUNICODE8: lambda m: m.text("Q"),
    pickle.BINSTRING: lambda m: m.old_string("I"),
    pickle.SHORT_BINSTRING: lambda m: m.old_string("B"),
    pickle.BINBYTES: lambda m: m.data("I"),
    pickle.SHORT_BINBYTES: lambda m: m.data("B"),
    pickle.BINBYTES8: lambda m: m.data("Q"),
    pickle.BYTEARRAY8: lambda m: m.push(bytearray(m._take(m._number("Q")))),
    pickle.EMPTY_TUPLE: lambda m: m.push(()),
    pickle.TUPLE1: _last(1),
    pickle.TUPLE2: _last(2),
    pickle.TUPLE3: _last(3),
    pickle.TUPLE: lambda m: m.push(tuple(m._pop_to_mark())),
    pickle.EMPTY_LIST: lambda m: m.push([]),
    pickle.APPEND: lambda m: (value := m._pop(), m._top(list).append(value)),
    pickle.APPENDS: lambda m: (values := m._pop_to_mark(), m._top(list).extend(values)),
    pickle.EMPTY_DICT: lambda m: m.push({}),
    pickle.SETITEM: lambda m: m.set_items([m._pop(), m._pop()][::-1]),
    pickle.SETITEMS: lambda m: m.set_items(m._pop_to_mark()),
    pickle.EMPTY_SET: lambda m: m.push(set()),
    pickle.ADDITEMS: SafeUnpickler.add_items,
    pickle.FROZENSET: lambda m: m.push(frozenset(map(checked_key, m._pop_to_mark()))),
    pickle.GLOBAL: SafeUnpickler.global_line,
    pickle.STACK_GLOBAL: SafeUnpickler.stack_global,
    pickle.REDUCE: lambda m: m.reduce(),  # these three by name: other machines make them their own
    pickle.NEWOBJ: lambda m: m.new_object(),
    pickle.BUILD: lambda m: m.build(),
    pickle.BINPERSID: SafeUnpickler.persistent,
    pickle.BINPUT: lambda m: m.memoize(m._number("B")),
    pickle.LONG_BINPUT: lambda m: m.memoize(m._number("I")),
    pickle.MEMOIZE: lambda m: m.memoize(len(m._memo)),
    pickle.BINGET: lambda m: m.push(m._memo[m._number("B")]),
    pickle.LONG_BINGET: lambda m: m.push(m._memo[m._number("I")]),
}
_STEPS = {code[0]: step for code, step in _BY_CODE.items()}
_BINPUT, _BINGET, _BININT1, _TUPLE = pickle.BINPUT[0], pickle.BINGET[0], pickle.BININT1[0], pickle.TUPLE[0]
_MARK_CODE, _BINUNICODE, _STOP = pickle.MARK[0], pickle.BINUNICODE[0], pickle.STOP[0]
