"""TorchScript: programs as graphs that run, are saved and are loaded without Python's source."""

from collections.abc import Callable
from typing import Any, Final

from taeda._inert.script_switches import enable_onednn_fusion as enable_onednn_fusion
from taeda._inert.script_switches import fuser as fuser
from taeda._inert.script_switches import onednn_fusion_enabled as onednn_fusion_enabled
from taeda._inert.script_switches import optimized_execution as optimized_execution
from taeda._inert.script_switches import set_fusion_strategy as set_fusion_strategy
from taeda._inert.script_switches import strict_fusion as strict_fusion
from taeda._main import script_marks
from taeda._main.script_marks import Attribute as Attribute
from taeda._main.script_marks import _drop as _drop
from taeda._main.script_marks import _overload as _overload
from taeda._main.script_marks import _overload_method as _overload_method
from taeda._main.script_marks import annotate as annotate
from taeda._main.script_marks import container_isinstance
from taeda._main.script_marks import export as export
from taeda._main.script_marks import ignore as ignore
from taeda._main.script_marks import is_scripting as is_scripting
from taeda._main.script_marks import unused as unused
from taeda.futures import Future as Future
from taeda.jit import _state as _state
from taeda.jit import annotations as annotations
from taeda.jit import frontend as frontend
from taeda.jit._awaits import _Await as _Await
from taeda.jit._awaits import _awaitable as _awaitable
from taeda.jit._awaits import _awaitable_nowait as _awaitable_nowait
from taeda.jit._awaits import _awaitable_wait as _awaitable_wait
from taeda.jit._freeze import export_opnames as export_opnames
from taeda.jit._freeze import freeze as freeze
from taeda.jit._freeze import last_executed_optimized_graph as last_executed_optimized_graph
from taeda.jit._freeze import optimize_for_inference as optimize_for_inference
from taeda.jit._freeze import run_frozen_optimizations as run_frozen_optimizations
from taeda.jit._module import RecursiveScriptModule as RecursiveScriptModule
from taeda.jit._module import ScriptModule as ScriptModule
from taeda.jit._script import CompilationUnit as CompilationUnit
from taeda.jit._script import Error as Error
from taeda.jit._script import ScriptFunction as ScriptFunction
from taeda.jit._script import ScriptWarning as ScriptWarning
from taeda.jit._script import interface as interface
from taeda.jit._script import script as script
from taeda.jit._script import script_if_tracing as script_if_tracing
from taeda.jit._script import script_method as script_method
from taeda.jit.ir import hide_source_ranges
from taeda.jit.tracing.checking import TracingCheckError as TracingCheckError
from taeda.jit.tracing.module import TopLevelTracedModule as TopLevelTracedModule
from taeda.jit.tracing.module import TracedModule as TracedModule
from taeda.jit.tracing.recorder import TracerWarning as TracerWarning
from taeda.jit.tracing.state import is_tracing as is_tracing
from taeda.jit.tracing.trace import _get_trace_graph as _get_trace_graph
from taeda.jit.tracing.trace import trace as trace
from taeda.jit.tracing.trace import trace_module as trace_module
from taeda.utils import set_module as set_module

_script_if_tracing = script_if_tracing
_hide_source_ranges = hide_source_ranges
_unwrap_optional = script_marks._unwrap_optional
isinstance = container_isinstance

__all__ = [
    "Attribute", "CompilationUnit", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "annotate",
    "enable_onednn_fusion", "export", "export_opnames", "fork", "freeze", "ignore", "interface", "isinstance", "load",
    "onednn_fusion_enabled", "optimize_for_inference", "save", "script", "script_if_tracing", "set_fusion_strategy",
    "strict_fusion", "trace", "trace_module", "unused", "wait",
]  # fmt: skip


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Calls ``func`` now and gives its result as a future that is done; what it raises comes out here.

    Raises:
        TypeError: ``func`` is no function.
    """
    if not callable(func):
        raise TypeError(f"taeda.jit.fork: wants a function; got {type(func).__name__}")
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """The value of what `fork` returned.

    Raises:
        TypeError: ``future`` is none.
    """
    if type(future) is not Future:
        raise TypeError(f"taeda.jit.wait: wants a Future; got {type(future).__name__}")
    return future.wait()


_fork, _wait = fork, wait


def _register_decomposition(op: Any, graph: Any) -> None:
    """The graph that spells an op by others; ``torch._C._jit_pass_run_decompositions`` puts it in the op's place."""
    from taeda.jit.optimise.decompositions import register

    register(op, graph)


def _unique_state_dict(module: Any, keep_vars: bool = False) -> dict[str, Any]:
    """As ``module.state_dict()``, of tensors that are there by several names only the first."""
    seen: set[int] = set()
    found = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found[name] = tensor if keep_vars else tensor.detach()
    return found


def explain(function: Any, file: Any = None) -> None:
    """Prints every stage of a function from its source to instructions; see ``taeda/jit/explain.py``."""
    from taeda.jit._stages import explain as tell

    tell(function, file)


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Writes a compiled module or function into an archive, which PyTorch reads, too.

    Args:
        m: what `script` or `trace` gave.
        f: a path, or a binary file open for writing.
        _extra_files: further records by name, texts or bytes.

    Raises:
        TypeError: ``m`` is not compiled.
        RuntimeError: an attribute is what archives do not hold; the folder does not exist.
    """
    from taeda.jit.files.save import save as write

    write(m, f, _extra_files)


def load(f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None,
         _restore_shapes: bool = False) -> Any:  # fmt: skip
    """The module in an archive that PyTorch's ``torch.jit.save``, or ours, wrote. No code of the file is run by Python.

    Args:
        f: a path, or a binary file that can seek.
        map_location: where tensors go: a device or its name, a dictionary from saved to wanted locations, or a function
            of (storage, location).
        _extra_files: names of further records, whose contents (bytes) become its values.

    Raises:
        ValueError: there is no such file.
        RuntimeError: the archive is damaged, or holds no program.
    """
    from taeda.jit.files.load import load as read

    return read(f, map_location, _extra_files)
