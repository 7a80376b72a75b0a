"""The tests under AddressSanitizer and UndefinedBehaviorSanitizer: a build of its own in ``build/sanitize``.

python tools/sanitize.py [--no-build] [--only REGEX] [pytest arguments]

Runs the C++ test programs, then the given tests (without any: the conformance suite, the memory tests and the random
calls) over a package folder in ``build/sanitize/package`` that holds the sources of this tree and the sanitized
extension. What libmvec, OpenBLAS and oneDNN do inside is not seen: they come without instrumentation.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from build import ROOT, build, link

FOLDER = ROOT / "build" / "sanitize"
PACKAGE = FOLDER / "package"
PROGRAMS = ("taeda_tests", "taeda_torch_tests")
TESTS = ("tests/conformance", "tests/core/test_memory.py", "tests/fuzz/test_fuzz.py")
# An allocation that cannot be served is an error that tests expect. Python keeps memory until the end, so leaks are not
# looked for. PyTorch, the oracle of some tests, defines the same symbols in several of its libraries.
ASAN = "detect_leaks=0:allocator_may_return_null=1:detect_odr_violation=0:abort_on_error=1:use_sigaltstack=0"
UBSAN = "halt_on_error=1:print_stacktrace=1"


def library(name: str) -> str:
    """Where the compiler keeps a sanitizer's runtime."""
    found = subprocess.run(["c++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return str(Path(found.stdout.strip()).resolve())


def environment() -> dict[str, str]:
    runtimes = " ".join(library(f"lib{name}.so") for name in ("asan", "ubsan", "stdc++"))
    return os.environ | {
        "ASAN_OPTIONS": ASAN, "UBSAN_OPTIONS": UBSAN, "TAEDA_SANITIZED": "1", "PYTHONPATH": str(PACKAGE),
        "LD_PRELOAD": runtimes, "PYTHONMALLOC": "malloc",
        "UCX_TLS": "^cma",  # MPI's library reads its peers' memory, which the sanitizer takes for its own
    }  # fmt: skip


def link_package() -> None:
    """The package folder: links to this tree's Python, and to what the sanitized build made."""
    (PACKAGE / "taeda").mkdir(parents=True, exist_ok=True)
    made = {path.name: path for path in FOLDER.glob("_C.*.so")}
    made |= {"_C": FOLDER / "generated" / "taeda" / "_C", "generated": FOLDER / "generated"}
    for path in (ROOT / "taeda").iterdir():
        if path.name not in made and path.name != "__pycache__" and not path.name.startswith("_C."):
            link(PACKAGE / "taeda" / path.name, path)
    for name, path in made.items():
        link(PACKAGE / "taeda" / name, path)
    for name in ("taedagen", "tests", "examples", "benchmarks", "include", "csrc", "tools", "docs", "pyproject.toml"):
        link(PACKAGE / name, ROOT / name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-build", action="store_true", help="the build is there already")
    parser.add_argument("--only", default="", metavar="REGEX", help="the sources to instrument, e.g. csrc/backend/cpu")
    options, arguments = parser.parse_known_args()
    if not options.no_build:
        defines = ("-DTAEDA_SANITIZE=address,undefined", f"-DTAEDA_SANITIZE_SOURCES={options.only}")
        build(FOLDER, *defines)
        for program in PROGRAMS:
            build(FOLDER, *defines, target=program)
    link_package()
    failed = 0
    if not arguments:
        plain = {k: v for k, v in environment().items() if k != "LD_PRELOAD"}
        for program in PROGRAMS:
            failed |= subprocess.run([FOLDER / program], env=plain).returncode
    # Output is not captured, as a sanitizer's last words go to standard error.
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "--capture=no", *(arguments or TESTS)]
    return failed | subprocess.run(command, cwd=PACKAGE, env=environment()).returncode


if __name__ == "__main__":
    sys.exit(main())
