"""Running what is in packages: modules of their own, modules of the process, data, and packages of packages."""

import gc
import inspect
import io
import sys
import weakref
import zipfile

import pytest

import taeda
from taeda import nn
from taeda.package import (
    ObjMismatchError,
    ObjNotFoundError,
    OrderedImporter,
    PackageExporter,
    PackageImporter,
    is_from_package,
    sys_importer,
)  # fmt: skip


def written(fill, **options):
    file = io.BytesIO()
    with PackageExporter(file, **options) as exporter:
        fill(exporter)
    file.seek(0)
    return file


def whole(obj, **options):
    """An object with all its code."""
    return PackageImporter(written(lambda e: [e.intern("**"), e.save_pickle("o", "o.pkl", obj)], **options))


def test_modules_are_the_packages_own():
    import garage
    import shop.parts

    package = PackageImporter(written(lambda e: [e.intern("shop.**"), e.save_module("garage")]))
    own = package.import_module("garage")
    assert own is not garage and own.taeda is taeda
    assert own.shop.parts is package.import_module("shop.parts") is not shop.parts
    assert own.shop.parts.math is sys.modules["math"]
    assert own.__name__ == f"{package.id()}.garage" and own.__name__ not in sys.modules
    assert is_from_package(own) and is_from_package(own.Car()) and not is_from_package(garage.Car())
    assert hasattr(own, "__torch_package__") and not hasattr(garage, "__torch_package__")
    assert PackageImporter(written(lambda e: None)).id() != package.id()


def test_what_a_package_has_not_is_not_imported():
    package = PackageImporter(written(lambda e: e.save_source_string("m", "def f():\n    import json")))
    with pytest.raises(ModuleNotFoundError, match="garage"):
        package.import_module("garage")
    package.import_module("m").f()
    assert package.import_module("json") is sys.modules["json"]
    with pytest.raises(ImportError, match="json"):
        PackageImporter(
            written(lambda e: e.save_source_string("m", "import json")), module_allowed=lambda name: name != "json"
        )


@pytest.mark.parametrize(
    ("statement", "result"),
    [
        ("import a.b.c as x; x = x.WHO", "a.b.c"),
        ("import a.b.c; x = a.b.c.WHO", "a.b.c"),
        ("from a import b; x = b.WHO", "a.b"),
        ("from a.b import c, WHO; x = WHO", "a.b"),
        ("from . import a; x = a.WHO", None),
        ("from a.b import *; x = WHO", "a.b"),
        ("from a import star; x = star", 7),
        ("from a.deep import up; x = up", "a.b"),
        ("x = __import__('a.b').WHO", "a"),
        ("x = __import__('b', {'__package__': 'a'}, None, ('WHO',), 1).WHO", "a.b"),
        ("import empty.inner as i; x = i.WHO", "empty.inner"),
        ("from torch_package_importer import load_text; x = load_text('a', 'note')", "note"),
    ],
)
def test_imports_inside(statement, result):
    def fill(exporter):
        exporter.save_source_string("a", "WHO = 'a'\nstar = 7", is_package=True)
        exporter.save_source_string("a.b", "WHO = 'a.b'", is_package=True)
        exporter.save_source_string("a.b.c", "WHO = 'a.b.c'")
        exporter.save_source_string("a.deep", "from .b import WHO as up")
        exporter.save_source_string("empty.inner", "WHO = 'empty.inner'")
        exporter.save_text("a", "note", "note")
        exporter.save_source_string("main", statement, dependencies=False)

    package = PackageImporter(written(fill))
    if result is None:
        with pytest.raises(ImportError):
            package.import_module("main")
    else:
        assert package.import_module("main").x == result


def test_a_module_that_fails_is_tried_again():
    package = PackageImporter(written(lambda e: e.save_source_string("m", "1 / 0")))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            package.import_module("m")


def test_mocks_raise_when_used():
    def fill(exporter):
        exporter.mock("garage")
        exporter.save_source_string("m", "import garage\nfrom garage import Car\nclass A:\n    car = Car")

    module = PackageImporter(written(fill)).import_module("m")
    assert not hasattr(module.garage, "__path__")
    for use in (module.Car, lambda: module.A.car + 1, lambda: module.Car.colour, lambda: type("B", (module.Car,), {})):
        with pytest.raises(NotImplementedError, match="mocked"):
            use()


def test_source_is_found():
    import shop.parts

    package = PackageImporter(written(lambda e: e.save_module("shop.parts")))
    wheel = package.import_module("shop.parts").Wheel
    assert inspect.getsource(wheel) == inspect.getsource(shop.parts.Wheel)
    assert inspect.getsource(wheel.area) == inspect.getsource(shop.parts.Wheel.area)
    with pytest.raises(ImportError, match="nowhere"):
        package.get_source("nowhere")


def test_resources(tmp_path):
    path = tmp_path / "p.pt"
    with PackageExporter(path) as exporter:
        exporter.save_text("docs", "a.txt", "é")
        exporter.save_binary("docs.more", "b", b"\0")
        exporter.save_source_string("docs", "import importlib.resources as r\nt = r.files(__name__)", is_package=True)
    package = PackageImporter(path)
    assert package.load_text("docs", "a.txt") == "é" and package.load_binary("docs.more", "b") == b"\0"
    assert package.load_text("docs", "a.txt", "latin1") == "Ã©"
    reader = package.get_resource_reader("docs")
    assert sorted(reader.contents()) == ["__init__.py", "a.txt", "more"]
    assert reader.is_resource("a.txt") and not reader.is_resource("more")
    assert reader.open_resource("a.txt").read() == "é".encode()
    with pytest.raises(FileNotFoundError):
        reader.resource_path("a.txt")
    assert package.get_resource_reader("nowhere") is None
    with zipfile.ZipFile(path) as file:
        file.extractall(tmp_path)
    folder = PackageImporter(tmp_path / "p")
    assert folder.load_text("docs", "a.txt") == "é" and str(folder.file_structure()).count("\n") == 12
    assert folder.get_resource_reader("docs").resource_path("a.txt") == str(tmp_path / "p" / "docs" / "a.txt")
    with pytest.raises(RuntimeError, match="missing"):
        folder.load_binary("docs", "../../p.pt")


def test_models_with_their_code():
    import nets

    net = nets.Net()
    package = whole(net)
    loaded = package.load_pickle("o", "o.pkl")
    x = taeda.rand(4, 3)
    assert type(loaded) is not nets.Net and loaded(x).equal(net(x))
    assert type(loaded.linear) is nn.Linear
    assert package.load_pickle("o", "o.pkl", map_location="meta").linear.weight.is_meta


def test_programs_and_graphs():
    import nets

    net = nets.Net()
    program, graph = taeda.jit.script(net), taeda.fx.symbolic_trace(net)
    x = taeda.rand(4, 3)
    package = whole([program, graph, program, net])
    again = whole(package.load_pickle("o", "o.pkl"), importer=(package, sys_importer))
    for each in (package, again):
        script, traced, same, plain = each.load_pickle("o", "o.pkl")
        assert script is same and type(script) is type(program)
        assert script.linear.weight.data_ptr() == plain.linear.weight.data_ptr() == traced.linear.weight.data_ptr()
        assert [made(x).equal(net(x)) for made in (script, traced, plain)] == [True] * 3
        assert [node.op for node in traced.graph.nodes] == [node.op for node in graph.graph.nodes]
        assert taeda.jit.script(plain)(x).equal(net(x))


def test_objects_of_several_packages_do_not_mix():
    import shop.parts

    wheel = shop.parts.Wheel()
    one, other = whole(wheel), whole(wheel)
    loaded = one.load_pickle("o", "o.pkl")
    with pytest.raises(ObjMismatchError, match="sys_importer"):
        sys_importer.get_name(type(loaded))
    with pytest.raises(ObjMismatchError):
        OrderedImporter(other, sys_importer).get_name(type(loaded))
    with pytest.raises(ObjNotFoundError, match="garage"):
        one.get_name(__import__("garage").Car)
    assert OrderedImporter(one, sys_importer).get_name(type(loaded)) == ("shop.parts", "Wheel")
    assert whole(loaded, importer=(one, sys_importer)).load_pickle("o", "o.pkl").area() == wheel.area()


def test_importers_in_order():
    package = PackageImporter(written(lambda e: e.save_module("shop.parts")))
    both = OrderedImporter(package, sys_importer)
    assert both.import_module("shop.parts") is package.import_module("shop.parts")
    assert both.import_module("shop") is __import__("shop")  # of which the package has but what is below it
    with pytest.raises(ModuleNotFoundError):
        both.import_module("unheard_of")
    with pytest.raises(TypeError, match="PackageImporter"):
        OrderedImporter("sys").import_module("shop")


def test_a_package_goes_with_its_importer():
    package = PackageImporter(written(lambda e: e.save_module("shop.parts")))
    package.import_module("shop.parts")
    gone = weakref.ref(package)
    del package
    gc.collect()
    assert gone() is None


def test_what_is_no_package(tmp_path):
    with pytest.raises(RuntimeError):
        PackageImporter(tmp_path / "nothing")
    with pytest.raises(RuntimeError):
        PackageImporter(io.BytesIO(b"junk"))
    with pytest.raises(AttributeError):
        PackageImporter(3)
    package = PackageImporter(written(lambda e: None))
    for load in (package.load_pickle, package.load_text):
        with pytest.raises(RuntimeError, match="missing"):
            load("a", "b")
