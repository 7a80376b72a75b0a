"""What the C++ headers cost: a trivial extension and program, compiled and read, beside PyTorch's headers."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from benchmarks.timing import Row

GROUP = "headers"
_SOURCES = {
    "torch/extension.h": """#include <torch/extension.h>
torch::Tensor twice(torch::Tensor x) { return x * 2; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
""",
    "torch/torch.h": """#include <torch/torch.h>
int main() { return (torch::ones({2, 2}) * 2).sum().item<int>() != 8; }
""",
}
RATIO = 0.35
HEADERS = 300  # of ours
MEGABYTES = 6.0  # of headers, installed
# A process of its own, as the most memory of a child counts what its parent had when it was made.
_MEASURE = """import json, os, sys
pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(pid, 0)
print(json.dumps([status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def _flags(library: str) -> list[str]:
    """The flags that ``cpp_extension`` of the library compiles with, asked in a process of its own."""
    program = f"from {library}.utils import cpp_extension as c; print('\\n'.join(c.include_paths()))"
    folders = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    import pybind11

    folders += [pybind11.get_include(), sysconfig.get_paths()["include"]]
    return ["-std=c++20", "-fPIC", "-DTORCH_EXTENSION_NAME=trivial", *(f"-I{folder}" for folder in folders)]


def _compile(flags: list[str], source: Path) -> tuple[float, float]:
    """Seconds of the processor, and the most resident MB, of one compilation with -O2."""
    command = [sys.executable, "-c", _MEASURE, "g++", "-O2", *flags, "-c", str(source), "-o", "/dev/null"]
    status, seconds, megabytes = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    if status:
        raise RuntimeError(f"{source} does not compile")
    return seconds, megabytes


def _read(flags: list[str], source: Path, folders: tuple[str, ...]) -> tuple[int, int]:
    """Lines after the preprocessor, and how many of the files lie in the library's folders."""
    text = subprocess.run(["g++", *flags, "-E", str(source)], capture_output=True, text=True, check=True).stdout
    listed = subprocess.run(["g++", *flags, "-M", str(source)], capture_output=True, text=True, check=True).stdout
    lines = sum(1 for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return lines, sum(name.startswith(folders) for name in listed.split())


def _megabytes(folders: list[str]) -> float:
    files = (file for folder in folders for file in Path(folder).rglob("*") if file.suffix in (".h", ".inc"))
    return sum(file.stat().st_size for file in files) / 1e6


def rows(quick: bool) -> list[Row]:
    """Compiling each source once (the least of three but in a hurry), and reading it."""
    from taeda.utils._cpp import places

    found = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "trivial.cpp"
        flags = {library: _flags(library) for library in ("taeda", "torch")}
        for header, text in _SOURCES.items():
            source.write_text(text)
            best: dict[str, list[float]] = {}
            for _ in range(1 if quick else 3):
                for library in flags:
                    used = _compile(flags[library], source)
                    best[library] = [min(pair) for pair in zip(best.get(library, used), used)]
            ours = _read(flags["taeda"], source, tuple(places.include_folders()))
            theirs = _read(flags["torch"], source, tuple(flag[2:] for flag in flags["torch"] if "/torch/" in flag))
            found += [
                Row(GROUP, f"{header}: processor time", best["taeda"][0], best["torch"][0], "s", RATIO),
                Row(GROUP, f"{header}: memory", best["taeda"][1], best["torch"][1], "MB", RATIO),
                Row(GROUP, f"{header}: lines", ours[0], theirs[0], ""),
                Row(GROUP, f"{header}: our headers read", ours[1], theirs[1], "", HEADERS, absolute=True),
            ]
    installed = _megabytes(places.include_folders())
    return [*found, Row(GROUP, "headers installed", installed, None, "MB", MEGABYTES, absolute=True)]
