"""One graph as instructions over registers: branches and loops become jumps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from taeda._schema.types import NoneType
from taeda.jit.translate.arithmetic import BRANCHES, DIRECT, SHORT
from taeda.jit.translate.liveness import liveness
from taeda.jit.translate.registers import Register, Registers, letter_of
from taeda.jit.translate.text import literal, quoted, type_text

if TYPE_CHECKING:
    from taeda.jit.ir import Block, Graph, Node, Value
    from taeda.jit.translate.program import Program

FOREVER = 2**63 - 1
_ORDERING = frozenset(["aten::sort", "aten::sorted", "prim::min", "prim::max"])


class Use(NamedTuple):
    """An operand: a register, and whether this is the last that is seen of its value."""

    register: Register
    is_last: bool = False


class Label:
    """A place to jump to."""

    def __init__(self) -> None:
        self.at: int | None = None


class Line:
    """An instruction before its registers and labels have their final numbers."""

    def __init__(
        self, results: Sequence[Register], name: str, head: str, operands: Sequence[Use | Label], place: str
    ) -> None:
        self.results, self.name, self.head, self.operands, self.place = results, name, head, operands, place


class FunctionTranslator:
    """Translates one graph. ``program`` knows the functions that it calls and holds its constants and sources."""

    def __init__(self, graph: Graph, program: Program) -> None:
        self.graph, self.program = graph, program
        self.live = liveness(graph)
        self.registers = Registers()
        self.lines: list[Line] = []
        self.constants: dict[str, int] = {}  # literals of values
        self.presets: dict[str, int] = {}  # literals of numbers
        self.place = ""
        self.fused: set[Node] = set()  # comparisons that a branch does

    def translate(self) -> None:
        """Fills ``lines``."""
        for value in self.graph.inputs():
            self.registers.take(value)
        self._release_unused(list(self.graph.inputs()))
        self._block(self.graph)  # type: ignore[arg-type]
        self._return()

    # --- Operands
    def _constant(self, value: Value) -> str:
        node = value.node()
        held = None if node.mustBeNone() else node.constant()
        return literal(held, value.static_type, self.program.externals)

    def use(self, value: Value) -> Use:
        """A value as an operand of a call, in whatever register or constant it is."""
        if value.node().kind() == "prim::Constant":
            text = self._constant(value)
            return Use(Register("k", self.constants.setdefault(text, len(self.constants))))
        return Use(self.registers.of[value])

    def number(self, value: Value) -> Use:
        """A value in a number register."""
        if value.node().kind() == "prim::Constant":
            return Use(self.preset(self._constant(value), letter_of(value)))
        register = self.registers.of[value]
        return Use(register)

    def preset(self, text: str, letter: str) -> Register:
        """A number register that holds a number from the beginning."""
        if letter == "b":
            text = str(int(text == "True"))
        return Register("p" + letter, self.presets.setdefault(text, len(self.presets)))

    # --- Instructions
    def emit(
        self, name: str, operands: Sequence[Use | Label], results: Sequence[Register] = (), head: str = ""
    ) -> None:
        """Adds an instruction."""
        self.lines.append(Line(results, name, head, operands, self.place))

    def bind(self, label: Label) -> None:
        """The label stands for the next instruction."""
        label.at = len(self.lines)

    def results(self, node: Node, all_of_them: bool = False) -> list[Register]:
        """Registers for the outputs of a node; none for the last ones that nobody uses."""
        outputs = list(node.outputs())
        while outputs and not all_of_them and not outputs[-1].hasUses():
            outputs.pop()
        return [self.registers.take(value) for value in outputs]

    def finish(self, node: Node) -> None:
        """Gives back the registers of outputs that nobody uses."""
        self._release_unused([value for value in node.outputs() if value in self.registers.of])

    def _release_unused(self, values: list[Value]) -> None:
        for value in values:
            if not value.hasUses():
                self._drop([value])

    def release_last(self, node: Node) -> None:
        """The inputs that the node is the last to use are in no register any more."""
        for value in self.live.last.get(node, ()):
            self.registers.drop(value)

    def _drop(self, values: Sequence[Value]) -> None:
        held = [Use(self.registers.of[value]) for value in values if letter_of(value) == "v"]
        if held:
            self.emit("drop", held)
        for value in values:
            self.registers.drop(value)

    def call(self, name: str, node: Node, head: str = "", inputs: Sequence[Value] | None = None,
             all_results: bool = False) -> None:  # fmt: skip
        """A node that becomes one instruction with its inputs and outputs as operands."""
        operands = self._last_uses(node, list(node.inputs()) if inputs is None else inputs)
        self.release_last(node)
        self.emit(name, operands, self.results(node, all_results), head)
        self.finish(node)

    def _last_uses(self, node: Node, inputs: Sequence[Value]) -> list[Use]:
        """The operands of a node; those that are not used later are moved, where they stand last."""
        operands = [self.use(value) for value in inputs]
        for value in self.live.last.get(node, ()):
            if value in inputs:
                place = max(i for i, given in enumerate(inputs) if given is value)
                operands[place] = Use(operands[place].register, True)
        return operands

    # --- Nodes
    def _block(self, block: Block) -> None:
        if dropped := self.live.dropped.get(block):
            self._drop(list(dropped))
        for node in block.nodes():
            if node.kind() != "prim::Constant":
                self.place = self.program.place_of(node)
                self._node(node)

    def _node(self, node: Node) -> None:
        kind = node.kind()
        if kind == "prim::If":
            self._if(node)
        elif kind == "prim::Loop":
            self._loop(node)
        elif kind.startswith("prim::") and (special := getattr(self, "_prim_" + kind[6:], None)) is not None:
            special(node)
        else:
            self._function(node)

    def _function(self, node: Node) -> None:
        name = self.program.function_of(node)
        if name in DIRECT and all(letter_of(v) != "v" for v in (*node.inputs(), *node.outputs())):
            self._arithmetic(node, *DIRECT[name])
        elif name == "aten::__derive_index":
            self._derive_index(node)
        elif name in SHORT and node.output().hasUses():
            self.call(SHORT[name], node)
        elif self.program.is_op(name):
            self.call("op", node, name)
        else:
            if node.kind() in _ORDERING:
                self._need_order(node.inputsAt(0).static_type)
            self.call("primitive", node, name)

    def _need_order(self, type: Any) -> None:
        """Objects in what is ordered are compared by their own method."""
        if type.kind() == "ClassType":
            self.program.need_method(type, "__lt__")
        for part in type.containedTypes():
            self._need_order(part)

    def _arithmetic(self, node: Node, name: str, kinds: str, swapped: bool) -> None:
        may_fail = name.split(".")[0] in ("floordiv", "mod", "div", "int")
        if not node.output().hasUses() and not may_fail:
            return self.release_last(node)
        if name in BRANCHES and self._is_fused(node):
            self.fused.add(node)
            return None
        operands, spare = self._number_operands(node, kinds)
        self.release_last(node)
        result = self.registers.take(node.output())
        self.emit(name, operands[::-1] if swapped else operands, [result])
        for register in spare:
            self.registers.release(register)
        return self.finish(node)

    def _number_operands(self, node: Node, kinds: str) -> tuple[list[Use], list[Register]]:
        operands, spare = [], []
        for value, kind in zip(node.inputs(), kinds, strict=True):
            if kind == "f" and letter_of(value) != "f":
                if value.node().kind() == "prim::Constant":
                    operands.append(Use(self.preset(repr(float(value.node().constant())), "f")))
                    continue
                spare.append(self.registers.spare("f"))
                self.emit("float", [self.number(value)], [spare[-1]])
                operands.append(Use(spare[-1]))
            else:
                operands.append(self.number(value))
        return operands, spare

    def _derive_index(self, node: Node) -> None:
        index, start, step = node.inputs()
        held = self.registers.spare("i")
        operands = [self.number(index), self.number(step), self.number(start)]
        self.emit("mul.i", operands[:2], [held])
        self.release_last(node)
        result = self.registers.take(node.output())
        self.emit("add.i", [Use(held), operands[2]], [result])
        self.registers.release(held)
        self.finish(node)

    def _prim_GetAttr(self, node: Node) -> None:
        if node.output().hasUses():
            self.call("get", node, f"{quoted(node.s('name'))} {type_text(node.input().static_type)}")
        else:
            self.release_unread(node)

    def release_unread(self, node: Node) -> None:
        """A node without an effect, whose output nobody uses."""
        if last := list(self.live.last.get(node, ())):
            self._drop(last)

    def _prim_SetAttr(self, node: Node) -> None:
        self.call("set", node, f"{quoted(node.s('name'))} {type_text(node.inputsAt(0).static_type)}")

    def _prim_CallMethod(self, node: Node) -> None:
        self.program.need_method(node.inputsAt(0).static_type, node.s("name"))
        self.call("method", node, quoted(node.s("name")), all_results=True)

    def _prim_CallFunction(self, node: Node) -> None:
        callee, *arguments = node.inputs()
        self.call("call", node, quoted(self.program.need_function(callee.node().constant())), arguments, True)

    def _prim_CreateObject(self, node: Node) -> None:
        self.program.need_class(node.output().static_type)
        self.call("new", node, type_text(node.output().static_type), all_results=True)

    def _prim_ListConstruct(self, node: Node) -> None:
        self.call("list", node, type_text(node.output().static_type.containedTypes()[0]), all_results=True)

    def _prim_TupleConstruct(self, node: Node) -> None:
        type = node.output().static_type
        self.call("tuple", node, type_text(type) if getattr(type, "_name", "") else "", all_results=True)

    def _prim_DictConstruct(self, node: Node) -> None:
        key, value = node.output().static_type.containedTypes()
        self.call("dict", node, f"{type_text(key)} {type_text(value)}", all_results=True)

    def _prim_TupleUnpack(self, node: Node) -> None:
        self.call("unpack", node, all_results=True)

    _prim_ListUnpack = _prim_TupleUnpack

    def _prim_TupleIndex(self, node: Node) -> None:
        whole, index = node.inputs()
        if index.node().kind() != "prim::Constant":
            raise RuntimeError(f"a tuple's item is chosen by a constant\n{node.sourceRange()}")
        self.call("tuple_item", node, str(index.node().constant()), [whole], all_results=True)

    def _prim_TupleSlice(self, node: Node) -> None:
        self.call("tuple_slice", node, f"{node.i('beg')} {node.i('end')}", all_results=True)

    def _prim_isinstance(self, node: Node) -> None:
        types = node.tys("types")
        self.call("isinstance", node, " ".join([str(len(types)), *map(type_text, types)]), all_results=True)

    def _prim_unchecked_cast(self, node: Node) -> None:
        if node.output().hasUses():
            self.call("move", node)
        else:
            self.release_unread(node)

    _prim_unchecked_unwrap_optional = _prim_unchecked_cast

    def _prim_Uninitialized(self, node: Node) -> None:
        if node.output().hasUses():
            (result,) = self.results(node)
            none = Use(Register("k", self.constants.setdefault("None", len(self.constants))))
            if result.letter == "v":
                self.emit("move", [none], [result])
            else:
                self.emit("copy", [Use(self.preset("0", "i"))], [result])

    def _prim_Print(self, node: Node) -> None:
        self.call("primitive", node, node.kind())

    def _prim_Enter(self, node: Node) -> None:
        self.program.need_method(node.input().static_type, "__enter__")
        held = Use(self.registers.of[node.input()])
        self.call("method", node, quoted("__enter__"), all_results=True)
        if node.input() in self.registers.of:  # it is left some time: also when an exception ends the program
            self.emit("entered", [held])

    def _prim_Exit(self, node: Node) -> None:
        self.program.need_method(node.inputsAt(0).static_type, "__exit__")
        nothing = Use(Register("k", self.constants.setdefault("None", len(self.constants))))
        self.emit("left", [])
        self._discarding("method", node, quoted("__exit__"), [nothing] * 3)

    def _discarding(self, name: str, node: Node, head: str, more: Sequence[Use] = ()) -> None:
        """A call whose result, if it has one, nobody wants; ``more`` are operands behind the node's inputs."""
        operands = [*self._last_uses(node, list(node.inputs())), *more]
        self.release_last(node)
        spare = self.registers.spare("v")
        self.emit(name, operands, [spare], head)
        self.emit("drop", [Use(spare)])
        self.registers.release(spare)
        return None

    # --- Branches and loops
    def _is_fused(self, node: Node) -> bool:
        """Whether the only use of a comparison is the branch right behind it."""
        uses = node.output().uses()
        after = node.next()
        while after.kind() == "prim::Constant":
            after = after.next()
        return len(uses) == 1 and after.kind() == "prim::If" and uses[0].user is after

    def _unless(self, condition: Value, target: Label) -> None:
        node = condition.node()
        if node not in self.fused:
            self.emit("unless", [self.number(condition), target])
            return
        name, kinds, swapped = DIRECT[self.program.function_of(node)]
        operands, spare = self._number_operands(node, kinds)
        self.emit("unless_" + name, [*(operands[::-1] if swapped else operands), target])
        self.release_last(node)
        for register in spare:
            self.registers.release(register)

    def _if(self, node: Node) -> None:
        condition = node.input()
        otherwise, end = Label(), Label()
        self._unless(condition, otherwise)
        if condition.node() not in self.fused:
            self.release_last(node)
        outputs = list(node.outputs())
        targets = [self.registers.spare(letter_of(value)) for value in outputs]
        for register in targets:
            self.registers.reserve(register, idle=True)
        state = self.registers.state()
        for block, label in zip(node.blocks(), (otherwise, end), strict=True):
            if label is end:
                self.registers.restore(state)
            self._suggest(block, list(block.returnNode().inputs()), targets)
            self._block(block)
            self._moves(self._ends(block), targets)
            self.release_last(block.returnNode())
            if label is otherwise:
                self.emit("jump", [end])
            self.bind(label)
        for value, register in zip(outputs, targets, strict=True):
            self.registers.claim(value, register)
        self._release_unused(outputs)

    def _suggest(self, block: Block, results: list[Value], targets: list[Register]) -> None:
        """Results of a block are best made where they are wanted."""
        for value, register in zip(results, targets, strict=True):
            if value.node().owningBlock() is block and value.node().kind() not in ("prim::Param", "prim::Constant"):
                self.registers.hints.setdefault(value, register)

    def _ends(self, block: Block) -> list[tuple[Value, Use]]:
        node = block.returnNode()
        values = list(node.inputs())
        return list(zip(values, self._last_uses(node, values), strict=True))

    def _moves(self, sources: Sequence[tuple[Value, Use]], targets: Sequence[Register]) -> None:
        """Moves that happen at once: a target may be the source of another."""
        boxed: list[tuple[Use, Register]] = []
        numbers: list[tuple[Use, Register]] = []
        stays = {use.register for (_, use), target in zip(sources, targets, strict=True) if use.register == target}
        for (value, use), target in zip(sources, targets, strict=True):
            if target.letter == "v":
                if use.register != target:
                    boxed.append((Use(use.register) if use.register in stays else use, target))
            elif letter_of(value) != "v":
                source = self.number(value)
                if source.register.place != target.place or source.register.letter[0] == "p":
                    numbers.append((source, target))
            else:
                boxed.append((use, target))
        if boxed:
            self.emit("move", [use for use, _ in boxed], [target for _, target in boxed])
        self._number_moves(numbers)

    def _number_moves(self, moves: list[tuple[Use, Register]]) -> None:
        while moves:
            sources = {use.register.place for use, _ in moves if use.register.letter[0] != "p"}
            ready = next((move for move in moves if move[1].place not in sources), None)
            if ready is None:  # a circle
                use, _ = moves[0]
                spare = self.registers.spare(use.register.letter)
                self.emit("copy", [use], [spare])
                moves = [(Use(spare) if u.register.place == use.register.place else u, t) for u, t in moves]
                self.registers.release(spare)
                continue
            self.emit("copy", [ready[0]], [ready[1]])
            moves.remove(ready)

    def _loop(self, node: Node) -> None:
        limit, first, *start = node.inputs()
        (body,) = node.blocks()
        turn, *carried = body.inputs()
        counts_up = limit.node().kind() != "prim::Constant" or limit.node().constant() < FOREVER or turn.hasUses()
        initial = list(zip(start, self._last_uses(node, [limit, first, *start])[2:], strict=True))
        bound = self.number(limit) if counts_up else None
        condition = None if first.node().kind() == "prim::Constant" else self.number(first)
        last = self.live.last.get(node, {})
        for value in last:
            if value is not first:
                self.registers.drop(value)
        targets = [self.registers.take(value) for value in carried]
        counter = self.registers.take(turn) if bound is not None else None
        for register in [*targets, *([counter] if counter is not None else [])]:
            self.registers.reserve(register, idle=False)
        self._moves(initial, targets)
        end = Label()
        if condition is not None:
            self.emit("unless", [condition, end])
        elif not first.node().constant():
            self.emit("jump", [end])
        if first in last:
            self.registers.drop(first)
        if counter is not None and bound is not None:
            self.emit("copy", [Use(self.preset("0", "i"))], [counter])
            self.emit("unless_lt.i", [Use(counter), bound, end])
        self._rounds(node, body, targets, counter, bound, end)
        self.bind(end)
        for value, register in zip(node.outputs(), targets, strict=True):
            self.registers.claim(value, register)
        if counter is not None:
            self.registers.free_reserved(counter)
        if ended := list(self.live.after.get(node, ())):
            self._drop(ended)
        self._release_unused(list(node.outputs()))

    def _rounds(self, node: Node, body: Block, targets: list[Register], counter: Register | None, bound: Use | None,
                end: Label) -> None:  # fmt: skip
        top = Label()
        self.bind(top)
        turn, *carried = body.inputs()
        self._release_unused([*([turn] if counter is not None else []), *carried])
        going, *results = body.returnNode().inputs()
        self._suggest(body, results, targets)
        self._block(body)
        condition = None if going.node().kind() == "prim::Constant" else self.number(going)
        spare = None
        if condition is not None and any(r.place == condition.register.place and r.letter != "v" and v is not going
                                         for r, v in zip(targets, results, strict=True)):  # fmt: skip
            spare = self.registers.spare("b")  # the moves would overwrite it
            self.emit("copy", [condition], [spare])
            condition = Use(spare)
        self._moves(self._ends(body)[1:], targets)
        self.place = self.program.place_of(node)
        if condition is not None:
            self.emit("unless", [condition, end])
        elif not going.node().constant():
            self.emit("jump", [end])
        if counter is not None and bound is not None:
            self.emit("next", [Use(counter), bound, top])
        else:
            self.emit("jump", [top])
        if spare is not None:
            self.registers.release(spare)
        self.release_last(body.returnNode())

    def _return(self) -> None:
        outputs = list(self.graph.outputs())
        self.place = ""
        if outputs:
            self.emit("return", self._last_uses(self.graph.returnNode(), outputs))
        else:
            self.emit("return", [Use(Register("k", self.constants.setdefault("None", len(self.constants))))])

    # --- Text
    def text(self, name: str, owner: str | None, arguments: Sequence[Any]) -> list[str]:
        """The lines of the function in a program's text."""
        values, numbers = self.registers.counts()
        shift = len(self.presets)
        out = [f"function {quoted(name)}" + (f" of {quoted(owner)}" if owner else "")]
        for value, argument in zip(self.graph.inputs(), arguments, strict=True):
            out.append(self._parameter(value, argument, shift))
        outputs = list(self.graph.outputs())
        out.append(f"returns {type_text(outputs[0].static_type if outputs else NoneType.get())}")
        out.append(f"registers {values} {numbers + shift}")
        out += [f"number {text}" for text in self.presets]
        out += [f"constant {text}" for text in self.constants]
        out.append("code")
        out += [self._line(line, shift) for line in self.lines]
        return [*out, "end"]

    def _parameter(self, value: Value, argument: Any, shift: int) -> str:
        name, default, keyword_only = argument
        register = self._spelled(self.registers.of[value], shift)
        parts = [
            "parameter",
            quoted(name),
            register,
            *(["keyword"] if keyword_only else []),
            type_text(value.static_type),
        ]
        if default is not None:
            parts += ["=", literal(default[0], value.static_type, self.program.externals)]
        return " ".join(parts)

    def _spelled(self, register: Register, shift: int) -> str:
        if register.letter[0] == "p":
            return f"{register.letter[1]}{register.place}"
        return f"{register.letter}{register.place + (shift if register.letter in 'ifb' else 0)}"

    def _line(self, line: Line, shift: int) -> str:
        parts = [self._spelled(register, shift) for register in line.results]
        if parts:
            parts.append("=")
        parts.append(line.name)
        if line.head:
            parts.append(line.head)
        for operand in line.operands:
            if isinstance(operand, Label):
                parts.append(f"@{operand.at}")
            else:
                moved = "!" if operand.is_last and operand.register.letter == "v" else ""
                parts.append(self._spelled(operand.register, shift) + moved)
        if line.place:
            parts.append(line.place)
        return " ".join(parts)
