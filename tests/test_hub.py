"""Weights and repositories: from ``file:`` URLs, from the cache, and from a GitHub that is acted."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import zipfile
from pathlib import Path
from urllib.error import HTTPError, URLError

import pytest

import taeda
from taeda import hub

HUBCONF = '''
dependencies = ["math"]
from beside_hubconf import tiny

def other(n=1):
    """What other does."""
    return n

_hidden = other
constant = 3
'''


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setattr(hub, "_hub_dir", None)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    monkeypatch.delitem(sys.modules, "beside_hubconf", raising=False)
    return tmp_path / "home" / "hub"


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "weights.pth"
    taeda.save({"a": taeda.arange(3)}, path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return path.rename(tmp_path / f"weights-{digest[:8]}.pth")


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "hubconf.py").write_text(HUBCONF)
    (folder / "beside_hubconf.py").write_text("def tiny(k, scale=1):\n    return k * scale\n")
    return folder


def test_where_the_cache_is(monkeypatch, tmp_path):
    assert hub.get_dir() == str(tmp_path / "home" / "hub")
    monkeypatch.delenv("TORCH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert hub.get_dir() == "/cache/torch/hub"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert hub.get_dir() == os.path.expanduser("~/.cache/torch/hub")
    hub.set_dir(tmp_path / "mine")
    assert hub.get_dir() == str(tmp_path / "mine")


def test_weights(weights, home, capsys):
    url = weights.as_uri()
    assert hub.load_state_dict_from_url(url, progress=False, check_hash=True)["a"].tolist() == [0, 1, 2]
    assert url in capsys.readouterr().err and os.listdir(home / "checkpoints") == [weights.name]
    weights.unlink()  # from now on only the cache has it
    assert hub.load_state_dict_from_url(url, weights_only=True, map_location="cpu")["a"].tolist() == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_weights_under_another_name(weights, tmp_path):
    folder = tmp_path / "elsewhere" / "deep"
    hub.load_state_dict_from_url(weights.as_uri(), str(folder), file_name="mine.pth", progress=False)
    assert os.listdir(folder) == ["mine.pth"] and not os.path.exists(hub.get_dir())


def test_weights_in_an_archive(weights, tmp_path):
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(weights, "inner.pth")
    assert hub.load_state_dict_from_url(packed.as_uri(), progress=False)["a"].tolist() == [0, 1, 2]


def test_a_wrong_hash_leaves_nothing(weights, home):
    wrong = weights.rename(weights.with_name("weights-00000000.pth"))
    with pytest.raises(RuntimeError, match="SHA-256.*00000000"):
        hub.load_state_dict_from_url(wrong.as_uri(), check_hash=True, progress=False)
    assert os.listdir(home / "checkpoints") == []
    hub.load_state_dict_from_url(wrong.as_uri(), progress=False)  # nobody asked for the hash
    assert os.listdir(home / "checkpoints") == [wrong.name]


@pytest.mark.parametrize("url", ["file:///no/such/file", "not a url"])
def test_what_is_not_there(url, tmp_path):
    with pytest.raises((URLError, ValueError)):
        hub.download_url_to_file(url, tmp_path / "target")
    assert os.listdir(tmp_path) == []


def test_download(weights, tmp_path, capsys):
    target = tmp_path / "target"
    target.write_text("old")
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    hub.download_url_to_file(weights.as_uri(), str(target), hash_prefix=digest[:20], progress=False)
    assert target.read_bytes() == weights.read_bytes() and capsys.readouterr().err == ""
    mask = os.umask(0)
    os.umask(mask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~mask
    with pytest.raises(OSError):
        hub.download_url_to_file(weights.as_uri(), str(tmp_path / "no" / "folder"))


def test_a_local_repository(repository):
    path = list(sys.path)
    assert hub.load(str(repository), "tiny", 3, scale=2, source="local") == 6
    assert hub.load(repository, "other", source="local") == 1
    assert sys.path == path and "hubconf" not in sys.modules
    for name, error in (("none", RuntimeError), ("constant", RuntimeError), (3, ValueError)):
        with pytest.raises(error):
            hub.load(str(repository), name, source="local")
    with pytest.raises(ValueError, match="source"):
        hub.load(str(repository), "tiny", source="web")
    (repository / "hubconf.py").write_text("dependencies = ['math', 'no_such_package']\ndef tiny(): pass")
    with pytest.raises(RuntimeError, match="no_such_package"):
        hub.load(str(repository), "tiny", source="local")


@pytest.mark.parametrize("name", ["a", "a/b:c:d", "a/b/c", "/b", "a/"])
def test_names_of_repositories(name):
    with pytest.raises(ValueError, match="owner/name"):
        hub.list(name)


class GitHub:
    """Answers what GitHub would for the repository me/nets with the branches main and v1."""

    def __init__(self, folder: Path) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("me-nets-abc123/", "")
            for path in folder.glob("*.py"):
                archive.write(path, f"me-nets-abc123/{path.name}")
        self.asked: list[str] = []
        branches = [{"name": name, "commit": {"sha": f"{name}123"}} for name in ("main", "v1")]
        api = "https://api.github.com/repos/me/nets"
        self.answers = {
            "https://github.com/me/nets/tree/main/": b"",
            f"{api}/branches?per_page=100&page=1": json.dumps(branches).encode(),
            **{f"{api}/{kind}?per_page=100&page={k}": b"[]" for kind, k in (("branches", 2), ("tags", 1))},
            **{f"https://github.com/me/nets/zipball/{ref}": buffer.getvalue() for ref in ("main", "v1", "fork")},
        }

    def __call__(self, request):
        url = request if isinstance(request, str) else request.full_url
        self.asked.append(url)
        if url not in self.answers:
            raise HTTPError(url, 404, "Not Found", {}, None)  # type: ignore[arg-type]
        answer = io.BytesIO(self.answers[url])
        answer.headers = {}  # type: ignore[attr-defined]
        return answer


@pytest.fixture
def github(repository, monkeypatch):
    acted = GitHub(repository)
    monkeypatch.setattr(hub, "urlopen", acted)
    return acted


def test_a_repository_on_github(github, home, capsys):
    assert hub.load("me/nets", "tiny", 5, trust_repo=True) == 5
    assert (home / "me_nets_main" / "hubconf.py").exists() and sorted(os.listdir(home)) == [
        "me_nets_main",
        "trusted_list",
    ]
    github.asked.clear()
    assert hub.list("me/nets:main", verbose=False) == ["other", "tiny"] and github.asked == []
    assert hub.help("me/nets:main", "other") == "What other does."
    assert "cache" in capsys.readouterr().err
    hub.load("me/nets:main", "other", force_reload=True)
    assert "https://github.com/me/nets/zipball/main" in github.asked


def test_the_default_branch(github):
    del github.answers["https://github.com/me/nets/tree/main/"]
    assert hub._parse_repository("me/nets")[2] == "master" and hub._parse_repository("me/nets:v1")[2] == "v1"

    def no_network(request):
        raise URLError("no network")

    hub.urlopen = no_network
    with pytest.raises(URLError):
        hub._parse_repository("me/nets")
    os.makedirs(os.path.join(hub.get_dir(), "me_nets_master"))
    assert hub._parse_repository("me/nets")[2] == "master"


def test_whose_commit_it_is(github):
    with pytest.raises(ValueError, match="fork"):
        hub.load("me/nets:fork", "other", trust_repo=True)
    assert hub.load("me/nets:fork", "other", trust_repo=True, skip_validation=True) == 1
    assert hub.load("me/nets:v1", "other") == 1


def test_trust(github, home, monkeypatch):
    answers: list[str] = []
    monkeypatch.setattr("builtins.input", lambda question: answers.pop(0))
    answers += ["", "n"]
    for _ in range(2):
        with pytest.raises(RuntimeError, match="not trusted"):
            hub.list("me/nets", verbose=False)
    with pytest.warns(UserWarning, match="will run"):
        hub.list("me/nets", verbose=False, trust_repo=None)
    answers += ["y", "yes"]
    hub.list("me/nets", verbose=False, trust_repo=False)
    hub.list("me/nets", verbose=False, trust_repo=False)  # asks again
    hub.list("me/nets", verbose=False)
    assert (home / "trusted_list").read_text() == "me_nets\n" and answers == []
    with pytest.raises(ValueError, match="trust_repo"):
        hub.list("me/nets", trust_repo="perhaps")


def test_the_old_name(weights):
    from taeda.utils import model_zoo

    assert model_zoo.load_url(weights.as_uri(), progress=False)["a"].tolist() == [0, 1, 2]


def test_the_bar_that_others_take_from_here(monkeypatch):
    for installed in (True, False):
        if not installed:
            monkeypatch.setitem(sys.modules, "tqdm", None)
        for place in (hub, taeda.utils.model_zoo):
            assert list(place.tqdm([1, 2], disable=True)) == [1, 2]
            with place.tqdm(total=3, disable=True) as bar:
                bar.update(1)
                bar.set_description("text")
                bar.close()
