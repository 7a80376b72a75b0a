"""What inputs and outputs of a program are, and how modules are called, as files have them."""

from __future__ import annotations

from typing import Any

from taeda.export import graph_signature as kinds
from taeda.export.exported_program import ModuleCallEntry, ModuleCallSignature
from taeda.export.files import codes
from taeda.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec
from taeda.utils import _pytree as pytree

# By kind: the format's word, and its word for the path.
_INPUTS = {
    InputKind.PARAMETER: ("parameter", "parameter_name"), InputKind.BUFFER: ("buffer", "buffer_name"),
    InputKind.CONSTANT_TENSOR: ("tensor_constant", "tensor_constant_name"),
}  # fmt: skip
_OUTPUTS = {
    OutputKind.LOSS_OUTPUT: ("loss_output", None), OutputKind.BUFFER_MUTATION: ("buffer_mutation", "buffer_name"),
    OutputKind.PARAMETER_MUTATION: ("parameter_mutation", "parameter_name"),
    OutputKind.GRADIENT_TO_PARAMETER: ("gradient_to_parameter", "parameter_name"),
    OutputKind.GRADIENT_TO_USER_INPUT: ("gradient_to_user_input", "user_input_name"),
    OutputKind.USER_INPUT_MUTATION: ("user_input_mutation", "user_input_name"),
}  # fmt: skip
_ARGUMENTS: dict[str, Any] = {
    "as_tensor": kinds.TensorArgument, "as_sym_int": kinds.SymIntArgument, "as_sym_float": kinds.SymFloatArgument,
    "as_sym_bool": kinds.SymBoolArgument,
}  # fmt: skip
_CONSTANTS = {bool: "as_bool", int: "as_int", float: "as_float", str: "as_string", type(None): "as_none"}


def _argument(arg: Any) -> dict[str, Any]:
    if isinstance(arg, kinds.ConstantArgument):
        return _constant(arg.value)
    for kind, cls in _ARGUMENTS.items():
        if isinstance(arg, cls):
            return {kind: {"name" if kind == "as_tensor" else "as_name": arg.name}}
    raise RuntimeError(f"taeda.export.save: a {type(arg).__name__} cannot be written")


def _constant(value: Any) -> dict[str, Any]:
    if value is None:
        return {"as_none": True}
    return {_CONSTANTS[type(value)]: codes.written_float(value) if type(value) is float else value}


def _read_argument(described: dict[str, Any], name: str = "") -> Any:
    ((kind, value),) = described.items()
    if kind in _ARGUMENTS:
        return _ARGUMENTS[kind](value["name"] if kind == "as_tensor" else value["as_name"])
    if kind not in _CONSTANTS.values():
        raise RuntimeError(f"taeda.export.load: there is no kind of argument {kind[:50]!r}")
    if kind == "as_float":
        value = float(codes.read_float(value))
    return kinds.ConstantArgument(name, None if kind == "as_none" else value)


# --- signatures
def write_signature(signature: ExportGraphSignature) -> dict[str, Any]:
    """The signature of a program."""
    return {
        "input_specs": [_input(spec) for spec in signature.input_specs],
        "output_specs": [_output(spec) for spec in signature.output_specs],
    }


def _input(spec: InputSpec) -> dict[str, Any]:
    if spec.kind is InputKind.USER_INPUT:
        if isinstance(spec.arg, kinds.ConstantArgument):
            return {"constant_input": {"name": spec.arg.name, "value": _constant(spec.arg.value)}}
        return {"user_input": {"arg": _argument(spec.arg)}}
    if spec.kind not in _INPUTS:
        raise RuntimeError(f"taeda.export.save: '{spec.target}' is {spec.kind.name}; files hold tensors only")
    word, path = _INPUTS[spec.kind]
    said: dict[str, Any] = {"arg": {"name": spec.arg.name}, path: spec.target}
    return {word: said | ({"persistent": bool(spec.persistent)} if spec.kind is InputKind.BUFFER else {})}


def _output(spec: OutputSpec) -> dict[str, Any]:
    if spec.kind is OutputKind.USER_OUTPUT:
        return {"user_output": {"arg": _argument(spec.arg)}}
    word, path = _OUTPUTS[spec.kind]
    return {word: {"arg": {"name": spec.arg.name}} | ({path: spec.target} if path else {})}


def read_signature(described: dict[str, Any]) -> ExportGraphSignature:
    """What `write_signature` gave."""
    return ExportGraphSignature(
        [_read_input(*_only(spec)) for spec in described["input_specs"]],
        [_read_output(*_only(spec)) for spec in described["output_specs"]],
    )


def _only(described: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    ((word, said),) = described.items()
    return word, said


def _read_input(word: str, said: dict[str, Any]) -> InputSpec:
    if word == "user_input":
        return InputSpec(InputKind.USER_INPUT, _read_argument(said["arg"]), None)
    if word == "constant_input":
        return InputSpec(InputKind.USER_INPUT, _read_argument(said["value"], said["name"]), None)
    for kind, (known, path) in _INPUTS.items():
        if word == known:
            return InputSpec(kind, kinds.TensorArgument(said["arg"]["name"]), said[path], said.get("persistent"))
    raise RuntimeError(f"taeda.export.load: inputs of the kind {word[:50]!r} are not read")


def _read_output(word: str, said: dict[str, Any]) -> OutputSpec:
    if word == "user_output":
        return OutputSpec(OutputKind.USER_OUTPUT, _read_argument(said["arg"]), None)
    for kind, (known, path) in _OUTPUTS.items():
        if word == known:
            return OutputSpec(kind, kinds.TensorArgument(said["arg"]["name"]), said[path] if path else None)
    raise RuntimeError(f"taeda.export.load: outputs of the kind {word[:50]!r} are not read")


# --- calls of modules
def write_calls(entries: list[ModuleCallEntry]) -> list[Any]:
    """How the program and modules in it are called; of the program itself the signature says what it takes."""
    return [{"fqn": e.fqn, "signature": None if e.signature is None else _call(e)} for e in entries]


def _call(entry: ModuleCallEntry) -> dict[str, Any]:
    said: Any = entry.signature
    return {
        "inputs": [_argument(arg) for arg in said.inputs] if entry.fqn else [],
        "outputs": [_argument(arg) for arg in said.outputs] if entry.fqn else [],
        "in_spec": pytree.treespec_dumps(said.in_spec), "out_spec": pytree.treespec_dumps(said.out_spec),
        "forward_arg_names": said.forward_arg_names,
    }  # fmt: skip


def read_calls(entries: list[Any], signature: ExportGraphSignature, fields: dict[str, Any]) -> list[ModuleCallEntry]:
    """What `write_calls` gave. ``fields``: of named tuples that this program may not know."""
    found = []
    for entry in entries:
        said = entry.get("signature")
        if said is None:
            found.append(ModuleCallEntry(entry["fqn"]))
            continue
        inputs, outputs = ([_read_argument(arg) for arg in said[key]] for key in ("inputs", "outputs"))
        if entry["fqn"] == "":
            inputs = [spec.arg for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
            outputs = [spec.arg for spec in signature.output_specs if spec.kind is OutputKind.USER_OUTPUT]
        takes, gives = (pytree.treespec_loads(said[key], fields) for key in ("in_spec", "out_spec"))
        names = said.get("forward_arg_names")
        _check_nesting(takes, names or [])
        found.append(ModuleCallEntry(entry["fqn"], ModuleCallSignature(inputs, outputs, takes, gives, names)))
    if not found or found[0].fqn or found[0].signature is None:
        raise RuntimeError("taeda.export.load: the file does not say how the program is called")
    return found


def _check_nesting(takes: pytree.TreeSpec, names: list[str]) -> None:
    if takes.type is not tuple or [child.type for child in takes.children_specs] != [tuple, dict]:
        raise RuntimeError("taeda.export.load: arguments are no tuple and dict")
    for name in (*names, *takes.child(1).context):
        codes.identifier(name)
