"""What the documents say works: Python snippets run, cheap commands succeed, links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"(?P<skip><!-- not run: [^\n]*-->\n)?```(?P<language>\w*)\n(?P<text>.*?)```", re.S)
CHEAP = ("python -m taeda",)


def blocks(language: str) -> list[tuple[str, str]]:
    """Page and text of every block in ``language`` that no comment exempts."""
    return [
        (page.relative_to(ROOT).as_posix(), match["text"])
        for page in PAGES
        for match in FENCE.finditer(page.read_text())
        if match["language"] == language and not match["skip"]
    ]


def numbered(found: list[tuple[str, str]]) -> list[str]:
    return [f"{page}-{k}" for k, (page, _) in enumerate(found)]


def run(arguments: list[str], folder: Path) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        arguments, cwd=folder, capture_output=True, text=True, timeout=600, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]


PYTHON = blocks("python")


@pytest.mark.parametrize(("page", "text"), PYTHON, ids=numbered(PYTHON))
def test_python_snippet_runs(page: str, text: str, tmp_path: Path) -> None:
    run([sys.executable, "-c", text], tmp_path)


QUOTED = re.compile(r"<!-- not run: part of (\S+) -->\n```python\n(.*?)```", re.S)
QUOTES = [match.groups() for page in PAGES for match in QUOTED.finditer(page.read_text())]


@pytest.mark.parametrize(("folder", "text"), QUOTES)
def test_quoted_code_is_there(folder: str, text: str) -> None:
    assert any(text in path.read_text() for path in (ROOT / folder).glob("*.py"))


COMMANDS = [(page, line.split("#")[0].strip()) for page, text in blocks("bash") for line in text.splitlines()]
COMMANDS = [(page, line) for page, line in COMMANDS if line.startswith(CHEAP)]


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=numbered(COMMANDS))
def test_command_succeeds(page: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    run([sys.executable, *shlex.split(line)[1:]], tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", FENCE.sub("", page.read_text()))
    assert [t for t in targets if "://" not in t and not (page.parent / t).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_files_exist(page: Path) -> None:
    """Files that a page names in backquotes, public headers by their include path, templates and build products left
    out."""
    names = re.findall(r"`((?:taedagen|taeda|csrc|tests|benchmarks|tools|docs)/[\w./]+\.\w+)`", page.read_text())
    assert [
        n
        for n in names
        if "generated" not in n
        and ".so" not in n
        and not re.search(r"/x\.\w+$", n)
        and not any((folder / n).exists() for folder in (ROOT, ROOT / "include"))
    ] == []


def test_site_lists_every_page() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    from docs import GUIDES  # type: ignore[import-not-found]

    assert sorted(GUIDES) == sorted(page.stem for page in (ROOT / "docs").glob("*.md"))


def test_coverage_page_is_up_to_date() -> None:
    pytest.importorskip("torch")
    run([sys.executable, str(ROOT / "tools" / "coverage.py"), "--check"], ROOT)
