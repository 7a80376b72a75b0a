"""What the build costs: a whole build of a copy of the sources without a compiler cache, then two small edits."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.timing import Row
from tools.build import build, tool

GROUP = "build"
ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "bench"
BUILT = shutil.ignore_patterns("__pycache__", "_C*", "generated", "lib")  # in a checkout, by a build
SECONDS_PER_UNIT = 15.0
LIBRARIES = {"libtaeda": "libtaeda.so", "_C": "_C.*.so"}
MEGABYTES = 24.0  # both libraries together
INSTALLED = 120.0

# As in docs/add-an-op.md: one declaration more.
DECLARATION = '''

@pointwise("softclip(Tensor self, Scalar limit=1) -> Tensor", variants="function method inplace out", dtypes=FLOATING)
def softclip(self, limit):
    """``limit * tanh(self / limit)``: the identity near zero, never beyond ``limit``."""
    return limit * tanh(self / limit)


@softclip.backward
def _(grad, self, limit):
    t = tanh(self / limit)
    return {"self": grad * (1 - t * t)}
'''


def seconds_of_build(target: str = "all") -> float:
    start = time.perf_counter()
    build(PLACE / "build", target=target, source=PLACE / "source", quiet=True)
    return time.perf_counter() - start


def add_text(name: str, text: str) -> None:
    path = PLACE / "source" / name
    path.write_text(path.read_text() + text)


def compile_seconds(log: Path) -> dict[str, float]:
    """Seconds of each object by ninja's log; the last entry of an output counts."""
    seconds = {}
    for line in log.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) == 5 and fields[3].endswith(".o"):
            seconds[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds


def family_bytes(output: str) -> dict[str, float]:
    """Of an object, the bytes of each family of ops; of several that are compiled together, by their sources' sizes."""
    joined = PLACE / "build" / output.removesuffix(".o")
    if joined.is_file():
        sources = [Path(name) for name in re.findall(r'#include "(.+)"', joined.read_text())]
    elif "generated" in output:
        sources = [PLACE / "build" / output[output.index("generated") :].removesuffix(".o")]
    else:
        sources = []
    sizes = {source: source.stat().st_size for source in sources}
    per_byte = (PLACE / "build" / output).stat().st_size / sum(sizes.values()) if sizes else 0
    return {s.name.split(".")[0]: size * per_byte for s, size in sizes.items() if "generated" in s.parts}


def installed_megabytes() -> float:
    """All that the wheel would hold: what CMake installs (the bundled libraries with it) and the Python packages."""
    site = PLACE / "site"
    subprocess.run(
        [tool("cmake"), "--install", PLACE / "build", "--prefix", site], check=True, stdout=subprocess.DEVNULL
    )
    for package in ("taeda", "taedagen"):
        shutil.copytree(ROOT / package, site / package, ignore=BUILT, dirs_exist_ok=True)
    return megabytes_in(site)


def megabytes_in(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def torch_megabytes() -> float | None:
    """PyTorch's own package, without those it depends on."""
    spec = importlib.util.find_spec("torch")
    return megabytes_in(Path(next(iter(spec.submodule_search_locations or ())))) if spec else None


def unit_name(output: str) -> str:
    """``cpu/sort.cpp``; of units that are compiled together, the first and how many more: ``autograd_ops_amp (+3)``."""
    joined = re.fullmatch(r".*/unity_(.+)_cxx\.cxx\.o", output)
    if not joined:
        return "/".join(Path(output).parts[-2:])[:-2]
    count = (PLACE / "build" / output.removesuffix(".o")).read_text().count("#include")
    return f"{joined[1]} (+{count - 1})" if count > 1 else joined[1]


def unit_rows(seconds: dict[str, float]) -> list[Row]:
    """The ten slowest units, and the ten largest families by the bytes of their objects."""
    sizes: dict[str, float] = defaultdict(float)
    for output in seconds:
        for family, size in family_bytes(output).items():
            sizes[family] += size
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:10]
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:10]
    return [
        Row(GROUP, f"compile {unit_name(o)}", s, None, "s", SECONDS_PER_UNIT, absolute=True) for o, s in slowest
    ] + [Row(GROUP, f"objects of family {family}", size / 1000, None, "KB") for family, size in largest]


def rows(quick: bool) -> list[Row]:
    """Builds on two cores, which takes minutes; nothing when ``quick``."""
    if quick:
        return []
    shutil.rmtree(PLACE, ignore_errors=True)
    (PLACE / "source").mkdir(parents=True)
    for name in ("cmake", "csrc", "include", "taeda", "taedagen"):
        shutil.copytree(ROOT / name, PLACE / "source" / name, ignore=BUILT)
    shutil.copy(ROOT / "CMakeLists.txt", PLACE / "source")
    os.environ |= {"CCACHE_DISABLE": "1", "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
    print(f"building in {PLACE}", file=sys.stderr)
    whole = seconds_of_build()
    units = unit_rows(compile_seconds(PLACE / "build" / ".ninja_log"))
    sizes = {name: next((PLACE / "build").glob(pattern)).stat().st_size / 1e6 for name, pattern in LIBRARIES.items()}
    installed = installed_megabytes()
    add_text("csrc/backend/cpu/softmax.cpp", "\nnamespace {}\n")
    kernel = seconds_of_build()
    add_text("taedagen/ops/activation.py", DECLARATION)
    declaration = seconds_of_build("_C")
    front_end = seconds_of_build()
    return [
        Row(GROUP, "full build", whole, None, "s", 360.0, absolute=True),
        Row(GROUP, "after editing a kernel", kernel, None, "s", 20.0, absolute=True),
        Row(GROUP, "after adding a declaration", declaration, None, "s", 30.0, absolute=True),
        Row(GROUP, "and its C++ front end then", front_end, None, "s"),
        Row(GROUP, "installed size", installed, torch_megabytes(), "MB", INSTALLED, absolute=True),
        *(Row(GROUP, name, size, None, "MB") for name, size in sizes.items()),
        Row(GROUP, "both libraries", sum(sizes.values()), None, "MB", MEGABYTES, absolute=True),
        *units,
    ]
