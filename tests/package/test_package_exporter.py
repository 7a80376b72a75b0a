"""What goes into a package: patterns, what needs what, hooks, and what is refused."""

import io
import pickle
import zipfile

import pytest

import taeda
from taeda.package import EmptyMatchError, GlobGroup, PackageExporter, PackageImporter, PackagingError, analyze
from taeda.package.package_exporter import PackagingErrorReason


def packaged(fill, **options):
    """A package that ``fill`` filled, as the importer of it."""
    file = io.BytesIO()
    with PackageExporter(file, **options) as exporter:
        fill(exporter)
    file.seek(0)
    return PackageImporter(file)


@pytest.mark.parametrize(
    ("patterns", "yes", "no"),
    [
        ("a.*", ["a.b", "a."], ["a", "a.b.c", "b.a.c"]),
        ("a.**", ["a", "a.b", "a.b.c"], ["ab", "b.a"]),
        ("**.z", ["z", "a.z", "a.b.z"], ["az", "z.a"]),
        ("a*.b?", ["abc.b?"], ["abc.bx", "a.b"]),
        (["a", "b.*"], ["a", "b.c"], ["b", "c"]),
        ([], [], ["", "a"]),
    ],
)
def test_patterns(patterns, yes, no):
    group = GlobGroup(patterns)
    assert [name for name in yes if not group.matches(name)] == []
    assert [name for name in no if group.matches(name)] == []


def test_patterns_exclude_and_refuse():
    group = GlobGroup("**", exclude=["a.**", "b"])
    assert group.matches("b.c") and not group.matches("a.c") and not group.matches("b")
    with pytest.raises(ValueError, match="'\\*\\*b'"):
        GlobGroup("a.**b")


def test_the_first_pattern_decides():
    def fill(exporter):
        exporter.extern("shop.parts")
        exporter.intern("shop.**")
        exporter.save_source_string("main", "import shop, shop.parts, sys, json, unheard_of\n")

    with pytest.raises(PackagingError, match="sys"):
        packaged(fill)
    file = io.BytesIO()
    with PackageExporter(file) as exporter:
        exporter.extern("sys")
        fill(exporter)
        assert exporter.externed_modules() == ["json", "shop.parts", "sys"]
        assert exporter.interned_modules() == ["main", "shop"]
        assert sorted(exporter.get_rdeps("shop.parts")) == ["main", "shop"] and exporter.get_rdeps("nobody") == []
        assert '"main" -> "shop";' in exporter.all_paths("main", "shop.parts")
        assert '"main" -> "json";' not in exporter.all_paths("main", "shop.parts")
        assert '"main" -> "json";' in exporter.dependency_graph_string()


@pytest.mark.parametrize(
    ("fill", "reason", "module"),
    [
        (lambda e: e.save_source_string("m", "import shop"), PackagingErrorReason.NO_ACTION, "shop"),
        (lambda e: [e.deny("shop"), e.save_source_string("m", "import shop")], PackagingErrorReason.DENIED, "shop"),
        (lambda e: e.save_source_string("m", "import"), PackagingErrorReason.DEPENDENCY_RESOLUTION_FAILED, "m"),
        (lambda e: e.save_source_string("m", "from . import x"),
         PackagingErrorReason.DEPENDENCY_RESOLUTION_FAILED, "m"),
        (lambda e: e.save_module("shop.far"), PackagingErrorReason.DEPENDENCY_RESOLUTION_FAILED, "shop.far"),
        (lambda e: [e.intern("**"), e.save_source_string("m", "import numpy._core._multiarray_umath")],
         PackagingErrorReason.IS_EXTENSION_MODULE, "numpy._core._multiarray_umath"),
        (lambda e: [e.intern("**"), e.save_source_string("m", "import sys")],
         PackagingErrorReason.NO_DUNDER_FILE, "sys"),
        (lambda e: [e.mock("shop.**"), e.save_pickle("o", "o.pkl", _wheel())],
         PackagingErrorReason.MOCKED_BUT_STILL_USED, "shop.parts"),
    ],
)  # fmt: skip
def test_reasons(fill, reason, module, monkeypatch):
    if module == "shop.far":  # whose import fails
        monkeypatch.setitem(__import__("sys").modules, "shop.far", _unrun("shop.far"))
    with pytest.raises(PackagingError, match=module) as caught:
        packaged(fill, debug=True)
    facts = caught.value.dependency_graph.nodes[module]
    assert facts["error"] is reason
    chains = analyze.find_first_use_of_broken_modules(caught.value)
    assert chains[module][-1] == module


def _wheel():
    import shop.parts

    return shop.parts.Wheel()


def _unrun(name):
    import importlib.util

    return importlib.util.module_from_spec(importlib.util.find_spec(name))


def test_what_the_programmer_gets_wrong():
    with pytest.raises(EmptyMatchError, match="b.\\*"):
        packaged(lambda e: e.intern("b.*", allow_empty=False))
    with pytest.raises(ModuleNotFoundError):  # and not the pattern's error
        packaged(lambda e: [e.extern("b", allow_empty=False), e.save_module("unheard_of")])
    with pytest.raises(TypeError, match="__name__"):
        packaged(lambda e: e.save_module(taeda))
    with pytest.raises(AssertionError, match="a/b"):
        packaged(lambda e: [e.save_text("a", "b", ""), e.save_text("a", "b", "")])
    with pytest.raises(AssertionError, match="2"):
        packaged(lambda e: e.save_pickle("a", "b", 1, pickle_protocol=2))
    with pytest.raises(pickle.PicklingError, match="lambda"):
        packaged(lambda e: e.save_pickle("a", "b", lambda: None))
    with pytest.raises(AssertionError, match="ValueError"):
        analyze.find_first_use_of_broken_modules(ValueError())


def test_hooks():
    told = []
    file = io.BytesIO()
    with PackageExporter(file) as exporter:
        exporter.mock("garage")
        exporter.intern("shop")
        exporter.extern("shop.*")
        for kind in ("intern", "extern", "mock"):
            register = getattr(exporter, f"register_{kind}_hook")
            register(lambda e, name, kind=kind: told.append((kind, name)) or None)
            register(lambda e, name: told.append(name)).remove()
        exporter.save_source_string("main", "import shop, garage")
    assert told == [("intern", "main"), ("intern", "shop"), ("extern", "shop.parts"), ("mock", "garage")]


def test_source_files_and_folders(modules):
    package = packaged(lambda e: [e.save_source_file("store", str(modules / "shop"), dependencies=False),
                                  e.save_source_file("m", str(modules / "shop" / "parts.py"))])  # fmt: skip
    assert package.file_structure().has_file("store/parts.py") and package.file_structure().has_file("m.py")
    assert package.import_module("store").Wheel.size == 2
    assert package.import_module("m").Wheel.__module__ == f"{package.id()}.m"


def test_files_are_pytorchs(tmp_path):
    path = tmp_path / "some.pt"
    with PackageExporter(path) as exporter:
        exporter.intern("**")
        exporter.save_pickle("o", "o.pkl", [taeda.ones(2), _wheel()])
        exporter.save_text("o", "t", "é")
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
        assert file.read("some/.data/extern_modules").decode().split() == [
            "torch._utils",
            "torch",
            "collections",
            "math",
        ]
        assert b"torch._utils\n_rebuild_tensor_v2" in file.read("some/o/o.pkl")
        assert file.read("some/.data/version") == b"6\n" and file.read("some/o/t") == "é".encode()
    assert {"some/.data/0.storage", "some/.data/python_version", "some/byteorder", "some/shop/parts.py"} <= set(names)


def test_storages_are_shared_between_pickles():
    x = taeda.arange(6.0)
    package = packaged(lambda e: [e.save_pickle("o", "a", [x, x[2:]]), e.save_pickle("o", "b", x)])
    assert len(package.file_structure(include=".data/*.storage").children[".data"].children) == 1
    whole, part = package.load_pickle("o", "a")
    assert part.data_ptr() == whole.data_ptr() + 8 and package.load_pickle("o", "b").equal(x)


class Token:
    def __reduce_package__(self, exporter):
        number = exporter.get_unique_id()
        exporter.save_text("tokens", number, "told")
        return _made_token, (number,)


def _made_token(importer, number):
    return [importer.load_text("tokens", number), number]


def test_objects_may_reduce_themselves():
    token = Token()
    package = packaged(lambda e: [e.extern("**"), e.save_pickle("o", "a", [token, Token(), token])])
    first, second, third = package.load_pickle("o", "a")
    assert first is third and (first, second) == (["told", "0"], ["told", "1"])


def test_traced_dependencies():
    wheel = _wheel()
    assert "shop.parts" in analyze.trace_dependencies(lambda n: wheel.area(), [(1,), (2,)])
