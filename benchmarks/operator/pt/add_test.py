"""Additions, and other ops of two tensors."""

import operator_benchmark as op_bench

import taeda as torch

short = op_bench.config_list(
    attr_names=["M", "N", "K"],
    attrs=[[1, 1, 1], [64, 64, 64], [64, 64, 128]],
    cross_product_configs={"device": ["cpu"]},
    tags=["short"],
)
long = op_bench.cross_product_configs(M=[8, 128], N=[32, 64], K=[256, 512], device=["cpu"], tags=["long"])
ops = op_bench.op_list(
    attr_names=["op_name", "op_func"],
    attrs=[["add", torch.add], ["mul", torch.mul], ["div", torch.div], ["maximum", torch.maximum]],
)


class TwoTensors(op_bench.TorchBenchmarkBase):
    def init(self, M, N, K, device, op_func):
        new = lambda: torch.rand(M, N, K, device=device, requires_grad=self.auto_set())
        self.inputs = {"one": new(), "two": new()}
        self.op_func = op_func

    def forward(self, one, two):
        return self.op_func(one, two)


op_bench.generate_pt_tests_from_op_list(ops, short + long, TwoTensors)
op_bench.generate_pt_gradient_tests_from_op_list(ops, short + long, TwoTensors)

if __name__ == "__main__":
    op_bench.benchmark_runner.main()
