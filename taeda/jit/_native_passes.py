"""Passes over graphs as programs find them in ``torch._C``.

A pass that only makes room for one of PyTorch's own (its fusers', its profiler's) is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taeda import Tensor, tensor
from taeda._schema.types import TensorType
from taeda.jit import optimise
from taeda.jit._ir_types import TensorFacts
from taeda.jit.ir import Graph
from taeda.jit.optimise import activations, conv_arithmetic, decompositions, devices, mutation, rewrite, shapes


def _of(work: Callable[[Graph], bool]) -> Callable[..., bool]:
    """A pass as ``torch._C`` has it: of a graph or of what has one, with switches that change nothing here."""

    def run(graph: Any, *switches: Any) -> bool:
        return work(graph if isinstance(graph, Graph) else graph.graph)

    run.__doc__ = work.__doc__
    return run


_jit_pass_inline = _of(optimise.inline_calls)
_jit_pass_dce = _jit_pass_dce_allow_deleting_nodes_with_side_effects = _of(optimise.remove_dead_code)
_jit_pass_cse = _of(optimise.merge_common_subexpressions)
_jit_pass_loop_unrolling = _of(optimise.unroll_counted_loops)
_jit_pass_lower_all_tuples = _jit_pass_lower_simple_tuples = _of(optimise.lower_tuples)


_jit_pass_refine_integer_values = _of(optimise.refine_integers)


def _jit_pass_peephole(graph: Graph, disable_shape_peepholes: bool = False) -> bool:
    return optimise.simplify(graph, not disable_shape_peepholes) and (optimise.remove_dead_code(graph) or True)


def _jit_pass_peephole_list_idioms(graph: Graph, refine_list_len: bool = False) -> bool:
    return (refine_list_len and optimise.refine_list_lengths(graph)) | _jit_pass_peephole(graph)


def _jit_pass_constant_propagation(graph: Graph) -> bool:
    changed = False
    while optimise.fold_constants(graph) | optimise.fold_branches(graph):
        changed = True
    return changed | optimise.remove_dead_code(graph)


_jit_pass_constant_propagation_immutable_types = _jit_pass_constant_propagation


def _jit_pass_constant_pooling(graph: Graph) -> None:
    optimise.merge_common_subexpressions(graph)


def _jit_pass_lint(graph: Graph) -> None:
    graph.lint()


def _jit_pass_canonicalize(graph: Graph, keep_unique_names: bool = True) -> Graph:
    """A copy whose values are numbered in their order."""
    twin = Graph()
    twin.copy_from(graph, {})
    if not keep_unique_names:
        for value in twin._all_values():
            value.setDebugName("")
    return twin


def _jit_pass_erase_shape_information(graph: Graph) -> None:
    """Forgets what is known of tensors beyond that they are some."""
    for value in graph._all_values():
        value.facts = None


def _jit_erase_non_input_shape_information(graph: Graph) -> None:
    """As `_jit_pass_erase_shape_information`, but for the inputs."""
    inputs = set(graph.inputs())
    for value in graph._all_values():
        if value not in inputs:
            value.facts = None


def _propagate_shapes(graph: Graph, inputs: Sequence[Any], with_grad: bool = False) -> Graph:
    """A copy in which what is known of the inputs is known of the values made from them."""
    twin = graph.copy()
    _jit_pass_complete_shape_analysis(twin, inputs, with_grad)
    return twin


def _jit_pass_complete_shape_analysis(graph: Graph, inputs: Sequence[Any], with_grad: bool = False) -> None:
    for value, given in zip(graph.inputs(), inputs, strict=False):
        if isinstance(given, Tensor):
            value.facts = TensorFacts.of(given)
    optimise.propagate_shapes(graph)


def _jit_pass_propagate_shapes_on_graph(graph: Graph) -> None:
    optimise.propagate_shapes(graph)


_jit_pass_propagate_dtype = _of(shapes.propagate_dtypes)
_jit_pass_propagate_device = _of(devices.propagate_devices)
_jit_pass_remove_mutation = _of(mutation.remove_mutation)
_jit_pass_functional_to_inplace_activation = _of(activations.activate_in_place)
_jit_pass_inplace_to_functional_activation = _of(activations.activate_apart)
_jit_pass_fuse_linear = _of(rewrite.fuse_linear)
_jit_pass_fuse_add_relu = _of(rewrite.fuse_add_relu)
_jit_pass_fold_frozen_conv_bn = _jit_pass_fold_frozen_linear_bn = _of(optimise.fold_batch_norms)
_jit_pass_fold_frozen_conv_add_or_sub = _of(conv_arithmetic.fold_conv_sums)
_jit_pass_fold_frozen_conv_mul_or_div = _of(conv_arithmetic.fold_conv_products)
_jit_pass_transpose_frozen_linear = _of(conv_arithmetic.transpose_linear)
_jit_pass_run_decompositions = _of(decompositions.run_decompositions)
_jit_pass_decompose_ops = _of(rewrite.decompose_addmm)


def _jit_pass_optimize_frozen_graph(graph: Graph, optimize_numerics: bool = True) -> None:
    """What freezing does at its end."""
    if optimize_numerics:
        optimise.fold_numerics(graph)
    optimise.remove_dead_code(graph)


def _jit_pass_remove_list_mutation(graph: Graph) -> bool:
    return mutation.remove_list_mutation(graph)


def _jit_pass_remove_tensor_mutation(graph: Graph) -> bool:
    return mutation.remove_tensor_mutation(graph)


def _jit_pass_custom_pattern_based_rewrite_graph(
    pattern: str, fused_node_name: str, g: Graph, value_name_pairs: Sequence[tuple[str, str]] = ()
) -> None:
    """Puts copies of one graph, a text, in place of what looks like another."""
    rewrite.rewrite(g, pattern, fused_node_name, value_name_pairs)


def _jit_pass_custom_pattern_based_rewrite(pattern: str, fused_node_name: str, m: Any) -> None:
    """As `_jit_pass_custom_pattern_based_rewrite_graph`, in all methods of a module and those that it holds."""
    from taeda.jit._module import face_of_module

    module: Any
    for module in face_of_module(m).modules():
        for name in module._c._method_names():
            rewrite.rewrite(module._c._get_method(name).graph, pattern, fused_node_name)


def _jit_pass_inline_fork_wait(graph: Graph) -> None:
    """Puts what was to run aside where it was begun."""
    optimise.inline_forks(graph)


def _jit_pass_erase_number_types(graph: Graph) -> None:
    """Makes tensors of all numbers: constants, and what is computed of them."""
    numbers = ("IntType", "FloatType", "BoolType", "NumberType")
    for node in list(graph.all_nodes()):
        held = node.output().toIValue() if node.kind() == "prim::Constant" else None
        if isinstance(held, (bool, int, float)):
            with graph.insert_point_guard(node):
                node.output().replaceAllUsesWith(graph.insertConstant(tensor(held)))
            node.destroy()
            continue
        for value in node.outputs():
            if value.static_type.kind() in numbers:
                value.setType(TensorType.get())
