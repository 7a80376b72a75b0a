"""``python -m pytorch``: runs PyTorch's own test files over Taeda and compares with the record.

The files are those of 2.6. Which tests count is what PyTorch 2.13 itself passes through the same helpers (`shim`).
The words of errors and warnings are our own, and are not compared unless ``--strict-messages`` asks for it. The tests
of the op table are left to ``make compat``; those of other devices, of C++ extensions and slow ones are skipped.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import sys
from typing import Any

from pytorch import record, sources
from pytorch.runner import Options, Outcome, run_file

# The long ones first, so that two at a time end together.
FILES = [
    "test_jit.py", "test_autograd.py", "test_torch.py", "test_nn.py", "test_linalg.py", "test_binary_ufuncs.py",
    "test_reductions.py", "test_tensor_creation_ops.py", "test_optim.py", "test_dataloader.py",
    "test_serialization.py", "test_type_promotion.py", "test_view_ops.py", "test_scatter_gather_ops.py",
    "test_sort_and_select.py", "test_shape_ops.py", "test_indexing.py", "test_spectral_ops.py",
    "test_unary_ufuncs.py", "nn/test_convolution.py", "nn/test_pooling.py", "nn/test_embedding.py",
    "nn/test_init.py", "nn/test_dropout.py", "nn/test_lazy_modules.py", "nn/test_load_state_dict.py",
    "nn/test_module_hooks.py", "nn/test_multihead_attention.py", "nn/test_packed_sequence.py",
    "nn/test_parametrization.py", "nn/test_pruning.py", "autograd/test_complex.py",
    "autograd/test_functional.py", "test_sparse.py", "test_sparse_csr.py", "functorch/test_vmap.py",
    "functorch/test_eager_transforms.py", "test_overrides.py", "test_maskedtensor.py", "test_foreach.py",
    "optim/test_lrscheduler.py", "optim/test_swa_utils.py", "distributions/test_distributions.py",
    "test_nestedtensor.py",
    "quantization/core/test_backend_config.py", "quantization/core/test_utils.py",
    "quantization/core/test_quantized_op.py", "quantization/bc/test_backward_compatibility.py",
    "quantization/core/test_quantized_tensor.py", "quantization/core/test_workflow_ops.py",
    "quantization/core/test_workflow_module.py", "quantization/core/test_quantized_functional.py",
    "quantization/core/test_quantized_module.py",
    "quantization/core/test_top_level_apis.py", "quantization/eager/test_equalize_eager.py",
    "quantization/eager/test_fuse_eager.py", "quantization/eager/test_model_numerics.py",
    "quantization/eager/test_bias_correction_eager.py", "quantization/eager/test_numeric_suite_eager.py",
    "quantization/eager/test_quantize_eager_qat.py", "quantization/eager/test_quantize_eager_ptq.py",
    "quantization/fx/test_quantize_fx.py", "quantization/fx/test_numeric_suite_fx.py",
    "quantization/fx/test_equalize_fx.py",
    "quantization/fx/test_model_report_fx.py", "quantization/fx/test_subgraph_rewriter.py",
    "ao/sparsity/test_sparsifier.py", "ao/sparsity/test_sparsity_utils.py", "ao/sparsity/test_parametrization.py",
    "ao/sparsity/test_scheduler.py", "ao/sparsity/test_data_sparsifier.py", "ao/sparsity/test_data_scheduler.py",
    "ao/sparsity/test_activation_sparsifier.py", "ao/sparsity/test_structured_sparsifier.py",
    "ao/sparsity/test_composability.py",
    "export/test_export.py", "export/test_serialize.py", "export/test_unflatten.py", "export/test_passes.py",
    "export/test_verifier.py",
    "test_stateless.py", "test_complex.py", "test_numpy_interop.py", "test_dlpack.py", "test_segment_reductions.py",
    "test_type_info.py", "test_futures.py", "test_native_functions.py", "test_expanded_weights.py",
    "test_namedtuple_return_api.py", "test_package.py",
    "test_native_mha.py", "test_masked.py", "functorch/test_rearrange.py", "functorch/test_parsing.py",
    "jit/test_list_dict.py", "jit/test_exception.py", "jit/test_decorator.py", "jit/test_fuser_common.py",
    "distributed/elastic/timer/api_test.py", "distributed/_tensor/test_math_ops.py",
    "distributed/_tensor/test_dtensor.py", "distributed/_tensor/test_init.py",
    "distributed/tensor/parallel/test_tp_style.py", "distributed/tensor/parallel/test_parallelize_api.py",
    "distributed/_composable/test_contract.py", "distributed/_composable/test_replicate.py",
    "distributed/argparse_util_test.py", "distributed/checkpoint/test_compatibility.py",
    "distributed/checkpoint/test_file_system_checkpoint.py",
    "distributed/checkpoint/test_file_system_checkpoint_cpu.py", "distributed/checkpoint/test_format_utils.py",
    "distributed/checkpoint/test_nested_dict.py", "distributed/checkpoint/test_planner.py",
    "distributed/checkpoint/test_state_dict_utils.py", "distributed/checkpoint/test_traverse.py",
    "distributed/checkpoint/test_utils.py", "distributed/elastic/agent/server/test/api_test.py",
    "distributed/elastic/events/lib_test.py", "distributed/elastic/metrics/api_test.py",
    "distributed/elastic/multiprocessing/errors/api_test.py",
    "distributed/elastic/multiprocessing/errors/error_handler_test.py",
    "distributed/elastic/multiprocessing/redirects_test.py", "distributed/elastic/multiprocessing/tail_log_test.py",
    "distributed/elastic/rendezvous/api_test.py", "distributed/elastic/rendezvous/c10d_rendezvous_backend_test.py",
    "distributed/elastic/rendezvous/dynamic_rendezvous_test.py",
    "distributed/elastic/rendezvous/static_rendezvous_test.py", "distributed/elastic/rendezvous/utils_test.py",
    "distributed/elastic/test_control_plane.py", "distributed/elastic/timer/file_based_local_timer_test.py",
    "distributed/elastic/timer/local_timer_test.py", "distributed/elastic/utils/data/cycling_iterator_test.py",
    "distributed/elastic/utils/distributed_test.py", "distributed/elastic/utils/logging_test.py",
    "distributed/elastic/utils/util_test.py", "distributed/launcher/api_test.py",
    "distributed/pipelining/test_backward.py", "distributed/pipelining/test_microbatch.py",
    "distributed/pipelining/test_pipe.py", "distributed/pipelining/test_schedule.py",
    "distributed/pipelining/test_transformer.py", "distributed/pipelining/test_unflatten.py",
    "distributed/test_c10d_logger.py", "distributed/test_c10d_object_collectives.py",
    "distributed/test_collective_utils.py", "distributed/test_control_collectives.py",
    "distributed/test_device_mesh.py", "distributed/test_fake_pg.py", "distributed/test_launcher.py",
    "distributed/test_multi_threaded_pg.py", "distributed/test_store.py", "distributed/test_c10d_common.py",
    "distributed/launcher/test_run.py", "distributed/launcher/launch_test.py",
    "distributed/_tensor/test_tensor_ops.py", "distributed/_tensor/experimental/test_local_map.py",
    "distributed/optim/test_apply_optimizer_in_backward.py", "distributed/_composable/test_checkpoint.py",
    "distributed/_tensor/test_api.py", "distributed/_tensor/test_matrix_ops.py",
    "distributed/_tensor/test_embedding_ops.py", "distributed/_tensor/test_redistribute.py",
    "distributed/_tensor/test_optimizers.py", "distributed/_tensor/test_utils.py",
    "distributed/_tensor/test_experimental_ops.py", "distributed/_tensor/test_pointwise_ops.py",
    "distributed/fsdp/test_checkpoint_wrapper.py", "distributed/test_backends.py",
    "distributed/checkpoint/e2e/test_e2e_save_and_load.py", "distributed/_tensor/debug/test_comm_mode.py",
    "distributed/elastic/multiprocessing/api_test.py",
    "distributed/_tensor/test_view_ops.py", "distributed/_tensor/experimental/test_register_sharding.py",
    "distributed/tensor/parallel/test_tp_examples.py", "distributed/algorithms/test_join.py",
    "distributed/test_functional_api.py", "distributed/test_c10d_pypg.py", "distributed/optim/test_named_optimizer.py",
    "distributed/optim/test_zero_redundancy_optimizer.py", "distributed/test_c10d_spawn_gloo.py",
    "distributed/checkpoint/test_dedup_tensors.py", "distributed/test_c10d_gloo.py",
    "distributed/test_distributed_spawn.py",
    "test_fx.py", "test_proxy_tensor.py", "test_fx_passes.py", "test_fx_experimental.py",
    "fx/test_common_passes.py", "fx/test_cse_pass.py", "fx/test_dce_pass.py", "fx/test_fx_const_fold.py",
    "fx/test_fx_node_hook.py", "fx/test_fx_param_shape_control_flow.py", "fx/test_fx_split.py",
    "fx/test_lazy_graph_module.py", "fx/test_matcher_utils.py", "fx/test_partitioner_order.py",
    "fx/test_pass_infra.py", "fx/test_source_matcher_utils.py", "fx/test_subgraph_rewriter.py",
]  # fmt: skip
STATES = ("passed", "failed", "error", "timeout", "crash", "skipped", "xfailed")


def show(outcome: Outcome, known: dict[str, Any] | None, failures: int) -> list[str]:
    """Prints a file's line; returns the names that passed once and do not pass now."""
    counts = outcome.counts()
    line = f"{outcome.file:32}" + "".join(f"{counts[state]:9}" for state in STATES) + f"{outcome.seconds:8.0f}"
    lost: list[str] = []
    if known:
        now = {name for name, test in outcome.tests.items() if record.passed(test)}
        wanted = known["torch"]
        lost = [name for name in known.get("taeda", ()) if name not in now]
        line += f"  {sum(name in now for name in wanted)}/{len(wanted)}"
    print(line + (f"  {outcome.fatal}" if outcome.fatal else ""), flush=True)
    bad = [name for name, test in outcome.tests.items() if test["status"] not in ("passed", "skipped", "xfailed")]
    for name in dict.fromkeys([*lost, *bad[:failures]]):
        test = outcome.tests.get(name, {"status": "absent", "message": ""})
        mark = "LOST " if name in lost else ""
        print(f"    {mark}{test['status']} {name}: {test['message'][:400]}", flush=True)
    return lost


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m pytorch", description=__doc__)
    parser.add_argument(
        "--file", action="append", help="a file of PyTorch's folder test; all of the record if left out"
    )
    parser.add_argument("--match", default="", help="a regular expression for Class.test_name")
    parser.add_argument(
        "--module", default="taeda", help="what to import as torch; with torch, --record notes its passes"
    )
    parser.add_argument("--record", action="store_true", help="take over the results")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60, help="seconds for a test")
    parser.add_argument("--show", type=int, default=0, help="how many failures to print for each file")
    parser.add_argument("--strict-messages", action="store_true", help="compare the texts of errors and warnings too")
    options = parser.parse_args()
    try:
        folder = sources.fetch()
    except sources.NotThere as problem:
        print(problem, file=sys.stderr)
        return 2
    how = Options(options.module, options.match, options.timeout, options.strict_messages)
    known = record.read()
    print(f"{'file':32}" + "".join(f"{state:>9}" for state in STATES) + f"{'seconds':>8}  of PyTorch's passes")
    lost: list[str] = []
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda file: run_file(file, folder, how), options.file or FILES):
            compared = None if options.match or options.module == "torch" else known.get(outcome.file)
            lost += show(outcome, compared, options.show)
            outcomes.append(outcome)
    return _finish(options, known, outcomes, lost)


def _finish(options: Any, known: dict[str, Any], outcomes: list[Outcome], lost: list[str]) -> int:
    for outcome in outcomes if options.record and not options.match else ():
        if options.module == "torch":
            known[outcome.file] = {"torch": sorted(n for n, test in outcome.tests.items() if record.passed(test))}
        else:
            record.update(outcome.file, outcome.tests, known)
    if options.record:
        record.write(known)
    ran = [known[outcome.file] | {"tests": outcome.tests} for outcome in outcomes if outcome.file in known]
    passes = sum(record.passed(entry["tests"].get(name)) for entry in ran for name in entry["torch"])
    wanted = sum(len(entry["torch"]) for entry in ran)
    if wanted and not options.match:
        print(f"Taeda passes {passes} of the {wanted} tests that PyTorch passes ({100 * passes / wanted:.1f}%)")
    if lost and not options.record:
        print(f"{len(lost)} tests that passed do not pass any more")
    return 1 if (lost and not options.record) or any(outcome.fatal for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
