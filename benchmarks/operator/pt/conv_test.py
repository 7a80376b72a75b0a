"""Convolutions."""

import operator_benchmark as op_bench

import taeda as torch
from pt import configs
from taeda import nn


class Conv1d(op_bench.TorchBenchmarkBase):
    def init(self, IC, OC, kernel, stride, N, L, device):
        self.inputs = {"input": torch.rand(N, IC, L, device=device, requires_grad=self.auto_set())}
        self.conv = nn.Conv1d(IC, OC, kernel, stride, device=device)

    def forward(self, input):
        return self.conv(input)


class Conv2d(op_bench.TorchBenchmarkBase):
    def init(self, IC, OC, kernel, stride, N, H, W, G, pad, device):
        self.inputs = {"input": torch.rand(N, IC, H, W, device=device, requires_grad=self.auto_set())}
        self.conv = nn.Conv2d(IC, OC, kernel, stride, pad, groups=G, device=device)

    def forward(self, input):
        return self.conv(input)


op_bench.generate_pt_test(configs.conv_1d_configs_short + configs.conv_1d_configs_long, Conv1d)
op_bench.generate_pt_test(configs.conv_2d_configs_short + configs.conv_2d_configs_long, Conv2d)
op_bench.generate_pt_gradient_test(configs.conv_2d_configs_short, Conv2d)

if __name__ == "__main__":
    op_bench.benchmark_runner.main()
