"""The developer's build: CMake in ``build/dev``, linked into the source tree, which the environment then imports.

python tools/build.py [--python | --cpp-test] [-D NAME=VALUE ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# Of the static library, what runs the network of its example.
STATIC = ("-DTAEDA_STATIC=ON", "-DTAEDA_PYTHON=OFF", "-DTAEDA_AUTOGRAD=OFF",
          "-DTAEDA_SELECT_OPS=examples/cpp_run/ops.txt")  # fmt: skip


def run(*command: str | Path, **kwargs: object) -> None:
    if subprocess.run([str(part) for part in command], cwd=ROOT, **kwargs).returncode:  # type: ignore[call-overload]
        sys.exit(1)


def tool(name: str) -> str:
    """The environment's own tool where it has one."""
    return str(BIN / name) if (BIN / name).exists() else name


def build(folder: Path, *options: str, target: str = "all", source: Path = ROOT, quiet: bool = False) -> None:
    """Configures once (or when options change) and builds what changed."""
    stamp, wanted = folder / "options.txt", "\n".join(options)
    if not (folder / "build.ninja").exists() or stamp.read_text() != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        run(tool("cmake"), "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
            f"-DPython_EXECUTABLE={sys.executable}", *options, stdout=subprocess.DEVNULL)  # fmt: skip
        stamp.write_text(wanted)
    forget_stale_headers(folder)
    run(tool("cmake"), "--build", folder, "--target", target, stdout=subprocess.DEVNULL if quiet else None)


def forget_stale_headers(folder: Path) -> None:
    """Removes the precompiled headers that are about to be made anew.

    With an old one beside it, a compiler cache takes the new one to be made from it, and finds neither it nor what
    includes it.
    """
    headers = list(folder.glob("CMakeFiles/*/*.gch"))
    if not headers:
        return
    ninja = [tool("ninja"), "-C", str(folder)]
    run(*ninja, "build.ninja", stdout=subprocess.DEVNULL)
    for header in headers:
        listed = [*ninja, "-t", "deps", str(header.relative_to(folder))]
        lines = subprocess.run(listed, capture_output=True, text=True).stdout.splitlines()
        parts = [folder / line.strip() for line in lines if line.startswith("    ")]
        if any(not part.exists() or part.stat().st_mtime_ns > header.stat().st_mtime_ns for part in parts):
            header.unlink()


def link(path: Path, target: Path) -> None:
    if path.is_symlink() or path.exists():
        if path.is_symlink() and path.readlink() == target:
            return
        path.unlink()
    path.symlink_to(target)


def link_into_tree(folder: Path) -> None:
    for module in folder.glob("_C.*.so"):
        link(ROOT / "taeda" / module.name, module)
    made = folder / "generated" / "taeda"
    link(ROOT / "taeda" / "_C", made / "_C")
    for stub in made.glob("*.pyi"):
        link(ROOT / "taeda" / stub.name, stub)
    link(ROOT / "taeda" / "generated", folder / "generated")
    if sys.prefix != sys.base_prefix:
        (Path(sysconfig.get_paths()["purelib"]) / "taeda-dev.pth").write_text(f"{ROOT}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--python", action="store_true", help="build what `import taeda` needs, and no C++ front end")
    parts.add_argument("--cpp-test", action="store_true", help="build and run the C++ test program")
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a CMake option")
    options = parser.parse_args()
    defines = [f"-D{d}" for d in options.D]
    folder = ROOT / "build" / "dev"
    if options.cpp_test:
        for program in ("taeda_tests", "taeda_torch_tests"):
            build(folder, *defines, target=program)
            run(folder / program)
        build(ROOT / "build" / "static", *defines, *STATIC)
        run(sys.executable, ROOT / "tools" / "cpp_examples.py", "--folder", folder,
            "--static", ROOT / "build" / "static" / "cpp_run")  # fmt: skip
    else:
        build(folder, *defines, target="_C" if options.python else "all")
        link_into_tree(folder)


if __name__ == "__main__":
    main()
