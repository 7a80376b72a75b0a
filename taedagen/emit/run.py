"""The command line of the generator: reads all declarations, writes the chosen subset of artefacts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from taedagen.emit.any_device import emit_any_device
from taedagen.emit.autocast import emit_autocast
from taedagen.emit.autograd import emit_autograd
from taedagen.emit.bindings import emit_bindings
from taedagen.emit.composite import emit_composite
from taedagen.emit.cpp_api import emit_cpp_api
from taedagen.emit.dispatch import emit_dispatch
from taedagen.emit.docs import emit_docs
from taedagen.emit.facts import emit_facts
from taedagen.emit.files import write_files
from taedagen.emit.layouts import emit_layouts
from taedagen.emit.locations import Locations, settle
from taedagen.emit.plan import BACKENDS, Plan
from taedagen.emit.rules import emit_rules
from taedagen.emit.selection import read_selection, with_parts
from taedagen.emit.stubs import emit_stubs
from taedagen.emit.table import ROOT, emit_table
from taedagen.emit.targets import TARGETS, emit_targets
from taedagen.emit.zeros import emit_zeros
from taedagen.opdef import REGISTRY, DeclarationError, load_ops
from taedagen.opdef.declaration import Op
from taedagen.opdef.facts import check as check_facts

Emitter = Callable[[Plan], dict[str, str]]
SUBSETS: dict[str, list[Emitter]] = {
    "library": [
        emit_dispatch,
        emit_autograd,
        emit_autocast,
        emit_composite,
        emit_any_device,
        emit_layouts,
        emit_rules,
        emit_targets,
        emit_cpp_api,
    ],
    "bindings": [emit_bindings],
    "python": [emit_stubs, emit_docs, emit_facts, emit_zeros],
}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("taedagen", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder that receives the generated tree")
    parser.add_argument("--ops", type=Path, help="folder of declaration files to read instead of taedagen/ops")
    parser.add_argument(
        "--extension",
        type=Path,
        help="folder of declarations of a library of your own: only these are written; they may call Taeda's",
    )
    parser.add_argument("--backends", nargs="+", default=BACKENDS, choices=sorted(TARGETS), help="the targets to use")
    parser.add_argument(
        "--select-ops",
        type=Path,
        help="file with the names of the ops to build, one a line; what they are made of comes with them",
    )
    parser.add_argument("--force-schemas", action="store_true", help="ops that are not selected keep their schema")
    parser.add_argument("--no-autograd", action="store_true", help="leave the autograd layer out")
    parser.add_argument(
        "--subset", choices=sorted(SUBSETS), action="append", help="only these artefacts (may be repeated)"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the files, which need no --out then")
    options = parser.parse_args(arguments)
    if options.out is None and not options.list:
        parser.error(
            "--out names the folder that receives the generated tree; --list only prints the names of the files"
        )
    return options


def selection(options: argparse.Namespace) -> Callable[[Op], bool] | None:
    """The ops that the options select; None for all."""
    if options.select_ops is None:
        return None
    chosen = read_selection(options.select_ops, REGISTRY)
    return with_parts(chosen, REGISTRY, ROOT, autograd=not options.no_autograd)


def make(plan: Plan, subsets: list[str]) -> dict[str, str]:
    """The files of the subsets, by their names. Python's tables tell locations in the others."""
    made: dict[str, dict[str, str]] = {}
    locations = Locations()
    for subset in SUBSETS if "python" in subsets else subsets:
        made[subset], found = settle({name: text for emit in SUBSETS[subset] for name, text in emit(plan).items()})
        locations |= found
    if "python" in subsets:
        made["python"] |= emit_table(plan, locations)
    return {name: text for subset in subsets for name, text in made[subset].items()}


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        load_ops(options.ops)
        begin = 0
        if options.extension:
            begin = len(REGISTRY.declarations)
            load_ops(options.extension)
        check_facts(REGISTRY)
        plan = Plan(REGISTRY, selection(options), not options.no_autograd, options.force_schemas,
                    tuple(options.backends), begin)  # fmt: skip
        files = make(plan, options.subset or (["library"] if options.extension else list(SUBSETS)))
    except DeclarationError as mistake:
        print(mistake, file=sys.stderr)
        return 1
    sources = sorted(name for name in files if name.endswith(".cpp"))
    parts = {"bindings.txt": "csrc/python/", "frontend.txt": "csrc/frontend/"}
    for listing, folder in parts.items():
        files[listing] = "".join(f"{n}\n" for n in sources if n.startswith(folder))
    files["library.txt"] = "".join(f"{n}\n" for n in sources if not n.startswith(tuple(parts.values())))
    if options.list:
        print("\n".join(sorted(files)))
    if options.out is None:
        return 0
    written = write_files(options.out, files, keep_others=bool(options.subset))
    for line in plan.skipped:
        print(f"skipped {line}")
    print(f"taedagen: {len(files)} files, {len(written)} changed, {sum(len(f.ops) for f in plan.families)} ops")
    return 0
