"""Rounding to the levels of quantised numbers."""

import operator_benchmark as op_bench

import taeda as torch

short = op_bench.cross_product_configs(N=[1], C=[3, 64], H=[64, 256], W=[64], device=["cpu"], tags=["short"])


class PerTensor(op_bench.TorchBenchmarkBase):
    def init(self, N, C, H, W, device):
        self.inputs = {"input": torch.rand(N, C, H, W, device=device, requires_grad=self.auto_set())}

    def forward(self, input):
        return torch.fake_quantize_per_tensor_affine(input, 0.01, 10, 0, 255)


class PerChannel(op_bench.TorchBenchmarkBase):
    def init(self, N, C, H, W, device):
        self.inputs = {
            "input": torch.rand(N, C, H, W, device=device, requires_grad=self.auto_set()),
            "scale": torch.rand(C, device=device) + 0.01,
            "zero_point": torch.zeros(C, dtype=torch.int32, device=device),
        }

    def forward(self, input, scale, zero_point):
        return torch.fake_quantize_per_channel_affine(input, scale, zero_point, 1, 0, 255)


for test in (PerTensor, PerChannel):
    op_bench.generate_pt_test(short, test)
    op_bench.generate_pt_gradient_test(short, test)

if __name__ == "__main__":
    op_bench.benchmark_runner.main()
