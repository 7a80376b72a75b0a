"""Tools around the tensor library: data loading, checkpointing, hooks. Each part loads when first named."""

from __future__ import annotations

from typing import Any

_PARTS = (
    "_python_dispatch",
    "_pytree",
    "backend_registration",
    "benchmark",
    "checkpoint",
    "collect_env",
    "cpp_extension",
    "data",
    "deterministic",
    "dlpack",
    "flop_counter",
    "hooks",
    "model_zoo",
    "module_tracker",
    "tensorboard",
)
_FUNCTIONS = {
    "generate_methods_for_privateuse1_backend": "backend_registration",
    "rename_privateuse1_backend": "backend_registration",
}


def set_module(obj: Any, mod: str) -> None:
    """Say that ``obj`` belongs to the module ``mod``, which is where it is found."""
    if not isinstance(mod, str):
        raise TypeError(f"taeda.utils.set_module: mod must be a str; got {type(mod).__name__}")
    obj.__module__ = mod


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchanges what two tensors are, class and attributes included; both objects stay who they are.

    Nobody but Python may hold them: RuntimeError where a view, what a graph saved or a weak reference knows one of
    them, or where classes have other ``__slots__``. A graph that leads to one of them cannot run any more.
    """
    from taeda import _C

    for t in (t1, t2):
        if not isinstance(t, _C.TensorBase):
            raise TypeError(f"taeda.utils.swap_tensors: takes two tensors; got {type(t).__name__}")
    classes = type(t1), type(t2)
    if _slots(classes[0]) != _slots(classes[1]):
        raise RuntimeError(
            f"taeda.utils.swap_tensors: classes with other __slots__ cannot be swapped; got {classes[0].__name__} and "
            f"{classes[1].__name__}"
        )
    nodes = [_C._autograd._find_accumulator(t) for t in (t1, t2)]
    slots = {n for cls in classes for base in cls.__mro__ for n in base.__dict__.get("__slots__", ()) if n[:2] != "__"}
    kept = [{n: getattr(t, n) for n in slots if hasattr(t, n)} for t in (t1, t2)]
    _C._swap_tensors(t1, t2, nodes[0] is not None, nodes[1] is not None)
    for node in nodes:
        if node is not None:
            node.register_prehook(_refuse_swapped)
    t1.__class__, t2.__class__ = classes[1], classes[0]
    for name in slots:
        for t, values in ((t1, kept[1]), (t2, kept[0])):
            if name in values:
                setattr(t, name, values[name])
            elif hasattr(t, name):
                delattr(t, name)


def _slots(cls: type) -> list[str]:
    return sorted(n for base in cls.__mro__ for n in base.__dict__.get("__slots__", ()) if n[:2] != "__")


def _refuse_swapped(grads: Any) -> None:
    raise RuntimeError(
        "taeda.utils.swap_tensors: backward came to a tensor that was swapped after its use: compute the result anew"
    )


def __getattr__(name: str) -> Any:
    if name == "cmake_prefix_path":  # find_package(Torch) looks there
        from taeda.utils._cpp import places

        return places.cmake_folder()
    if name in _PARTS or name in _FUNCTIONS:
        import importlib

        part = importlib.import_module(f".{_FUNCTIONS.get(name, name)}", __name__)
        return getattr(part, name) if name in _FUNCTIONS else part
    from taeda._main.absent import missing

    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS, *_FUNCTIONS})
