"""``python -m benchmarks [--quick] [--only GROUP ...] [--out FOLDER]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import (
    calls,
    collectives,
    compilation,
    cpp,
    data_parallel,
    exports,
    families,
    graphs,
    headers,
    kernels,
    quantized,
    report,
    sparse,
    startup,
    tiny,
    training,
)

GROUPS = {
    "startup": startup.rows,
    "calls": calls.rows,
    "tiny": tiny.rows,
    "memory": kernels.memory,
    "gradients": kernels.gradients,
    "products": kernels.products,
    "layers": kernels.layers,
    "transforms": kernels.transforms,
    "families": families.rows,
    "graphs": graphs.rows,
    "exports": exports.rows,
    "quantized": quantized.rows,
    "sparse": sparse.rows,
    "training": training.rows,
    "collectives": collectives.rows,
    "data_parallel": data_parallel.rows,
    "headers": headers.rows,
    "cpp": cpp.rows,
    "build": compilation.rows,
}
BUDGETS = {
    **calls.BUDGETS,
    **collectives.BUDGETS,
    **cpp.BUDGETS,
    **tiny.BUDGETS,
    **kernels.BUDGETS,
    **families.BUDGETS,
    **graphs.BUDGETS,
    **exports.BUDGETS,
    **quantized.BUDGETS,
    **sparse.BUDGETS,
    **training.BUDGETS,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Taeda beside PyTorch, timed in turn on this machine.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller sizes")
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), help="these groups alone; nothing is written")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).resolve().parent.parent / "docs",
        help="where the page and picture go",
    )
    options = parser.parse_args()
    rows = []
    for name in options.only or GROUPS:
        found = GROUPS[name](options.quick)
        print(report.table(found, BUDGETS), flush=True)
        rows += found
    if not options.only:
        report.picture(rows, options.out / "benchmarks.png")
        (options.out / "benchmarks.md").write_text(report.markdown(rows, BUDGETS, options.quick))
        print(f"\nwrote {options.out / 'benchmarks.md'} and benchmarks.png")


if __name__ == "__main__":
    main()
