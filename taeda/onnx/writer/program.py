"""`ONNXProgram`: a model as ONNX, and what it came from."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

import taeda
from taeda import Tensor
from taeda.fx.interpreter import Interpreter
from taeda.onnx.errors import OnnxExporterError
from taeda.onnx.reader.values import from_numpy, onnx_package, to_numpy
from taeda.onnx.writer.second import results_of, second_example
from taeda.utils import _pytree as pytree

LIMIT = 2**31 - 2**20  # what a protocol buffer holds


class ONNXProgram:
    """What `taeda.onnx.export` gives.

    Attributes:
        model_proto: the ``onnx.ModelProto``.
        exported_program: the program that it was made of.
    """

    def __init__(self, model: Any, exported_program: Any, translation: Any = None) -> None:
        self.model_proto, self.exported_program = model, exported_program
        self._translation = translation
        self._session: Any = None

    @property
    def model(self) -> Any:
        """The ``onnx.ModelProto``."""
        return self.model_proto

    def __repr__(self) -> str:
        return f"ONNXProgram(\n{onnx_package().printer.to_text(self.model_proto_without_data())}\n)"

    @property
    def has_foreign_ops(self) -> bool:
        """Whether there are ops that ONNX Runtime does not have."""
        return any(o.domain == "org.pytorch.aten" for o in self.model_proto.opset_import)

    def bytes(self) -> int:
        """How many bytes the data has."""
        return sum(len(t.raw_data) for t in self.model_proto.graph.initializer)

    def model_proto_without_data(self) -> Any:
        """A copy without larger initializers, to print."""
        onnx = onnx_package()
        copy = onnx.ModelProto()
        copy.CopyFrom(self.model_proto)
        kept = [tensor for tensor in copy.graph.initializer if len(tensor.raw_data) <= 64]
        del copy.graph.initializer[:]
        copy.graph.initializer.extend(kept)
        return copy

    def check(self) -> None:
        """Checks the model and its shapes.

        Raises:
            OnnxExporterError: it is not valid.
        """
        onnx = onnx_package()
        if self.bytes() > LIMIT:
            return
        try:
            onnx.checker.check_model(self.model_proto, full_check=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            raise OnnxExporterError(
                f"taeda.onnx.export: what was made is not valid ONNX, which is a mistake here: {error}"
            ) from error

    def save(self, destination: Any, *, include_initializers: bool = True, keep_initializers_as_inputs: bool = False,
             external_data: bool | None = None) -> None:  # fmt: skip
        """Writes the model.

        Args:
            destination: a path, or an open file.
            include_initializers: write parameters.
            keep_initializers_as_inputs: accepted; `export` decides.
            external_data: data goes to a file beside it, ``<destination>.data``; if None, where it is more than two
                gigabytes.
        """
        onnx = onnx_package()
        model = self.model_proto
        if not include_initializers:
            model = onnx.ModelProto()
            model.CopyFrom(self.model_proto)
            del model.graph.initializer[:]
        if hasattr(destination, "write"):
            destination.write(model.SerializeToString())
            return
        path = os.fspath(destination)
        beside = external_data if external_data is not None else self.bytes() > LIMIT
        if not beside:
            onnx.save_model(model, path)
            return
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        onnx.save_model(copy, path, save_as_external_data=True, all_tensors_to_one_file=True,
                        location=os.path.basename(path) + ".data", size_threshold=1024)  # fmt: skip

    def apply_weights(self, state_dict: dict[str, Tensor]) -> None:
        """Takes parameters from a state dict."""
        from taeda.onnx.writer.builder import tensor_proto

        for tensor in self.model_proto.graph.initializer:
            if tensor.name in state_dict:
                tensor.CopyFrom(tensor_proto(to_numpy(state_dict[tensor.name]), tensor.name))
        self._session = None

    def optimize(self) -> None:
        """Does nothing: constants are folded and equal ones joined when the model is made."""

    def rename_axes(self, rename_mapping: dict[Any, str]) -> None:
        """Gives sizes that vary other names."""
        graph = self.model_proto.graph
        for info in (*graph.input, *graph.output, *graph.value_info):
            for dim in info.type.tensor_type.shape.dim:
                if dim.dim_param in rename_mapping:
                    dim.dim_param = rename_mapping[dim.dim_param]

    # --- running it

    def initialize_inference_session(self, initializer: Any = None) -> None:
        """Opens the model in ONNX Runtime, or with ``initializer``."""
        if initializer is not None:
            self._session = initializer(self.model_proto.SerializeToString())
            return
        self._session = _open(self.model_proto)

    def release(self) -> None:
        """Closes what `initialize_inference_session` opened."""
        self._session = None

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        """Runs the model on the arguments of the exported module, in ONNX Runtime if it is installed, else here."""
        feeds = self.feeds(args, kwargs)
        try:
            if self._session is None and not self.has_foreign_ops:
                self.initialize_inference_session()
        except ImportError:
            pass
        if self._session is None:
            from taeda.onnx.reader.model import load

            with taeda.no_grad():
                result = load(self.model_proto)(**{k: from_numpy(v) for k, v in feeds.items()})
            return result if isinstance(result, tuple) else (result,)
        return tuple(from_numpy(v) for v in self._session.run(None, feeds))

    def call_reference(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        """Runs the model in ONNX's own, slow evaluator."""
        from onnx.reference import ReferenceEvaluator  # type: ignore[import-not-found]

        results = ReferenceEvaluator(self.model_proto).run(None, self.feeds(args, kwargs))
        return tuple(from_numpy(v) for v in results)

    def compute_values(
        self, value_names: list[str], args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> tuple[Tensor, ...]:
        """Values of the graph by name."""
        return tuple(
            from_numpy(v)
            for v in _run(_exposing(self.model_proto, value_names), self.feeds(args, kwargs or {}), value_names)
        )

    def feeds(self, args: Any, kwargs: Any) -> dict[str, Any]:
        """The model's inputs by name."""
        leaves = [leaf for leaf in pytree.tree_leaves((tuple(args), dict(kwargs)))]
        arrays = [to_numpy(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        names = [i.name for i in self.model_proto.graph.input]
        constants = [
            hasattr(s.arg, "value")
            for s in self.exported_program.graph_signature.input_specs
            if s.kind.name == "USER_INPUT"
        ]
        given = [a if not isinstance(a, (int, float)) else np.array(a, np.int64 if isinstance(a, int) else np.float64)
                 for a, fixed in zip(arrays, constants) if not fixed]  # fmt: skip
        return dict(zip(names, given))

    # --- whether it is right

    def difference(self) -> str | None:
        """What differs between the model in ONNX Runtime and the exported program, if anything does.

        They are compared on the example, and on another if sizes vary.
        """
        if _draws(self.model_proto.graph):
            return None
        try:
            session = _open(self.model_proto, once=True)
        except Exception as error:
            return f"taeda.onnx.export: ONNX Runtime cannot load the model: {error}"
        found = self._differs_on(session, *self.exported_program.example_inputs)
        if found is None:
            second = second_example(self.exported_program)
            found = None if second is None else self._differs_on(session, *second)
        return found

    def _differs_on(self, session: Any, args: Any, kwargs: Any) -> str | None:
        feeds = self.feeds(args, kwargs)
        shapes = ", ".join(f"{name} {tuple(np.shape(value))}" for name, value in feeds.items())
        try:
            given = session.run([o.name for o in self.model_proto.graph.output], feeds)
        except Exception as error:
            return f"taeda.onnx.export: ONNX Runtime cannot run the model on {shapes}: {error}"
        wanted = results_of(self.exported_program, args, kwargs)
        if len(given) != len(wanted):
            return f"taeda.onnx.export: the model has {len(given)} results in ONNX; the module gives {len(wanted)}"
        wanted = [to_numpy(a) if isinstance(a, Tensor) else a for a in wanted]
        close = _about if any(n.op_type == "QuantizeLinear" for n in self.model_proto.graph.node) else _close
        if all(close(a, b) for a, b in zip(wanted, given, strict=True)):
            return None
        where = _Watch(self._translation).first_wrong(args, kwargs, self.model_proto, feeds)
        return f"taeda.onnx.export: ONNX Runtime gives other numbers than the model on {shapes}{where}"

    def report(self) -> str:
        """What was exported, as a page."""
        graph = self.model_proto.graph
        rows = [f"| {n.op_type} | {n.output[0]} | {n.doc_string} |" for n in graph.node]
        found = self.difference() or "The numbers in ONNX Runtime are the model's."
        return "\n".join(["# Export to ONNX", "", found, "", "| op | result | from |", "|---|---|---|", *rows, ""])


def _draws(graph: Any) -> bool:
    return any(
        n.op_type.startswith(("Random", "Bernoulli", "Multinomial")) or (n.op_type == "Dropout" and len(n.input) > 2)
        for n in graph.node
    )


def _close(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc" or a.dtype.itemsize > 8:
        return a.dtype.kind == b.dtype.kind and bool(np.array_equal(a, b)) if a.dtype.kind not in "fc" else \
            bool(np.allclose(a, b, 1e-4, 1e-5, equal_nan=True))  # fmt: skip
    loose = 2e-2 if a.dtype.itemsize == 2 else 1e-3
    scale = float(np.nanmax(np.abs(np.where(np.isfinite(a), a, 0)))) if a.size else 0.0
    return bool(np.allclose(a, b, loose, loose * 0.1 * max(scale, 1e-2), equal_nan=True))


def _about(a: Any, b: Any) -> bool:
    """Close but for sums that lie between two integers, of which each may be taken."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype.kind != "f" or not a.size:
        return _close(a, b)
    return bool(np.abs(a - b).max() <= 0.05 * np.abs(a).max() + 1e-6)


def _exposing(model: Any, names: list[str]) -> Any:
    onnx = onnx_package()
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    there = {o.name for o in copy.graph.output}
    for name in names:
        if name not in there:
            copy.graph.output.add().name = name
    return copy


def _open(model: Any, once: bool = False) -> Any:
    """A session. ``once``: for a run or two, which end before threads and rewriting would pay; and what is compared is
    then the model as it stands, not what the runtime makes of it."""
    import onnxruntime  # type: ignore[import-not-found]

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if once:
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _run(model: Any, feeds: dict[str, Any], names: list[str]) -> list[Any]:
    return _open(model, once=True).run(names, feeds)


class _Watch(Interpreter):
    """Runs the translated program and keeps what each node gave."""

    def __init__(self, translation: Any) -> None:
        super().__init__(translation.program.graph_module)
        self.translation = translation
        self.kept: dict[Any, Any] = {}

    def run_node(self, n: Any) -> Any:
        """One node; its result is kept."""
        result = super().run_node(n)
        if isinstance(result, Tensor):
            self.kept[n] = to_numpy(result.detach().clone())
        return result

    def run_program(self, args: Any, kwargs: Any) -> None:
        """Runs the program on arguments."""
        program = self.translation.program
        users = iter(pytree.tree_leaves((tuple(args), dict(kwargs))))
        given = [
            next(users) if s.kind.name == "USER_INPUT" else program.tensor_of(s.target).detach().clone()
            for s in program.graph_signature.input_specs
        ]
        with taeda.no_grad():
            self.run(*given)

    def first_wrong(self, args: Any, kwargs: Any, model: Any, feeds: Any) -> str:
        """The first value that differs, with the program's line."""
        try:
            self.run_program(args, kwargs)
        except Exception as error:
            return f": without the composites of the model's ops, {error}"
        names = {name: node for name, node in self.translation.by_value.items() if node in self.kept}
        inside = {o for n in model.graph.node for o in n.output}
        chosen = [name for name in names if name in inside]
        order = {node: i for i, node in enumerate(self.translation.program.graph.nodes)}
        chosen.sort(key=lambda name: order[names[name]])
        try:
            values = _run(_exposing(model, chosen), feeds, chosen)
        except Exception:
            return ""
        for name, value in zip(chosen, values):
            if not _close(self.kept[names[name]], value):
                node = names[name]
                place = node.meta.get("place") or node.meta.get("stack_trace", "")
                return f", first in {node.target} ({name})\n{place}"
        return ""


def to_bytes(model: Any) -> bytes:
    """The model as it stands in a file."""
    stream = io.BytesIO()
    stream.write(model.SerializeToString())
    return stream.getvalue()


__all__ = ["ONNXProgram", "OnnxExporterError"]
