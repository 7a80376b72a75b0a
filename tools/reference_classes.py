"""Pages of the reference for packages of classes and Python functions: modules, optimisers, data, distributions ...

What they say is what ``help`` says: signatures, docstrings, and the file and line to read on.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference import resolve

from taedagen.emit.examples import example_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = tuple(
    [
        "nn",
        "nn.init",
        "nn.utils",
        "nn.attention",
        "nn.parallel",
        "optim",
        "optim.lr_scheduler",
        "optim.swa_utils",
        "utils.data",
        "autograd",
        "autograd.functional",
        "autograd.forward_ad",
        "autograd.graph",
        "func",
        "distributions",
        "amp",
        "profiler",
        "fx",
        "library",
        "jit",
        "distributed",
        "multiprocessing",
        "futures",
        "overrides",
        "utils.benchmark",
        "utils.checkpoint",
        "utils.dlpack",
        "utils.tensorboard",
        "testing",
        "hub",
        "package",
    ]
)
_HEADING = re.compile(r"^(Args|Arguments|Returns|Yields|Raises|Shapes?|Attributes|Note|Source):$")
_ITEM = re.compile(r"^    (\*{0,2}\w[\w.*, ]*): (.*)$")


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    return {f"taeda.{name}.md": _page(name) for name in PACKAGES}


def members(package: str) -> dict[str, Any]:
    """The public classes and functions of a package, by name; those of Python's own and of other packages left out."""
    import taeda

    module = resolve(taeda, package)
    names = (n for n in getattr(module, "__all__", None) or dir(module) if not n.startswith("_"))
    found = {name: getattr(module, name) for name in names if hasattr(module, name)}
    return {
        name: value
        for name, value in sorted(found.items())
        if (inspect.isclass(value) or inspect.isroutine(value)) and _is_own(value)
    }


def _is_own(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0] == "taeda"


def _page(package: str) -> str:
    import taeda

    found = members(package)
    lines = [f"# taeda.{package}", "", markdown(inspect.getdoc(resolve(taeda, package)) or ""), ""]
    lines += ["| name | what it is |", "|---|---|"]
    lines += [f"| [`{n}`](#taeda{package}.{n}) | {_first_sentence(v)} |" for n, v in found.items()]
    for name, value in found.items():
        lines += ["", *_section(f"{package}.{name}", value)]
    return "\n".join(lines) + "\n"


def _first_sentence(value: Any) -> str:
    text = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.) (?=[A-Z`])", text)[0].replace("|", "\\|")


def _section(full_name: str, value: Any) -> Iterator[str]:
    yield f'<a id="taeda{full_name}"></a>'
    yield f"## taeda.{full_name}"
    if signature := _signature(full_name.rpartition(".")[2], value):
        yield from ("", "```python", signature, "```")
    yield from ("", markdown(inspect.getdoc(value) or ""))
    if example := example_of(full_name):
        yield from ("", "```pycon", example.rstrip(), "```")
    if inspect.isclass(value):
        for name, method in _methods(value):
            yield from ("", f"**`{_signature(name, method)}`**", "", markdown(inspect.getdoc(method) or ""))
    if at := _place(value):
        yield from ("", f"In `{at}`.")


def _methods(value: type[Any]) -> Iterator[tuple[str, Any]]:
    """Those that the class itself brings and that say what they do."""
    for name, method in vars(value).items():
        if not name.startswith("_") and inspect.isfunction(method) and method.__doc__ and name != "extra_repr":
            yield name, method


def _signature(name: str, value: Any) -> str:
    """One line where it fits, else one for each parameter."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    shown = str(signature.replace(parameters=parameters))
    text = name + re.sub(r"(?<=: )'([^']*)'|(?<=-> )'([^']*)'", lambda m: m[1] or m[2], shown)
    text = text.removesuffix(" -> None")
    if len(text) <= 100:
        return text
    head, _, rest = text.partition("(")
    return head + "(\n    " + ",\n    ".join(_split(rest[: rest.rindex(")")])) + ",\n)" + rest[rest.rindex(")") + 1 :]


def _split(text: str) -> list[str]:
    """At the commas that no bracket encloses."""
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [*parts, text[begin:].strip()]


def _place(value: Any) -> str:
    try:
        value = inspect.unwrap(value)
        path, line = Path(inspect.getsourcefile(value) or ""), inspect.getsourcelines(value)[1]
    except (OSError, TypeError):
        return ""
    return f"{path.relative_to(ROOT)}:{line}" if path.is_relative_to(ROOT) else ""


def markdown(text: str) -> str:
    """A docstring's lists of arguments, errors and results as Markdown's."""
    lines: list[str] = []
    in_list = False
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            lines += ["", f"**{heading[1]}**", ""]
            in_list = True
        elif in_list and line and not line.startswith(" "):
            in_list = False
            lines += ["", line]
        elif in_list and (item := _ITEM.match(line)):
            lines.append(f"- `{item[1]}`: {item[2]}")
        elif in_list and line.strip():
            lines.append(f"  {line.strip()}" if lines[-1].lstrip().startswith(("-", " ")) else f"- {line.strip()}")
        else:
            lines.append(line)
    return "\n".join(lines)
