"""The documentation as a site in ``build/site``: the pages of ``docs/``, a page of reference for each namespace, and
one on how the ops are made for each family."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import reference
import reference_classes

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "build" / "docs"
GUIDES = (
    "tour",
    "examples",
    "add-an-op",
    "port-an-op",
    "add-a-backend",
    "extensions",
    "smaller-builds",
    "distributions",
    "sparse",
    "glossary",
    "errors",
    "profile",
    "benchmark-an-op",
    "graphs",
    "cpp",
    "distributed",
    "nested",
    "export",
    "onnx",
    "quantization",
    "coverage",
    "design",
    "benchmarks",
)


def collect() -> tuple[list[str], list[str]]:
    """Copies the guides and makes the rest; gives the names of the namespaces' and of the families' pages."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    front = (ROOT / "README.md").read_text()
    (PAGES / "index.md").write_text(re.sub(r"\((docs/)([^)]+)\)", r"(\2)", front))
    shutil.copy(ROOT / "CONTRIBUTING.md", PAGES)
    made = ROOT / "build" / "reference"
    subprocess.run([sys.executable, "-m", "taedagen", "--subset", "python", "--out", made], cwd=ROOT, check=True)
    shutil.copytree(made / "docs", PAGES / "families")
    shutil.rmtree(PAGES / "reference")  # the examples, which the pages quote
    (PAGES / "reference").mkdir()
    namespaces = reference.pages(made) | reference_classes.pages()
    for name, text in namespaces.items():
        (PAGES / "reference" / name).write_text(text)
    return list(namespaces), sorted(page.name for page in (made / "docs").glob("*.md"))


def main() -> None:
    namespaces, families = collect()
    nav = [
        {"Taeda": "index.md"},
        *(f"{name}.md" for name in GUIDES),
        "CONTRIBUTING.md",
        {"Reference": [{name.removesuffix(".md"): f"reference/{name}"} for name in namespaces]},
        {"How ops are made": [{name.removesuffix(".md"): f"families/{name}"} for name in families]},
    ]
    settings = {"site_name": "Taeda", "docs_dir": "docs", "site_dir": "site", "use_directory_urls": False, "nav": nav}
    config = ROOT / "build" / "mkdocs.yml"
    settings |= {
        "theme": {"name": "material", "font": False},
        "markdown_extensions": ["pymdownx.highlight", "pymdownx.superfences"],
    }
    config.write_text(json.dumps(settings))  # YAML holds JSON
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # of the theme, which prints an advertisement
    subprocess.run([sys.executable, "-m", "mkdocs", "-q", "build", "--strict", "-f", config], check=True, env=quiet)
    print(ROOT / "build" / "site" / "index.html")


if __name__ == "__main__":
    main()
