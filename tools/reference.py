"""The reference: a page for each namespace, with what the declarations say of its functions, and examples."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from taedagen.emit.examples import Example, examples
from taedagen.emit.table import read_table

NAMESPACES = ("", "Tensor", "fft", "linalg", "nn.functional", "random", "signal.windows", "special")
_GROUPS = {
    "bool": "bool", "integral": "uint8 int8 int16 int32 int64", "float16": "float16", "bfloat16": "bfloat16",
    "float": "float32 float64", "complex": "complex64 complex128", "uint16 to uint64": "uint16 uint32 uint64",
}  # fmt: skip
EVERY = " ".join(_GROUPS.values())


def resolve(library: Any, name: str) -> Any:
    """What ``nn.functional.relu`` is below a library; None without it."""
    for part in filter(None, name.split(".")):
        if not hasattr(library, part):
            try:
                importlib.import_module(f"{library.__name__}.{part}")
            except (AttributeError, ImportError):
                return None
        library = getattr(library, part)
    return library


def documented(namespace: str) -> list[str]:
    """The public functions of a namespace, in-place forms left to those that they are forms of; of ``Tensor`` what is
    no function too."""
    import taeda

    module = resolve(taeda, namespace)
    names = [n for n in getattr(module, "__all__", None) or dir(module) if not n.startswith("_")]
    if namespace == "Tensor":
        known = {*dir(taeda), *names} - {"resize"}  # reshape's older name, of which resize_ is no form
        return [n for n in names if not hasattr(taeda, n) and not (n.endswith("_") and n[:-1] in known)]
    values = {n: getattr(module, n) for n in names if not (n.endswith("_") and n[:-1] in names)}
    return sorted(n for n, v in values.items() if callable(v) and not inspect.isclass(v))


class Made:
    """What the generator says of the functions, in the folder that it has written to."""

    def __init__(self, folder: Path) -> None:
        self.stubs = {f.stem: self._signatures(f.read_text()) for f in (folder / "taeda" / "_C").glob("_*.pyi")}
        self.ops: dict[tuple[str, str], dict[str, Any]] = {}  # the first of each module and name
        for full_name, entry in read_table((folder / "ops.json").read_text()).items():
            self.ops.setdefault((entry["module"], full_name.partition(".")[0]), entry)

    @staticmethod
    def _signatures(stub: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, rest in re.findall(r"^ *def (\w+)(\(.*\) -> .*): \.\.\.$", stub, re.M):
            plain = re.sub(r"\b(?:Int|Float|Bool|Str|Dtype|Layout)\b", lambda m: m[0].lower(), rest)
            found.setdefault(name, []).append(plain)
        return found

    def signatures(self, function: Any, name: str, is_method: bool) -> list[str]:
        stubs = self.stubs.get("_methods" if is_method else _home(function), {})
        if found := stubs.get(getattr(function, "__name__", name)):
            return [name + rest for rest in found]
        try:
            return [name + str(inspect.signature(function)).replace("'", "")] if callable(function) else []
        except ValueError:
            return []

    def facts(self, function: Any, name: str, is_method: bool) -> str:
        import taeda

        module = "" if is_method else _home(function).replace("_functions", "").removeprefix("_")
        entry = self.ops.get((module, getattr(function, "__name__", name)))
        if entry is None:
            return ""
        forms = [f"`Tensor.{n}`" for n in (name, name + "_") if not is_method and hasattr(taeda.Tensor, n)]
        facts = ["also " + ", ".join(forms)] if forms else []
        facts += [f"dtypes: {_kinds(entry.get('dtypes', EVERY))}", f"declared at `{entry['declared']}`"]
        if "derivative_at" in entry:
            facts.append(f"derivative at `{entry['derivative_at']}`")
        return "; ".join(facts) + "."


def _home(function: Any) -> str:
    """``_linalg`` for a function of ``taeda._C._linalg``."""
    return (getattr(function, "__module__", None) or "").rpartition(".")[2]


def _kinds(dtypes: str) -> str:
    given = set(dtypes.split())
    return ", ".join(name for name, members in _GROUPS.items() if given.issuperset(members.split()))


def _prose(function: Any) -> str:
    """The docstring without the schemas that it starts with."""
    text = inspect.getdoc(function) or ""
    return re.sub(r"\A(?:[\w.]+\(.*\) -> .*\n)+\n?", "", text)


# --- the pages


def _section(namespace: str, name: str, shown: dict[str, Example], made: Made) -> list[str]:
    import taeda

    is_method, full_name = namespace == "Tensor", ".".join(filter(None, (namespace, name)))
    function = resolve(taeda, full_name)
    lines = [f"## taeda.{full_name}", ""]
    signatures = made.signatures(function, name, is_method)
    if signatures:
        lines += ["```python", *signatures, "```", ""]
    lines += [_prose(function), ""]
    if example := shown.get(f"torch.{full_name}"):
        lines += ["```pycon", example.text.rstrip(), "```", ""]
    if facts := made.facts(function, name, is_method):
        lines += [facts, ""]
    return lines


def _page(namespace: str, shown: dict[str, Example], made: Made) -> str:
    import taeda

    title = ".".join(filter(None, ("taeda", namespace)))
    lines = [f"# {title}", "", "In the examples, `torch` is Taeda: `import taeda as torch`.", ""]
    if namespace == "Tensor":
        both = [n for n in dir(taeda.Tensor) if not n.startswith("_") and hasattr(taeda, n.rstrip("_"))]
        links = (f"[{n}](taeda.md#taeda{n.rstrip('_')})" for n in both)
        lines += ["Methods that are functions too, with a `_` at their end where they write to the tensor:", "",
                  ", ".join(links), ""]  # fmt: skip
    for name in documented(namespace):
        lines += _section(namespace, name, shown, made)
    return "\n".join(lines)


def pages(folder: Path) -> dict[str, str]:
    """The text of each page by its file name, from what the generator has written to ``folder``."""
    made = Made(folder)
    shown = {name: example for example in examples() for name in example.names}
    return {".".join(filter(None, ("taeda", n))) + ".md": _page(n, shown, made) for n in NAMESPACES}
