"""Linear layers."""

import operator_benchmark as op_bench

import taeda as torch
from pt import configs
from taeda import nn


class Linear(op_bench.TorchBenchmarkBase):
    def init(self, N, IN, OUT, device):
        self.inputs = {"input": torch.rand(N, IN, device=device, requires_grad=self.auto_set())}
        self.linear = nn.Linear(IN, OUT, device=device)
        self.set_module_name("linear")

    def forward(self, input):
        return self.linear(input)


op_bench.generate_pt_test(configs.linear_configs_short + configs.linear_configs_long, Linear)
op_bench.generate_pt_gradient_test(configs.linear_configs_short, Linear)

if __name__ == "__main__":
    op_bench.benchmark_runner.main()
