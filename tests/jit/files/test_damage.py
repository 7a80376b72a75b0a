"""Damaged and hostile archives end in a clear error, and nothing of them is run by Python."""

import io
import os
import pickle
import random
import zipfile

import pytest

import taeda
from taeda import jit, nn


@pytest.fixture(scope="module")
def archive() -> bytes:
    buffer = io.BytesIO()
    jit.save(jit.script(nn.Sequential(nn.Linear(2, 3), nn.ReLU())), buffer)
    return buffer.getvalue()


def rewritten(data: bytes, changes: dict[str, bytes | None]) -> io.BytesIO:
    """The archive with other records."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            short = name.partition("/")[2]
            content = changes.get(short, old.read(name))
            if content is not None:
                new.writestr(name, content)
    out.seek(0)
    return out


def code_of(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return next(n.partition("/")[2] for n in file.namelist() if n.endswith("container.py"))


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/taeda-archive-was-run",)


@pytest.mark.parametrize("record", ["data.pkl", "constants.pkl"])
def test_a_pickle_that_calls_something(archive, record):
    with pytest.raises(RuntimeError, match=r"taeda\.jit\.load: .*system"):
        jit.load(rewritten(archive, {record: pickle.dumps(Evil(), 2)}))
    assert not os.path.exists("/tmp/taeda-archive-was-run")


def test_tuples_that_share_their_parts(archive):
    endless = (1,)
    for _ in range(60):
        endless = (endless, endless)
    with pytest.raises(RuntimeError, match="share so many parts"):
        jit.load(rewritten(archive, {"constants.pkl": pickle.dumps(([endless],), 2)}))


@pytest.mark.parametrize(
    "line",
    [
        "    return __import__('os').system('true')",
        "    return (lambda: input)()",
        "    return input.__class__.__mro__",
        "    return exec('1')",
        "    return torch.nowhere.something(input)",
        "    return [y for y in input]",
        "    return __torch__.nowhere.f(input, )",
        "    return ops.aten.add(input, 'a')",
        "    return absent",
        "    return CONSTANTS.c99",
        "    return getattr(self, '__class__')",
    ],
)
def test_source_that_archives_do_not_hold(archive, line):
    name = code_of(archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        source = file.read(f"archive/{name}").decode()
    head, _, _ = source.partition("  def forward")
    owner = head.split("class ")[1].partition("(")[0]
    module = name.removeprefix("code/").removesuffix(".py").replace("/", ".")
    text = f"{head}  def forward(self: {module}.{owner}, input: Tensor) -> Tensor:\n{line}\n"
    loaded = jit.load(rewritten(archive, {name: text.encode(), "instructions/program": None}))
    with pytest.raises(RuntimeError, match=r"taeda\.jit"):
        loaded(taeda.ones(1, 2))


@pytest.mark.parametrize("missing", ["data.pkl", "version", "data/0"])
def test_a_record_that_is_missing(archive, missing):
    with pytest.raises(RuntimeError, match=r"taeda\.(jit\.)?load"):
        jit.load(rewritten(archive, {missing: None}))


@pytest.mark.parametrize("version", [b"", b"0\n", b"99\n", b"three"])
def test_an_unknown_version(archive, version):
    with pytest.raises(RuntimeError, match="version"):
        jit.load(rewritten(archive, {"version": version}))


def test_random_damage(archive):
    """Whatever byte changes, loading and running give a result or an error that Python can catch."""
    chance = random.Random(0)
    for _ in range(150):
        data = bytearray(archive)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        try:
            jit.load(io.BytesIO(bytes(data)))(taeda.ones(1, 2))
        except (RuntimeError, ValueError, TypeError, AttributeError, NotImplementedError):
            continue


def test_damage_that_no_checksum_sees(archive):
    """Records whose bytes or words are exchanged, in an archive that is whole otherwise."""
    chance = random.Random(0)
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        records = {n.partition("/")[2]: file.read(n) for n in file.namelist()}
    names = [name for name in records if name.endswith((".py", ".pkl", ".debug_pkl"))]
    for _ in range(120):
        name = chance.choice(names)
        if name.endswith(".py") and chance.random() < 0.7:
            words = records[name].split(b" ")
            words[chance.randrange(len(words))] = words[chance.randrange(len(words))]
            changed = b" ".join(words)
        else:
            data = bytearray(records[name])
            data[chance.randrange(len(data))] = chance.randrange(256)
            changed = bytes(data)
        try:
            jit.load(rewritten(archive, {name: changed}))(taeda.ones(1, 2))
        except (RuntimeError, ValueError, TypeError, AttributeError, NotImplementedError):
            continue


def test_every_record_that_may_be_missing(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        names = [name.partition("/")[2] for name in file.namelist()]
    for name in names:
        try:
            jit.load(rewritten(archive, {name: None}))(taeda.ones(1, 2))
        except RuntimeError as error:
            assert "taeda." in str(error)


def test_instructions_stand_for_the_source(archive):
    x = taeda.linspace(-1, 1, 6).reshape(3, 2)
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        text = file.read("archive/instructions/program").decode()
    expected = jit.load(io.BytesIO(archive))(x)
    changes = {
        "as it is": {},
        "none": {"instructions/program": None},
        "of a later version": {"instructions/program": text.replace("taeda-program 1", "taeda-program 99").encode()},
        "damaged": {"instructions/program": text.replace("op aten", "op nothing").encode()},
        "of no names": {"instructions/names": b"[]"},
    }
    for what, change in changes.items():
        loaded = jit.load(rewritten(archive, change))
        assert taeda.equal(loaded(x), expected), what
        runs_from_source = loaded.forward.function._graph is not None
        assert runs_from_source == (what != "as it is"), what
