"""The parts of graphs: values, nodes, and blocks of nodes. See ``ir.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from taeda import Tensor
from taeda._schema.types import BoolType, NoneType, TensorType, Type
from taeda.jit._ir_types import FunctionType, TensorFacts, shaped
from taeda.jit.source import SourceRange

if TYPE_CHECKING:
    from taeda._schema.function_schema import FunctionSchema
    from taeda.jit.ir import Graph

# What an attribute can hold, by the letters that PyTorch's methods have: node.i("dim"), node.i_("dim", 0).
KINDS = ("f", "fs", "c", "cs", "i", "is", "s", "ss", "t", "ts", "g", "gs", "ty", "tys", "ival")


class Use:
    """One use of a value: the ``user`` and at which of its inputs (``offset``)."""

    def __init__(self, user: Node, offset: int) -> None:
        self.user, self.offset = user, offset

    def isAfter(self, other: Use) -> bool:
        """Whether it comes behind another in the program."""
        if self.user is other.user:
            return self.offset > other.offset
        return self.user.isAfter(other.user)

    def __repr__(self) -> str:
        return f"Use(user={self.user.kind()}, offset={self.offset})"


class Value:
    """What a node gives or a block takes. It has a type, a name, and users.

    Of a tensor more may be known than its type says, ``facts``: dtype, sizes, strides, device.
    """

    def __init__(self, node: Node, type: Type) -> None:
        self._node, self.static_type = node, type
        self.facts: TensorFacts | None = None
        self._name = ""
        self._unique = node._graph._next_unique()
        self._users: dict[Node, int] = {}  # how often each has it among its inputs

    def node(self) -> Node:
        """The node that gives it; for what a block takes, the block's ``prim::Param``."""
        return self._node

    def offset(self) -> int:
        """Which of its node's outputs it is."""
        return next(i for i, value in enumerate(self._node._outputs) if value is self)

    def unique(self) -> int:
        """A number that no other value of the graph has."""
        return self._unique

    def type(self) -> Any:
        """Its type; a tensor's with what is known of it."""
        return shaped(self.static_type, self.facts)

    def setType(self, type: Any) -> Value:
        """Gives it another type, with or without facts."""
        self.static_type, self.facts = (type.tree, type.facts) if hasattr(type, "facts") else (type, None)
        return self

    def setTypeAs(self, other: Value) -> Value:
        """Gives it the type of another value."""
        self.static_type, self.facts = other.static_type, other.facts
        return self

    def inferTypeFrom(self, tensor: Tensor) -> Value:
        """Gives it the type, dtype, sizes and strides of a tensor."""
        self.static_type, self.facts = TensorType.get(), TensorFacts.of(tensor)
        return self

    def isCompleteTensor(self) -> bool:
        """Whether dtype, sizes and device are known."""
        return self.facts is not None and self.facts.is_complete()

    def requires_grad(self) -> bool:
        """Whether it is known to be recorded by autograd."""
        return self.facts is not None and bool(self.facts.requires_grad)

    requiresGrad = requires_grad

    def debugName(self) -> str:
        """Its name, or its number if nobody gave it one."""
        return self._name or str(self._unique)

    def setDebugName(self, name: str) -> Value:
        """Names it. A value that had the name gets a number behind it: ``x.1``.

        Raises:
            RuntimeError: the name is a number, or holds what names cannot.
        """
        if name == self._name:
            return self
        graph = self._node._graph
        if not name:
            graph._names.pop(self._name, None)
            self._name = ""
            return self
        if name.isdigit() or any(c in ' %:=(),[]{}"\n' for c in name):
            raise RuntimeError(f"Value.setDebugName: '{name}' is no name of a value")
        if self._name:
            del graph._names[self._name]
        if (holder := graph._names.get(name)) is not None:
            fresh = graph._free_name(name)
            holder._name = fresh
            graph._names[fresh] = holder
        self._name = name
        graph._names[name] = self
        return self

    def uses(self) -> list[Use]:
        """Every place at which it goes into a node."""
        return [Use(user, i) for user in self._users for i, value in enumerate(user._inputs) if value is self]

    def hasUses(self) -> bool:
        """Whether any node takes it."""
        return bool(self._users)

    def replaceAllUsesWith(self, other: Value) -> None:
        """Gives all users ``other`` in its place."""
        if other is not self:
            for user in list(self._users):
                user.replaceInputWith(self, other)

    def replaceAllUsesAfterNodeWith(self, node: Node, other: Value) -> None:
        """Gives the users that stand behind ``node`` (also those in inner blocks) ``other`` in its place."""
        for user in list(self._users):
            if user.isAfter(node):
                user.replaceInputWith(self, other)

    def copyMetadata(self, other: Value) -> Value:
        """Takes the other's type and, if it has one, its name."""
        self.setTypeAs(other)
        if other._name:
            self.setDebugName(other._name.rpartition(".")[0] or other._name)
        return self

    def toIValue(self) -> Any:
        """The value of a constant; None for anything else, as for the constant None."""
        return self._node.constant() if self._node.kind() == "prim::Constant" else None

    def __repr__(self) -> str:
        return f"{self.debugName()} defined in ({str(self._node).rstrip()})"


def _accessors(kind: str) -> tuple[Any, Any]:
    def read(self: Node, name: str) -> Any:
        held, value = self._attribute(name)
        if held != kind and not (kind == "ival"):
            raise RuntimeError(f"Node.{kind}: the attribute '{name}' of {self._kind} is held as '{held}'")
        return value

    def write(self: Node, name: str, value: Any) -> Node:
        self._attributes[name] = (kind, value)
        return self

    read.__doc__ = f"The attribute of this name, which is held as '{kind}'."
    write.__doc__ = f"Sets the attribute of this name, held as '{kind}'."
    return read, write


class Node:
    """One step: a kind (``aten::add``), values in and out, attributes and blocks of its own.

    ``overload`` is the op's overload where it has been resolved; ``range`` the place in the source it stands for.
    """

    def __init__(self, graph: Graph, kind: str, inputs: Sequence[Value] = ()) -> None:
        self._graph, self._kind = graph, kind
        self._inputs: list[Value] = []
        self._outputs: list[Value] = []
        self._attributes: dict[str, tuple[str, Any]] = {}
        self._blocks: list[Block] = []
        self._block: Block | None = None
        self._previous: Node | None = None
        self._next: Node | None = None
        self._place = 0  # orders the nodes of a block
        self.overload: str | None = None
        self.scope = ""
        self.range: SourceRange | None = None
        for value in inputs:
            self.addInput(value)

    # --- What it is
    def kind(self) -> str:
        """``namespace::name``."""
        return self._kind

    def schema(self) -> str:
        """The schema of the op it calls; ``(no schema)`` for one of the language's own.

        Raises:
            RuntimeError: no overload takes the types of its inputs.
        """
        found = self.op_schema()
        return str(found) if found is not None else "(no schema)"

    def op_schema(self) -> FunctionSchema | None:
        """As `schema`, the object; None for a node that calls no op."""
        from taeda.jit.check.operators import schema_of_node

        return schema_of_node(self)

    def matches(self, schema: str) -> bool:
        """Whether it calls the op with this schema, which may leave out the overload's name."""
        from taeda._schema.function_schema import FunctionSchema

        found, wanted = self.op_schema(), FunctionSchema(schema)
        if found is None or wanted.overload_name not in ("", found.overload_name):
            return False
        plain = str(found) if wanted.overload_name else str(found).replace(f".{found.overload_name}(", "(", 1)
        return plain == str(wanted)

    def sourceRange(self) -> str:
        """Where it stands in the program, with the lines around it; empty if nobody said."""
        return str(self.range) if self.range is not None else ""

    def scopeName(self) -> str:
        """The modules that were being called when it was traced."""
        return self.scope

    def getModuleHierarchy(self) -> str:
        """The path of modules and functions that it was inlined from; empty if there is none."""
        return ".".join(part for part in self.scope.split("/") if part)

    def isNondeterministic(self) -> bool:
        """Whether two calls with the same inputs may differ: it draws random numbers."""
        schema = self.op_schema()
        return schema is not None and any(a.type.str() == "Generator?" for a in schema.arguments)

    def mustBeNone(self) -> bool:
        """Whether its only output is None."""
        return len(self._outputs) == 1 and self._outputs[0].static_type is NoneType.get()

    def constant(self) -> Any:
        """The value of a ``prim::Constant``."""
        if not self._attributes:
            return None
        kind, value = next(iter(self._attributes.values()))
        type = self._outputs[0].static_type
        if type is BoolType.get():
            return bool(value)
        if type.kind() == "DeviceObjType" and kind == "s":
            from taeda import device

            return device(value)
        if isinstance(type, FunctionType):
            return type.function
        return list(value) if kind in ("is", "fs", "ss", "ts", "cs") else value

    # --- Values in and out
    def inputs(self) -> Iterator[Value]:
        """The values that go in."""
        return iter(self._inputs[:])

    def outputs(self) -> Iterator[Value]:
        """The values that come out."""
        return iter(self._outputs[:])

    def input(self, i: int | None = None) -> Value:
        """The only input, or the one at ``i``."""
        return _only(self._inputs, "inputs", self) if i is None else self._inputs[i]

    def output(self) -> Value:
        """The only output."""
        return _only(self._outputs, "outputs", self)

    def inputsAt(self, i: int) -> Value:
        """The input at ``i``."""
        return self._inputs[i]

    def outputsAt(self, i: int) -> Value:
        """The output at ``i``."""
        return self._outputs[i]

    def inputsSize(self) -> int:
        """How many values go in."""
        return len(self._inputs)

    def outputsSize(self) -> int:
        """How many values come out."""
        return len(self._outputs)

    def hasMultipleOutputs(self) -> bool:
        """Whether more than one value comes out."""
        return len(self._outputs) > 1

    def hasUses(self) -> bool:
        """Whether any node takes one of its outputs."""
        return any(value._users for value in self._outputs)

    def namedInput(self, name: str) -> Value:
        """The input for the argument of this name in its op's schema."""
        schema = self.op_schema()
        names = [a.name for a in schema.arguments] if schema is not None else []
        if name not in names:
            raise RuntimeError(f"Node.namedInput: {self._kind} has no argument '{name}'; it has {', '.join(names)}")
        return self._inputs[names.index(name)]

    def addInput(self, value: Value) -> Value:
        """Adds an input at the end."""
        self._inputs.append(value)
        value._users[self] = value._users.get(self, 0) + 1
        return value

    def insertInput(self, i: int, value: Value) -> Value:
        """Adds an input before the one at ``i``."""
        self._inputs.insert(i, value)
        value._users[self] = value._users.get(self, 0) + 1
        return value

    def replaceInput(self, i: int, value: Value) -> Value:
        """Puts another value at ``i`` and gives the one that was there."""
        old = self._inputs[i]
        value._users[self] = value._users.get(self, 0) + 1
        self._inputs[i] = value
        _drop_user(old, self)
        return old

    def replaceInputWith(self, old: Value, new: Value) -> None:
        """Puts ``new`` wherever ``old`` goes in."""
        for i, value in enumerate(self._inputs):
            if value is old:
                self.replaceInput(i, new)

    def removeInput(self, i: int) -> None:
        """Removes the input at ``i``."""
        _drop_user(self._inputs.pop(i), self)

    def removeAllInputs(self) -> None:
        """Removes all inputs."""
        while self._inputs:
            self.removeInput(len(self._inputs) - 1)

    def addOutput(self, type: Type | None = None) -> Value:
        """Adds an output at the end, a tensor unless a type is given."""
        self._outputs.append(Value(self, TensorType.get() if type is None else type))
        return self._outputs[-1]

    def insertOutput(self, i: int, type: Type | None = None) -> Value:
        """Adds an output before the one at ``i``."""
        self._outputs.insert(i, value := Value(self, TensorType.get() if type is None else type))
        return value

    def eraseOutput(self, i: int) -> None:
        """Removes the output at ``i``, which nobody uses."""
        _unused(self._outputs[i], "Node.eraseOutput")
        self._outputs.pop(i).setDebugName("")

    def replaceAllUsesWith(self, other: Node) -> None:
        """Gives the users of each output the other node's in its place."""
        for mine, its in zip(self._outputs, other._outputs, strict=True):
            mine.replaceAllUsesWith(its)

    # --- Attributes
    def _attribute(self, name: str) -> tuple[str, Any]:
        if name not in self._attributes:
            raise IndexError(f"{self._kind} has no attribute '{name}'; it has {', '.join(self._attributes) or 'none'}")
        return self._attributes[name]

    def attributeNames(self) -> list[str]:
        """The names of its attributes."""
        return list(self._attributes)

    def hasAttribute(self, name: str) -> bool:
        """Whether it has an attribute of this name."""
        return name in self._attributes

    def hasAttributes(self) -> bool:
        """Whether it has any attribute."""
        return bool(self._attributes)

    def kindOf(self, name: str) -> str:
        """As what the attribute is held: one of ``KINDS``."""
        return self._attribute(name)[0]

    def attribute(self, name: str) -> Any:
        """The value of an attribute, whatever its kind."""
        return self._attribute(name)[1]

    def removeAttribute(self, name: str) -> Node:
        """Removes an attribute."""
        self._attribute(name)
        del self._attributes[name]
        return self

    def copyAttributes(self, other: Node) -> Node:
        """Takes all attributes of another node, and its overload."""
        self._attributes = dict(other._attributes)
        self.overload = other.overload
        return self

    def copyMetadata(self, other: Node) -> Node:
        """Takes the other's place in the source and its scope."""
        self.range, self.scope = other.range, other.scope
        return self

    f, f_ = _accessors("f")
    fs, fs_ = _accessors("fs")
    c, c_ = _accessors("c")
    cs, cs_ = _accessors("cs")
    i, i_ = _accessors("i")
    is_: Any
    s, s_ = _accessors("s")
    ss, ss_ = _accessors("ss")
    t, t_ = _accessors("t")
    ts, ts_ = _accessors("ts")
    z, z_ = t, t_
    zs, zs_ = ts, ts_
    g, g_ = _accessors("g")
    gs, gs_ = _accessors("gs")
    ty, ty_ = _accessors("ty")
    tys, tys_ = _accessors("tys")
    ival, ival_ = _accessors("ival")

    # --- Where it stands
    def owningBlock(self) -> Block:
        """The block that it stands in."""
        assert self._block is not None
        return self._block

    def owningGraph(self) -> Graph:
        """The graph that it belongs to."""
        return self._graph

    def prev(self) -> Node:
        """The node before it; of a block's first, the block's ``prim::Param``."""
        assert self._previous is not None
        return self._previous

    def next(self) -> Node:
        """The node behind it; of a block's last, the block's ``prim::Return``."""
        assert self._next is not None
        return self._next

    def blocks(self) -> Iterator[Block]:
        """The blocks it owns."""
        return iter(self._blocks[:])

    def addBlock(self) -> Block:
        """Adds an empty block to those it owns."""
        self._blocks.append(Block(self._graph, self))
        return self._blocks[-1]

    def eraseBlock(self, i: int) -> None:
        """Removes one of its blocks with everything in it."""
        self._blocks.pop(i).destroy()

    def insertBefore(self, node: Node) -> Node:
        """Puts it, which stands nowhere yet, before ``node``."""
        assert self._block is None and node._block is not None
        node._block._link(self, node)
        return self

    def insertAfter(self, node: Node) -> Node:
        """Puts it, which stands nowhere yet, behind ``node``."""
        return self.insertBefore(node.next())

    def moveBefore(self, node: Node) -> None:
        """Moves it before ``node``."""
        self._unlink()
        self.insertBefore(node)

    def moveAfter(self, node: Node) -> None:
        """Moves it behind ``node``."""
        self._unlink()
        self.insertAfter(node)

    def _unlink(self) -> None:
        if self._block is not None:
            assert self._previous is not None and self._next is not None
            # Its own links stay: whoever iterates over the block finds on.
            self._previous._next, self._next._previous = self._next, self._previous
            self._block = None

    def isBefore(self, other: Node) -> bool:
        """Whether it runs before ``other``; nodes of inner blocks stand where the node does that owns the block."""
        return self is not other and _runs_before(self, other)

    def isAfter(self, other: Node) -> bool:
        """Whether it runs after ``other``."""
        return self is not other and not _runs_before(self, other)

    def destroy(self) -> None:
        """Removes it with its blocks.

        Raises:
            RuntimeError: an output still has users.
        """
        for value in self._outputs:
            _unused(value, "Node.destroy")
        while self._blocks:
            self.eraseBlock(len(self._blocks) - 1)
        self.removeAllInputs()
        for value in self._outputs:
            value.setDebugName("")
        self._unlink()

    # --- Inner nodes
    def findNode(self, kind: str, recurse: bool = True) -> Node | None:
        """The first node of this kind in its blocks."""
        return next((n for block in self._blocks if (n := block.findNode(kind, recurse)) is not None), None)

    def findAllNodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """All nodes of this kind in its blocks."""
        return [node for block in self._blocks for node in block.findAllNodes(kind, recurse)]

    def __str__(self) -> str:
        from taeda.jit._ir_text import node_text

        return node_text(self)

    __repr__ = __str__


# `is` is a word of Python's, so that its reader is reached by getattr only, as in PyTorch.
_read_ints, _write_ints = _accessors("is")
setattr(Node, "is", _read_ints)
Node.is_ = _write_ints


def _only(values: list[Value], what: str, node: Node) -> Value:
    if len(values) != 1:
        raise RuntimeError(f"{node.kind()}: wants one of its {what}; it has {len(values)}")
    return values[0]


def _drop_user(value: Value, user: Node) -> None:
    value._users[user] -= 1
    if not value._users[user]:
        del value._users[user]


def _unused(value: Value, what: str) -> None:
    if value._users:
        user = next(iter(value._users))
        raise RuntimeError(f"{what}: %{value.debugName()} is still used by {str(user).rstrip()}")


def _ancestry(node: Node) -> list[Node]:
    path = [node]
    while (owner := path[-1].owningBlock()._owner) is not None:
        path.append(owner)
    return path[::-1]


def _runs_before(a: Node, b: Node) -> bool:
    for first, second in zip(_ancestry(a), _ancestry(b), strict=False):
        if first is second:
            continue
        if first._block is second._block:
            return first._place < second._place
        assert first._block is not None and second._block is not None  # two blocks of one node
        blocks = first.owningBlock()._owner._blocks  # type: ignore[union-attr]
        return blocks.index(first._block) < blocks.index(second._block)
    return len(_ancestry(a)) < len(_ancestry(b))


class Block:
    """A sequence of nodes that takes values and gives values: a graph's own, a branch, a loop's body."""

    def __init__(self, graph: Graph, owner: Node | None) -> None:
        self._graph, self._owner = graph, owner
        self._param, self._return = Node(graph, "prim::Param"), Node(graph, "prim::Return")
        for node, neighbour in ((self._param, self._return), (self._return, self._param)):
            node._block, node._previous, node._next = self, neighbour, neighbour
        self._return._place = 1 << 40

    def inputs(self) -> Iterator[Value]:
        """The values it takes."""
        return self._param.outputs()

    def outputs(self) -> Iterator[Value]:
        """The values it gives."""
        return self._return.inputs()

    def nodes(self) -> Iterator[Node]:
        """The nodes in order. They may be changed meanwhile."""
        node = self._param._next
        while node is not None and node is not self._return:
            following = node._next
            yield node
            node = node._next if node._block is self else following

    def reversed_nodes(self) -> Iterator[Node]:
        """The nodes from the last to the first. They may be changed meanwhile."""
        node = self._return._previous
        while node is not None and node is not self._param:
            following = node._previous
            yield node
            node = node._previous if node._block is self else following

    def all_nodes(self) -> Iterator[Node]:
        """The nodes in order, those of inner blocks behind the node that owns them."""
        for node in self.nodes():
            yield node
            for block in node.blocks():
                yield from block.all_nodes()

    def _all_values(self) -> Iterator[Value]:
        yield from self._param._outputs
        for node in self.nodes():
            yield from node._outputs
            for block in node._blocks:
                yield from block._all_values()

    def paramNode(self) -> Node:
        """The node whose outputs are the block's inputs."""
        return self._param

    def returnNode(self) -> Node:
        """The node whose inputs are the block's outputs."""
        return self._return

    def owningNode(self) -> Node | None:
        """The node it belongs to; None for a graph's own."""
        return self._owner

    def addInput(self, name: str = "", type: Type | None = None) -> Value:
        """Adds a value that it takes, a tensor unless a type is given."""
        value = self._param.addOutput(type)
        return value.setDebugName(name) if name else value

    addInputToBlock = addInput

    def insertInput(self, i: int, name: str = "", type: Type | None = None) -> Value:
        """Adds a value that it takes before the one at ``i``."""
        value = self._param.insertOutput(i, type)
        return value.setDebugName(name) if name else value

    def eraseInput(self, i: int) -> None:
        """Removes one of the values it takes, which nobody uses."""
        self._param.eraseOutput(i)

    def registerOutput(self, value: Value) -> int:
        """Adds a value that it gives; its place among them."""
        self._return.addInput(value)
        return len(self._return._inputs) - 1

    def insertOutput(self, i: int, value: Value) -> None:
        """Adds a value that it gives before the one at ``i``."""
        self._return.insertInput(i, value)

    def eraseOutput(self, i: int) -> None:
        """Removes one of the values it gives."""
        self._return.removeInput(i)

    def addNode(self, kind: str, inputs: Sequence[Value]) -> Node:
        """A new node at its end, with one output."""
        node = Node(self._graph, kind, inputs)
        node.addOutput()
        return self.appendNode(node)

    def appendNode(self, node: Node) -> Node:
        """Puts a node, which stands nowhere yet, at its end."""
        return node.insertBefore(self._return)

    def prependNode(self, node: Node) -> Node:
        """Puts a node, which stands nowhere yet, at its beginning."""
        return node.insertAfter(self._param)

    def _link(self, node: Node, before: Node) -> None:
        previous = before.prev()
        node._block, node._previous, node._next = self, previous, before
        previous._next = before._previous = node
        low, high = previous._place, before._place
        if before is self._return:
            node._place = low + 256
        elif high - low > 1:
            node._place = (low + high) // 2
        else:
            for i, each in enumerate(self.nodes()):
                each._place = (i + 1) * 256

    def findNode(self, kind: str, recurse: bool = True) -> Node | None:
        """The first node of this kind."""
        return next((n for n in (self.all_nodes() if recurse else self.nodes()) if n._kind == kind), None)

    def findAllNodes(self, kind: str, recurse: bool = True) -> list[Node]:
        """All nodes of this kind."""
        return [n for n in (self.all_nodes() if recurse else self.nodes()) if n._kind == kind]

    def destroy(self) -> None:
        """Removes everything in it."""
        self._return.removeAllInputs()
        for node in self.reversed_nodes():
            node.destroy()
        while self._param._outputs:
            self._param.eraseOutput(len(self._param._outputs) - 1)

    def copy_from(self, other: Block, values: dict[Value, Value]) -> None:
        """Fills it, which is empty, with a copy. ``values`` says what stands for what is outside, and is added to."""
        for theirs in other.inputs():
            values[theirs] = self.addInput(type=theirs.static_type).copyMetadata(theirs)
        for node in other.nodes():
            copy = self.appendNode(self._graph.createClone(node, lambda v: values.get(v, v)))
            values.update(zip(node._outputs, copy._outputs, strict=True))
        for value in other.outputs():
            self.registerOutput(values.get(value, value))


class _Mapped(dict[Value, Value]):
    """A dict that asks a function for what it does not have."""

    def __init__(self, ask: Callable[[Value], Value]) -> None:
        super().__init__()
        self._ask = ask

    def get(self, key: Value, default: Any = None) -> Any:
        return self[key] if key in self else self._ask(key)
