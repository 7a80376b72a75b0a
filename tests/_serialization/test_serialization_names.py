"""Saved files under odd names, and archives whose members have names that lead elsewhere."""

import io
import os
import zipfile

import pytest

import taeda

torch = pytest.importorskip("torch")

NAMES = ["plain.pt", "no_ending", "two.dots.pt", "a space.pt", "ünïcode-😀.pt", "new\nline.pt", "-dash",
         "a" * 200 + ".pt", "..pt", "...", "quote'\".pt", "$(x).pt", "%s%n.pt", "data.pkl", "archive", "ends.",
         "\x01.pt", "a;b", "C:", "~", "#.pt"]  # fmt: skip


def things(lib):
    return {"whole": lib.arange(6).view(2, 3), "p": lib.nn.Parameter(lib.ones(2)), "key\n": [lib.zeros(0, 3), None]}


def same(x, y):
    if hasattr(x, "tolist"):
        return (str(x.dtype), x.tolist(), x.requires_grad) == (str(y.dtype), y.tolist(), y.requires_grad)
    if isinstance(x, dict):
        return list(x) == list(y) and all(same(x[key], y[key]) for key in x)
    return all(map(same, x, y)) if isinstance(x, list) else x == y


@pytest.mark.parametrize("name", NAMES)
def test_any_file_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for writer, reader in ((taeda, torch), (torch, taeda), (taeda, taeda)):
        writer.save(things(writer), name)
        for mmap in (False, True):
            assert same(reader.load(name, mmap=mmap), things(writer))
        os.unlink(name)
    assert os.listdir() == []


def members():
    file = io.BytesIO()
    taeda.save(things(taeda), file)
    with zipfile.ZipFile(file) as archive:
        return {info.filename.partition("/")[2]: archive.read(info) for info in archive.infolist()}


def load_members(records):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in records.items():
            archive.writestr(name, content)
    file.seek(0)
    return taeda.load(file)


@pytest.mark.parametrize("folder", ["", ".", "..", "..\\..", "C:\\x", "x\n", "~root", "é"])
def test_names_of_members_lead_nowhere(tmp_path, monkeypatch, folder):
    """Records are read where they are and never unpacked: a name is nothing but a key."""
    monkeypatch.chdir(tmp_path)
    records = {f"{folder}/{name}": content for name, content in members().items()}
    evil = {"../../evil": b"x", str(tmp_path / "evil"): b"x", "..": b"x", "a/../../evil": b"x"}
    assert same(load_members({**records, **evil}), things(taeda))
    assert os.listdir() == [] and not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize("folder", ["../..", "/etc", "/", "a/b", "archive/../../x"])
def test_folders_that_are_no_checkpoints(folder):
    with pytest.raises(RuntimeError, match="no data.pkl"):
        load_members({f"{folder}/{name}": content for name, content in members().items()})


@pytest.mark.parametrize("key", ["../../../../etc/passwd", "/etc/passwd", "..", "0/../0"])
def test_keys_of_storages_name_records_only(key):
    records = {f"x/{name}": content for name, content in members().items()}
    plain, odd = b"X\1\0\0\x000", b"X" + len(key).to_bytes(4, "little") + key.encode()
    assert plain in records["x/data.pkl"]
    records["x/data.pkl"] = records["x/data.pkl"].replace(plain, odd)
    with pytest.raises(RuntimeError, match="missing"):
        load_members(records)
