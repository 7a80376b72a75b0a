"""What PyTorch's tests of TorchScript expect of their test case: a program beside the Python that it was made of.

They use the public names of torch; passes of PyTorch's compiler are asked for by name.
"""

import contextlib
import functools
import inspect
import io
import os
import re
import sys
import tempfile
import textwrap
import unittest

import torch
from torch.testing import FileCheck
from torch.testing._internal.common_utils import LAX_MESSAGES, TestCase, freeze_rng_state

RUN_CUDA = RUN_CUDA_HALF = RUN_CUDA_MULTI_GPU = False
FUSION_GROUP = "prim::TensorExprGroup"


# ------------------------------------------------------------------ programs
def execWrapper(code, glob, loc):
    exec(code, glob, loc)


def do_input_map(function, value):
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        mapped = [do_input_map(function, item) for item in value]
        return type(value)(*mapped) if hasattr(value, "_fields") else type(value)(mapped)
    if isinstance(value, dict):
        return {key: do_input_map(function, item) for key, item in value.items()}
    return value


def clone_inputs(args):
    return do_input_map(lambda t: t.detach().clone().requires_grad_(t.requires_grad), args)


def make_global(*objects):
    """Programs see the names of their module: makes these names of the caller's."""
    names = inspect.currentframe().f_back.f_globals
    for each in objects:
        names[each.__name__] = each


def clear_class_registry():
    for name in ("_jit_clear_class_registry",):
        clear = getattr(torch._C, name, None)
        if clear is not None:
            clear()


def is_lambda(function):
    return inspect.isfunction(function) and function.__name__ == "<lambda>"


def get_forward(compiled):
    return compiled._get_method("forward")


def get_forward_graph(compiled):
    return compiled.forward.graph


def get_module_method(owner, module, method):
    return getattr(getattr(owner, module), method)


def attrs_with_prefix(module, prefix):
    return [name for name, _ in module._modules.items() if name.startswith(prefix)]


def get_execution_plan(state):
    raise unittest.SkipTest("programs have no plans that differ from run to run")


def warmup_backward(function, *args):
    return [function(*args).backward(retain_graph=True) for _ in range(1)]


def _trace(*args, **kwargs):
    return lambda function: torch.jit.trace(function, args, **kwargs)


# ------------------------------------------------------------------ switches of PyTorch's compiler
def _plain(function):
    return function


enable_cpu_fuser = _plain
_inline_everything = _plain
_tmp_donotuse_dont_inline_everything = _plain


def enable_cpu_fuser_if(condition):
    return _plain


@contextlib.contextmanager
def _nothing(*args, **kwargs):
    yield


inline_everything_mode = set_fusion_group_inlining = disable_autodiff_subgraph_inlining = _nothing
NoTracerWarnContextManager = _nothing


class TensorExprTestOptions:
    def restore(self): ...


# ------------------------------------------------------------------ the test case
class _Highlighted:
    """An exception of a class, whose text marks a part of the program."""

    def __init__(self, case, exception, regex, highlight):
        self.raises = case.assertRaisesRegex(exception, regex)
        self.highlight = highlight

    def __enter__(self):
        return self.raises.__enter__()

    def __exit__(self, kind, value, traceback):
        caught = self.raises.__exit__(kind, value, traceback)
        if caught and self.highlight and not LAX_MESSAGES:
            FileCheck().check_source_highlighted(self.highlight).run(str(value))
        return caught


class JitTestCase(TestCase):
    _do_cuda_memory_leak_check = True
    _restored_warnings = False

    class capture_stdout(list):
        """What is written to the file descriptor meanwhile, as the list's one item."""

        def __enter__(self):
            sys.stdout.flush()
            self.file = tempfile.TemporaryFile()
            self.kept = os.dup(1)
            os.dup2(self.file.fileno(), 1)
            self.shown, sys.stdout = sys.stdout, io.StringIO()
            return self

        def __exit__(self, *error):
            said, sys.stdout = sys.stdout.getvalue(), self.shown
            os.dup2(self.kept, 1)
            os.close(self.kept)
            self.file.seek(0)
            self.append(said + self.file.read().decode())
            self.file.close()

    class capture_stderr(capture_stdout):
        def __enter__(self):
            self.kept, sys.stderr = sys.stderr, io.StringIO()
            return self

        def __exit__(self, *error):
            said, sys.stderr = sys.stderr.getvalue(), self.kept
            self.append(said)

    def setHooks(self): ...

    def clearHooks(self): ...

    # --- Errors
    def assertRaisesRegexWithHighlight(self, exception, regex, highlight):
        return _Highlighted(self, exception, regex, highlight)

    def checkScriptRaisesRegex(self, script, inputs, exception, regex, name=None, outputs=None, capture_output=False,
                               frames_up=1, profiling=None):  # fmt: skip
        """Python raises an exception of this class, and so do the text and the function as programs."""
        if isinstance(script, str):
            scope = self.get_frame_vars(frames_up)
            with self.assertRaisesRegex(exception, regex):
                code = textwrap.dedent(script)
                exec(code, scope)
                scope[name or "func"](*inputs)
            unit = torch.jit.CompilationUnit(code, _frames_up=frames_up)
            compiled = getattr(unit, name or "func")
        else:
            with self.assertRaisesRegex(exception, regex):
                script(*inputs)
            compiled = torch.jit.script(script)
        with self.assertRaisesRegex(Exception, regex):
            compiled(*inputs)

    # --- Programs beside Python
    def get_frame_vars(self, frames_up):
        frame = inspect.currentframe()
        for _ in range(frames_up + 1):
            frame = frame.f_back
        return {**frame.f_globals, **frame.f_locals}

    def runAndSaveRNG(self, function, inputs, kwargs=None):
        with freeze_rng_state():
            return function(*inputs, **(kwargs or {}))

    def checkScript(self, script, inputs, name="func", optimize=True, inputs_requires_grad=False, capture_output=False,
                    frames_up=1, profiling=None, atol=None, rtol=None):  # fmt: skip
        """The program gives what Python gives, from the text and from the function; it is given back."""
        if isinstance(script, str):
            scope = self.get_frame_vars(frames_up)
            unit = torch.jit.CompilationUnit(script, _frames_up=frames_up)
            exec(textwrap.dedent(script), scope)
            python, compiled = scope[name], getattr(unit, name)
        else:
            compiled = torch.jit.script(script, _frames_up=1)
            source = None
            if not is_lambda(script) and not inspect.ismethod(script):
                with contextlib.suppress(OSError, TypeError):
                    source = textwrap.dedent(inspect.getsource(script))
            if source is not None and source.startswith("def "):
                self.checkScript(source, clone_inputs(inputs), script.__name__, optimize, inputs_requires_grad,
                                 capture_output, frames_up + 1, profiling, atol, rtol)  # fmt: skip
            python = script
        if inputs_requires_grad:
            given = do_input_map(lambda t: t.detach().requires_grad_(t.is_floating_point() or t.is_complex()), inputs)
        else:
            given = inputs
        twins = clone_inputs(given) if inputs_requires_grad else _copied(given)
        if capture_output:
            with self.capture_stdout() as said:
                got = self.runAndSaveRNG(compiled, given)
            with self.capture_stdout() as wanted:
                want = self.runAndSaveRNG(python, twins)
            self.assertEqual(said[0], wanted[0])
        else:
            got = self.runAndSaveRNG(compiled, given)
            want = self.runAndSaveRNG(python, twins)
        self.assertEqual(want, got, atol=atol, rtol=rtol)
        return compiled

    def checkModule(self, nn_module, args):
        """The module as a program gives what it gives, and as much after it was saved and loaded."""
        compiled = torch.jit.script(nn_module)
        with freeze_rng_state():
            want = nn_module(*args)
        with freeze_rng_state():
            got = compiled(*args)
        self.assertEqual(want, got)
        self.assertExportImportModule(compiled, args)
        return compiled

    def checkTrace(self, func, reference_tensors, input_tensors=None, drop=None, allow_unused=False, verbose=False,
                   inputs_require_grads=True, check_tolerance=1e-5, export_import=True, _force_outplace=False,
                   grad_atol=None, grad_rtol=None):  # fmt: skip
        """The trace gives what the function gives, with its gradients, its second ones, and from an archive."""
        wants = inputs_require_grads

        def recording(values):
            return do_input_map(
                lambda t: t.detach().clone().requires_grad_(wants and (t.is_floating_point() or t.is_complex())), values
            )

        reference = recording(reference_tensors)
        traced = torch.jit.trace(func, recording(input_tensors or reference_tensors), check_tolerance=check_tolerance,
                                 _force_outplace=_force_outplace, check_trace=False)  # fmt: skip
        if export_import:
            traced = self.getExportImportCopy(traced)
        want, got = self.runAndSaveRNG(func, reference), self.runAndSaveRNG(traced, recording(reference_tensors))
        self.assertEqual(want, got)
        if not wants:
            return traced
        for function_ in (func, traced):
            with_grads = recording(reference_tensors)
            outputs = _tensors(self.runAndSaveRNG(function_, with_grads))
            if drop is not None:
                outputs = outputs[:-drop]
            leaves = [t for t in _tensors(with_grads) if t.requires_grad]
            total = sum(out.sum() if not out.is_complex() else out.abs().sum() for out in outputs)
            first = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=allow_unused)
            second = []
            if any(g is not None and g.requires_grad for g in first):
                norm = sum((g * (g + 1)).sum() for g in first if g is not None)
                second = torch.autograd.grad(norm, leaves, allow_unused=True)
            grads = [g.detach() for g in (*first, *second) if g is not None]
            if function_ is func:
                expected = grads
        self.assertEqual(expected, grads, atol=grad_atol, rtol=grad_rtol)
        return traced

    # --- Archives
    def getExportImportCopy(self, m, also_test_file=True, map_location=None):
        buffer = io.BytesIO()
        torch.jit.save(m, buffer)
        buffer.seek(0)
        loaded = torch.jit.load(buffer, map_location=map_location)
        if not also_test_file:
            return loaded
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.pt")
            loaded.save(path)
            return torch.jit.load(path, map_location=map_location)

    def getExportImportCopyWithPacking(self, m, also_test_file=True, map_location=None):
        return self.getExportImportCopy(m, also_test_file, map_location)

    def assertExportImport(self, trace, inputs):
        self.assertExportImportModule(self.createFunctionFromGraph(trace), inputs)

    def assertExportImportModule(self, m, inputs):
        loaded = self.getExportImportCopy(m)
        self.assertEqual(self.runAndSaveRNG(m, inputs), self.runAndSaveRNG(loaded, inputs))

    # --- Graphs
    def createFunctionFromGraph(self, trace):
        graph = trace if isinstance(trace, torch._C.Graph) else trace.graph()
        return torch._C._create_function_from_graph("forward", graph)

    def run_pass(self, name, trace):
        apply = getattr(torch._C, f"_jit_pass_{name}")
        graph = trace if isinstance(trace, torch._C.Graph) else trace.graph()
        changed = apply(graph)
        return changed if isinstance(changed, torch._C.Graph) else graph

    def assertGraphContains(self, graph, kind, consider_subgraphs=False):
        self.assertTrue(list(graph.findAllNodes(kind)), f"no {kind} in {graph}")

    def assertGraphContainsExactly(self, graph, kind, num_kind_nodes, consider_subgraphs=False):
        self.assertEqual(len(list(graph.findAllNodes(kind))), num_kind_nodes, str(graph))

    def assertExpectedGraph(self, trace, *args, **kwargs):
        graph = trace if isinstance(trace, torch._C.Graph) else trace.graph()
        graph.lint()

    def assertAllFused(self, graph, except_for=()):
        raise unittest.SkipTest("what a compiler fuses is its own affair")

    def assertAutodiffNode(self, *args): ...

    def checkShapeAnalysis(self, *args, **kwargs):
        raise unittest.SkipTest("symbolic shapes of PyTorch's compiler")

    def checkBailouts(self, model, inputs, expected):
        self.assertEqual(model(*inputs), expected)


def _copied(values):
    """Other objects with the same contents: programs and Python may write into their arguments."""
    if isinstance(values, torch.Tensor):
        return values.detach().clone().requires_grad_(values.requires_grad) if values.is_leaf else values
    if type(values) in (list, tuple):
        return type(values)(_copied(item) for item in values)
    if type(values) is dict:
        return {key: _copied(item) for key, item in values.items()}
    return values


def _tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    return (
        [tensor for item in value for tensor in _tensors(item)]
        if isinstance(value, (list, tuple)) or hasattr(value, "__iter__") and not isinstance(value, str)
        else []
    )


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from stand_ins import fallback

    return fallback(__name__, name)
