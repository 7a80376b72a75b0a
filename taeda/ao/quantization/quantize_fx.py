"""Quantisation of models as graphs: prepare, run on data, convert."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from taeda import fx, nn
from taeda.ao.nn.quantized import FloatFunctional, FXFloatFunctional
from taeda.ao.quantization.backend_config import BackendConfig
from taeda.ao.quantization.fx import convert as reference
from taeda.ao.quantization.fx import equalize_graph, fuse, lower, prepare
from taeda.ao.quantization.fx.custom_config import ConvertCustomConfig, FuseCustomConfig, PrepareCustomConfig
from taeda.ao.quantization.fx.tracer import QuantizationTracer
from taeda.ao.quantization.qconfig_mapping import QConfigMapping

_KEPT = "_user_preserved_attributes"


def _mapping(given: Any) -> QConfigMapping:
    return QConfigMapping.from_dict(given) if isinstance(given, dict) else given


def _keep(model: nn.Module, graph: fx.GraphModule, names: list[str]) -> None:
    kept = {name: getattr(model, name) for name in names}
    graph.meta[_KEPT] = kept
    for name, value in kept.items():
        setattr(graph, name, value)


def _trace(model: nn.Module, names: list[str], classes: list[Any]) -> tuple[fx.GraphModule, dict[str, Any]]:
    tracer = QuantizationTracer(names, classes)
    graph = tracer.trace(model)
    return fx.GraphModule(model, graph), tracer.node_name_to_scope


def _show_functions(model: nn.Module) -> None:
    """Modules that stand for functions, and keep observers of their own, become such that the graph sees through."""
    for module in model.modules():
        for name, part in module.named_children():
            if type(part) is FloatFunctional:
                setattr(module, name, FXFloatFunctional())


def _prepared(
    model: nn.Module, qconfig_mapping: Any, is_qat: bool, prepare_custom_config: Any, backend_config: Any,
    example_inputs: Any = (), equalization: Any = None,
) -> fx.GraphModule:  # fmt: skip
    config = prepare_custom_config or PrepareCustomConfig()
    if isinstance(config, dict):
        config = PrepareCustomConfig.from_dict(config)
    mapping = _mapping(qconfig_mapping)
    if isinstance(backend_config, dict):
        backend_config = BackendConfig.from_dict(backend_config)
    names, classes = list(config.non_traceable_module_names), list(config.non_traceable_module_classes)
    names += config.standalone_module_names
    classes += config.standalone_module_classes
    classes += [cls for table in config.float_to_observed_mapping.values() for cls in table]
    _show_functions(model)
    traced, scopes = _trace(model, names, classes)
    fuse.fuse(traced, is_qat, _fusers(backend_config))
    prepared = prepare.prepare(traced, mapping, scopes, is_qat, config, backend_config, example_inputs)
    if equalization:
        equalize_graph.insert(prepared, _mapping(equalization))
    _standalone(prepared, mapping, config, is_qat, backend_config)
    _keep(model, prepared, config.preserved_attributes)
    return prepared


def _fusers(backend_config: Any) -> dict[Any, Any]:
    return {} if backend_config is None else backend_config.fuser_methods()


def _standalone(
    model: fx.GraphModule, mapping: QConfigMapping, config: PrepareCustomConfig, is_qat: bool, backend_config: Any
) -> None:
    """Submodules that are to be quantised by themselves are prepared likewise."""
    for path, module in list(model.named_modules()):
        given = config.standalone_module_names.get(path, config.standalone_module_classes.get(type(module)))
        if given is not None:
            made = _prepared(module, given[0] or mapping, is_qat, given[2], given[3] or backend_config)
            made.meta["quantization_standalone"] = True
            reference.set_module(model, path, made)


def fuse_fx(model: nn.Module, fuse_custom_config: Any = None, backend_config: Any = None) -> fx.GraphModule:
    """The model as a graph in which convolution or linear layer, norm and ReLU are one.

    Args:
        model: in evaluation mode: norms are folded.
        fuse_custom_config: a `FuseCustomConfig`, or its dict.
        backend_config: further sequences to fuse.
    """
    config = (
        FuseCustomConfig.from_dict(fuse_custom_config) if isinstance(fuse_custom_config, dict) else fuse_custom_config
    )
    traced, _ = _trace(model, [], [])
    made = fuse.fuse(traced, False, _fusers(backend_config))
    _keep(model, made, (config or FuseCustomConfig()).preserved_attributes)
    return made


def prepare_fx(
    model: nn.Module, qconfig_mapping: Any, example_inputs: tuple[Any, ...], prepare_custom_config: Any = None,
    _equalization_config: Any = None, backend_config: Any = None,
) -> fx.GraphModule:  # fmt: skip
    """The model as a graph with observers, which see values while it runs on data.

    Args:
        model: in evaluation mode; it must be traceable, see `taeda.fx.symbolic_trace`. Its modules are shared.
        qconfig_mapping: a `QConfigMapping`, or its dict.
        example_inputs: positional arguments of the model.
        prepare_custom_config: a `PrepareCustomConfig`, or its dict.
        _equalization_config: a mapping to an ``EqualizationQConfig`` for the layers before which the channels of inputs
            get like ranges.
        backend_config: what the backend does; by default all that Taeda does.
    """
    return _prepared(
        model, qconfig_mapping, False, prepare_custom_config, backend_config, example_inputs, _equalization_config
    )


def prepare_qat_fx(
    model: nn.Module, qconfig_mapping: Any, example_inputs: tuple[Any, ...], prepare_custom_config: Any = None,
    backend_config: Any = None,
) -> fx.GraphModule:  # fmt: skip
    """The model as a graph in which weights and results are rounded as quantisation will, for training.

    For the arguments see `prepare_fx`; the model is in training mode.
    """
    return _prepared(model, qconfig_mapping, True, prepare_custom_config, backend_config, example_inputs)


def _leave_float(model: fx.GraphModule, mapping: QConfigMapping) -> None:
    """What a mapping gives no qconfig is not to be converted, though it was observed."""
    modules, calls = dict(model.named_modules(remove_duplicate=False)), defaultdict[tuple[str, Any], int](int)
    qconfigs, scopes = model.meta["quantization_qconfigs"], model.meta["quantization_scopes"]
    for node in model.graph.nodes:
        if node.name in qconfigs and prepare.qconfig_of_call(node, mapping, scopes, modules, calls) is None:
            qconfigs[node.name] = None


def _converted(
    graph_module: fx.GraphModule, config: Any, is_reference: bool, remove_qconfig: bool = True, mapping: Any = None,
    decomposed: bool = False,
) -> fx.GraphModule:  # fmt: skip
    if mapping is not None:
        _leave_float(graph_module, _mapping(mapping))
    config = ConvertCustomConfig.from_dict(config) if isinstance(config, dict) else config or ConvertCustomConfig()
    equalize_graph.equalise(graph_module)
    kept = {**graph_module.meta.get(_KEPT, {})}
    for name in config.preserved_attributes:
        kept[name] = getattr(graph_module, name)
    for path, module in list(graph_module.named_modules()):
        if path and isinstance(module, fx.GraphModule) and module.meta.get("quantization_standalone"):
            reference.set_module(graph_module, path, _converted(module, None, is_reference))
    made = reference.convert_to_reference(graph_module, is_reference, config, decomposed)
    if not is_reference:
        made = lower.lower(made)
    for module in made.modules():
        if remove_qconfig and hasattr(module, "qconfig"):
            del module.qconfig
    for name, value in kept.items():
        setattr(made, name, value)
    made.meta[_KEPT] = kept
    return made


def convert_fx(
    graph_module: fx.GraphModule, convert_custom_config: Any = None, _remove_qconfig: bool = True,
    qconfig_mapping: Any = None, backend_config: Any = None, keep_original_weights: bool = False,
) -> fx.GraphModule:  # fmt: skip
    """The graph of `prepare_fx` or `prepare_qat_fx`, with ops and modules that compute with quantised tensors.

    Args:
        qconfig_mapping: what it gives no qconfig stays float; by default all is converted that was observed.
    """
    return _converted(graph_module, convert_custom_config, False, _remove_qconfig, qconfig_mapping)


def convert_to_reference_fx(
    graph_module: fx.GraphModule, convert_custom_config: Any = None, _remove_qconfig: bool = True,
    qconfig_mapping: Any = None, backend_config: Any = None,
) -> fx.GraphModule:  # fmt: skip
    """The same with float ops between quantise and dequantise, and modules that hold quantised weights as float ones:
    what a backend starts from."""
    return _converted(graph_module, convert_custom_config, True, _remove_qconfig, qconfig_mapping)


def _convert_to_reference_decomposed_fx(
    graph_module: fx.GraphModule, convert_custom_config: Any = None, qconfig_mapping: Any = None,
    backend_config: Any = None,
) -> fx.GraphModule:  # fmt: skip
    """`convert_to_reference_fx` by ops of plain tensors of integers, ``taeda.ops.quantized_decomposed``."""
    return _converted(graph_module, convert_custom_config, True, False, qconfig_mapping, True)
