"""How fast is this op, at this shape, with so many threads?

``python -m taeda.utils.operator_benchmark OP`` times any declared op. Files of tests, in the form of PyTorch's operator
benchmark, say ``import operator_benchmark as op_bench`` and find these names there (``benchmarks/operator``).
"""

from taeda.utils.operator_benchmark import benchmark_runner as benchmark_runner
from taeda.utils.operator_benchmark.cases import TorchBenchmarkBase as TorchBenchmarkBase
from taeda.utils.operator_benchmark.cases import generate_pt_gradient_test as generate_pt_gradient_test
from taeda.utils.operator_benchmark.cases import (
    generate_pt_gradient_tests_from_op_list as generate_pt_gradient_tests_from_op_list,
)
from taeda.utils.operator_benchmark.cases import generate_pt_test as generate_pt_test
from taeda.utils.operator_benchmark.cases import generate_pt_tests_from_op_list as generate_pt_tests_from_op_list
from taeda.utils.operator_benchmark.configs import attr_probs as attr_probs
from taeda.utils.operator_benchmark.configs import config_list as config_list
from taeda.utils.operator_benchmark.configs import cross_product_configs as cross_product_configs
from taeda.utils.operator_benchmark.configs import op_list as op_list
from taeda.utils.operator_benchmark.configs import random_sample_configs as random_sample_configs
from taeda.utils.operator_benchmark.timing import Timing as Timing
from taeda.utils.operator_benchmark.timing import measure as measure

__all__ = [
    "Timing", "TorchBenchmarkBase", "attr_probs", "benchmark_runner", "config_list", "cross_product_configs",
    "generate_pt_gradient_test", "generate_pt_gradient_tests_from_op_list", "generate_pt_test",
    "generate_pt_tests_from_op_list", "measure", "op_list", "random_sample_configs",
]  # fmt: skip
