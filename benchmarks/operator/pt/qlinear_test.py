"""Linear layers over int8: quantised, and dynamically quantised."""

import operator_benchmark as op_bench

import taeda as torch
import taeda.ao.nn.quantized as nnq
import taeda.ao.nn.quantized.dynamic as nnqd
from pt import configs

inputs = configs.remove_cuda(configs.linear_configs_short + configs.linear_configs_long)


def with_weight(layer, outputs, inputs):
    weight = torch.quantize_per_tensor(torch.randn(outputs, inputs), 1 / 64, 0, torch.qint8)
    layer.set_weight_bias(weight, None)
    return layer


class QLinear(op_bench.TorchBenchmarkBase):
    def init(self, N, IN, OUT, device):
        self.inputs = {"input": torch.quantize_per_tensor(torch.rand(N, IN, device=device), 1 / 255, 0, torch.quint8)}
        self.layer = with_weight(nnq.Linear(IN, OUT), OUT, IN)
        self.layer.scale, self.layer.zero_point = 1 / 16, 128

    def forward(self, input):
        return self.layer(input)


class QDynamicLinear(op_bench.TorchBenchmarkBase):
    def init(self, N, IN, OUT, device):
        self.inputs = {"input": torch.rand(N, IN, device=device)}
        self.layer = with_weight(nnqd.Linear(IN, OUT), OUT, IN)

    def forward(self, input):
        return self.layer(input)


op_bench.generate_pt_test(inputs, QLinear)
op_bench.generate_pt_test(inputs, QDynamicLinear)

if __name__ == "__main__":
    op_bench.benchmark_runner.main()
