"""Runs each step of a model in several quantised forms beside the float one, and says how near they come."""

from __future__ import annotations

import copy
import operator
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from taeda import Tensor, fx, nn
from taeda.ao.ns.fx.loggers import OutputComparisonLogger, OutputLogger, loggers_of, record_of
from taeda.ao.ns.fx.ns_types import NSResultsType, NSSingleResultValuesType
from taeda.ao.ns.fx.qconfig_multi_mapping import QConfigMultiMapping
from taeda.ao.ns.fx.utils import compute_sqnr, type_of
from taeda.ao.ns.fx.weight_utils import extract_weight_from_node
from taeda.ao.quantization import quantize_fx
from taeda.ao.quantization.fuser_method_mappings import _DEFAULT_OP_LIST_TO_FUSER_METHOD
from taeda.ao.quantization.fx import fuse, patterns, prepare
from taeda.ao.quantization.fx.tracer import QuantizationTracer
from taeda.ao.quantization.qconfig import QConfigAny
from taeda.ao.quantization.qconfig_mapping import QConfigMapping

_WRAPPER, _SHADOW = "shadow_wrapper_", "shadow_"
_OUTPUT = NSSingleResultValuesType.NODE_OUTPUT.value


class _Step(NamedTuple):
    """Nodes that follow one another and are quantised as one, and what they take from others."""

    nodes: list[fx.Node]
    inputs: list[fx.Node]


class NShadows:
    """A traced model that shadows are put into.

    Args:
        chained: shadows take what the shadows before them give, and not what the model computes.
    """

    def __init__(
        self, model: nn.Module, example_inputs: Any, mappings: list[QConfigMapping], backend_config: Any,
        prepare_fn: Callable[..., Any] | None = None, prepare_kwargs: dict[str, Any] | None = None, tracer: Any = None,
        chained: bool = False,
    ) -> None:  # fmt: skip
        self.tracer = QuantizationTracer([], []) if tracer is None else tracer
        self.model = fx.GraphModule(model, self.tracer.trace(model))
        self.model.train(model.training)
        scopes = getattr(self.tracer, "node_name_to_scope", {})
        self.scopes: dict[str, tuple[str, Any]] = scopes
        self.modules = dict(self.model.named_modules(remove_duplicate=False))
        self.backend_config, self.chained = backend_config, chained
        self.prepare_fn, self.prepare_kwargs = prepare_fn or quantize_fx.prepare_fx, prepare_kwargs or {}
        values = fx.Interpreter(self.model, garbage_collect_values=False)
        values.run(*example_inputs)
        self.values: dict[fx.Node, Any] = values.env
        self.qconfigs = [self._qconfigs(mapping) for mapping in mappings]
        self.shadow_of: dict[fx.Node, fx.Node] = {}

    def _qconfigs(self, mapping: QConfigMapping) -> dict[fx.Node, QConfigAny]:
        calls: dict[tuple[str, Any], int] = defaultdict(int)
        return {
            node: prepare.qconfig_of_call(node, mapping, self.scopes, self.modules, calls)
            for node in self.model.graph.nodes
            if node.op.startswith("call_")
        }

    def steps(self) -> list[_Step]:
        """The calls of the graph, each with what is fused to it; if not chained, those that can be quantised."""
        found: list[_Step] = []
        seen: set[fx.Node] = set()
        for node in self.model.graph.nodes:
            quantisable = patterns.kind_of(node, self.modules) is not None
            if node in seen or not node.op.startswith("call_") or not (quantisable or self.chained):
                continue
            nodes = fuse._longest(node, self.modules, _DEFAULT_OP_LIST_TO_FUSER_METHOD) or [node]
            after = patterns.relu_after(node, self.modules) if patterns.takes_relu(node) else None
            nodes = [node, after] if len(nodes) == 1 and after is not None else nodes
            seen |= {*nodes}
            needed = [arg for one in nodes for arg in one.all_input_nodes if arg not in nodes and arg.op != "get_attr"]
            found.append(_Step(nodes, list(dict.fromkeys(needed))))
        return found

    def run(self) -> fx.GraphModule:
        """Puts the shadows in."""
        for i, step in enumerate(self.steps()):
            candidates = [found[step.nodes[0]] for found in self.qconfigs]
            qconfigs = [qconfig for qconfig in candidates if qconfig is not None]
            if self.chained:
                qconfigs = candidates[:1]
            elif not qconfigs or not all(isinstance(self.values.get(node), Tensor) for node in step.inputs):
                continue
            last = step.nodes[-1]
            place = self._logger(OutputLogger, step, i, 0, None, (last,), last)
            for j, qconfig in enumerate(qconfigs, 1):
                place = self._shadow(step, i, j, qconfig, place)
        self.model.graph.lint()
        self.model.recompile()
        return self.model

    def _shadow(self, step: _Step, i: int, j: int, qconfig: QConfigAny, place: fx.Node) -> fx.Node:
        wrapped: nn.Module = self._submodule(step)
        if qconfig is not None:
            examples = tuple(self.values[node] for node in step.inputs)
            mapping = QConfigMapping().set_global(qconfig)
            given = {"backend_config": self.backend_config, **self.prepare_kwargs}
            wrapped = self.prepare_fn(wrapped, mapping, example_inputs=examples, **given)
        name, last = f"{_WRAPPER}{i}_{j}", step.nodes[-1]
        setattr(self.model, name, wrapped)
        args = tuple(self.shadow_of.get(node, node) if self.chained else node for node in step.inputs)
        with self.model.graph.inserting_after(place):
            made = self.model.graph.create_node("call_module", name, args, {}, name=name)
        self.shadow_of[last] = made
        if not isinstance(self.values.get(last), Tensor):
            return made
        return self._logger(OutputComparisonLogger, step, i, j, qconfig, (made, last), made)

    def _logger(
        self, cls: Any, step: _Step, i: int, j: int, qconfig: QConfigAny, args: tuple[fx.Node, ...], place: fx.Node
    ) -> fx.Node:
        first, last, name = step.nodes[0], step.nodes[-1], f"{_SHADOW}{i}_{j}"
        path = str(first.target) if first.op == "call_module" else self.scopes.get(first.name, ("", None))[0]
        kinds = type_of(last, self.model), type_of(first, self.model)
        text = "" if qconfig is None else str(qconfig)
        made = cls(first.name, last.name, "model", f"subgraph_{i}_{j}", *kinds, _OUTPUT, 0, 0, path, text)
        made.enabled = False
        setattr(self.model, name, made)
        with self.model.graph.inserting_after(place):
            return self.model.graph.create_node("call_module", name, args, {}, name=name)

    def _submodule(self, step: _Step) -> fx.GraphModule:
        """A step as a model of its own, whose modules are ``mod_0`` and so on."""
        graph, root, made = fx.Graph(), nn.Module(), dict[fx.Node, fx.Node]()
        for i, node in enumerate(step.inputs):
            made[node] = graph.placeholder(f"input_{i + 1}")

        def held(node: fx.Node) -> fx.Node:
            if node not in made:
                name = f"attr_{sum(key.startswith('attr_') for key in vars(root))}_{node.name}"
                setattr(root, name, operator.attrgetter(str(node.target))(self.model))
                made[node] = graph.get_attr(name)
            return made[node]

        for i, node in enumerate(step.nodes):
            args, kwargs = (fx.node.map_arg(part, held) for part in (node.args, node.kwargs))
            target = node.target
            if node.op == "call_module":
                target = f"mod_{i}"
                setattr(root, target, copy.deepcopy(self.modules[str(node.target)]))
            made[node] = graph.create_node(node.op, target, args, kwargs)
        graph.output(made[step.nodes[-1]])
        submodule = fx.GraphModule(root, graph)
        submodule.train(self.model.training)
        return submodule


def prepare_n_shadows_model(
    model: nn.Module, example_inputs: Any, qconfig_multi_mapping: QConfigMultiMapping, backend_config: Any,
    custom_prepare_fn: Callable[..., Any] | None = None, custom_prepare_kwargs: dict[str, Any] | None = None,
    custom_tracer: Any = None,
) -> fx.GraphModule:  # fmt: skip
    """A model as a graph that computes the same, in which each step that can be quantised is run beside in the forms
    that each qconfig asks for. Data calibrates them all; `convert_n_shadows_model` comes next.

    Args:
        model: in evaluation mode.
        example_inputs: positional arguments of the model.
        qconfig_multi_mapping: what each part is quantised by.
        custom_prepare_fn: what to call in place of `prepare_fx`, with ``custom_prepare_kwargs``.
        custom_tracer: what traces the model.
    """
    mappings = qconfig_multi_mapping.qconfig_mappings_list
    more = (custom_prepare_fn, custom_prepare_kwargs, custom_tracer)
    return NShadows(model, example_inputs, mappings, backend_config, *more).run()


def _prepare_n_shadows_add_loggers_model(
    model: nn.Module, example_inputs: Any, qconfig_mapping: QConfigMapping, backend_config: Any
) -> fx.GraphModule:
    """The same with one form of each step, which takes what those before it give: the model, and beside it the
    quantised model, compared at each step."""
    return NShadows(model, example_inputs, [qconfig_mapping], backend_config, chained=True).run()


def convert_n_shadows_model(
    model: fx.GraphModule, custom_convert_fn: Callable[..., Any] | None = None,
    custom_convert_kwargs: dict[str, Any] | None = None,
) -> fx.GraphModule:  # fmt: skip
    """Converts the forms of `prepare_n_shadows_model`, in place. The loggers are off: see ``loggers_set_enabled``."""
    convert = custom_convert_fn or quantize_fx.convert_fx
    for name, module in list(model.named_children()):
        if name.startswith(_WRAPPER) and "quantization_qconfigs" in getattr(module, "meta", {}):
            setattr(model, name, convert(module, **(custom_convert_kwargs or {})))
    return model


def extract_results_n_shadows_model(model: nn.Module) -> NSResultsType:
    """What the loggers kept: ``results["model"]["node_output"]["subgraph_0_1"]`` is the first form of the first step,
    ``subgraph_0_0`` the step itself."""
    by_step = {logger.ref_name: [record_of(logger)] for logger in loggers_of(model, OutputLogger)}
    return {"model": {_OUTPUT: by_step}}


def _n_shadows_compare_weights(
    model: nn.Module, example_inputs: Any, qconfig_mapping: QConfigMapping, backend_config: Any
) -> NSResultsType:
    """The weights of each step and of its quantised form, and how near they are."""
    shadows = NShadows(model, example_inputs, [qconfig_mapping], backend_config)
    steps = shadows.steps()
    made = shadows.run()
    made(*example_inputs)
    convert_n_shadows_model(made)
    found: dict[str, list[dict[str, Any]]] = {}
    for i, step in enumerate(steps):
        form = getattr(made, f"{_WRAPPER}{i}_1", None)
        if form is None:
            continue
        own = extract_weight_from_node(step.nodes[0], made)
        others = (extract_weight_from_node(node, form) for node in form.graph.nodes if node.op.startswith("call_"))
        other = next((record for record in others if record is not None), None)
        if own is None or other is None:
            continue
        qconfig = str(shadows.qconfigs[0][step.nodes[0]])
        pairs = zip(other["values"], own["values"], strict=True)
        compared = {"comparisons": [compute_sqnr(x, y) for x, y in pairs], "comparison_fn_name": "sqnr"}
        blank = {"qconfig_str": "", "comparisons": [], "comparison_fn_name": ""}
        found[f"subgraph_{i}_0"] = [own | blank]
        found[f"subgraph_{i}_1"] = [own | {"values": other["values"], "qconfig_str": qconfig} | compared]
    return {"model": {NSSingleResultValuesType.WEIGHT.value: found}}


def group_results_by_subgraph(results: NSResultsType) -> dict[str, dict[str, dict[str, Any]]]:
    """The records by step and, within it, by the number of the form."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    by_type = results["model"]
    for name, records in next(iter(by_type.values()), {}).items():
        step, _, form = name.rpartition("_")
        found.setdefault(step, {})[form] = records[0]
    return found


def create_results_comparison(results_grouped: dict[str, dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Of each step, how near each of its forms comes."""
    found: dict[str, dict[str, Any]] = {}
    for step, forms in results_grouped.items():
        candidates = {}
        for form, record in forms.items():
            if form == "0":
                continue
            raw = record["comparisons"]
            mean = sum(raw) / len(raw) if raw else None
            candidates[form] = {
                "qconfig_str": record["qconfig_str"], "comparison_fn_name": record["comparison_fn_name"],
                "cmp_raw": raw, "cmp_mean": mean,
            }  # fmt: skip
        names = ("ref_node_name", "ref_node_target_type", "fqn")
        found[step] = {**{name: forms["0"][name] for name in names}, "candidates": candidates}
    return found


def print_n_shadows_summary(results_comparison: dict[str, dict[str, Any]]) -> None:
    """Prints a table with a line for each step; needs the package ``tabulate``, and says so where it is missing."""
    try:
        from tabulate import tabulate
    except ImportError:
        print("print_n_shadows_summary: the table is made by the package tabulate; `pip install tabulate` installs it")
        return
    rows = []
    for step, data in results_comparison.items():
        means = [one["cmp_mean"] for one in data["candidates"].values()]
        kind = str(data["ref_node_target_type"]).rpartition(".")[2]
        rows.append([step, kind, data["fqn"], *(float(mean) for mean in means if mean is not None)])
    count = max((len(row) for row in rows), default=3)
    headers = ["subgraph_idx", "node_type", "fqn", *map(str, range(1, count - 2))]
    print(tabulate(rows, headers=headers))


def print_comparisons_n_shadows_model(results: NSResultsType) -> None:
    """Prints what `extract_results_n_shadows_model` gives as a table of how near each form of each step comes."""
    print_n_shadows_summary(create_results_comparison(group_results_by_subgraph(results)))
