"""Inputs that several files of tests share, under the names that PyTorch's files ask for."""

from __future__ import annotations

from taeda.utils.operator_benchmark import config_list, cross_product_configs
from taeda.utils.operator_benchmark.configs import Config

_DEVICES = ["cpu", "cuda"]


def remove_cuda(config_list: list[Config]) -> list[Config]:
    """Those that are not for CUDA."""
    return [config for config in config_list if {"device": "cuda"} not in config]


def _short(names: str, *rows: list[int]) -> list[Config]:
    devices = {"device": _DEVICES}
    return config_list(attr_names=names.split(), attrs=rows, cross_product_configs=devices, tags=["short"])


linear_configs_short = _short("N IN OUT", [1, 1, 1], [4, 256, 128], [16, 512, 256])
linear_configs_long = cross_product_configs(
    N=[32, 64], IN=[128, 512], OUT=[64, 128], device=_DEVICES, tags=["long"]
)  # fmt: skip

conv_1d_configs_short = _short("IC OC kernel stride N L", [128, 256, 3, 1, 1, 64], [256, 256, 3, 2, 4, 64])
conv_1d_configs_long = cross_product_configs(
    IC=[128, 512], OC=[128, 512], kernel=[3], stride=[1, 2], N=[8], L=[128], device=_DEVICES, tags=["long"]
)  # fmt: skip
convtranspose_1d_configs_short = conv_1d_configs_short

_IMAGES = {"IC": [128, 256], "OC": [128, 256], "stride": [1, 2], "N": [4], "H": [32], "W": [32], "G": [1], "pad": [0]}
conv_2d_configs_short = _short("IC OC kernel stride N H W G pad", [256, 256, 3, 1, 1, 16, 16, 1, 0])
conv_2d_configs_long = cross_product_configs(**_IMAGES, kernel=[3], device=_DEVICES, tags=["long"])
conv_2d_pw_configs_short = _short("IC OC stride N H W G pad", [256, 256, 1, 1, 16, 16, 1, 0])
conv_2d_pw_configs_long = cross_product_configs(**_IMAGES, device=_DEVICES, tags=["long"])
conv_3d_configs_short = _short("IC OC kernel stride N D H W", [64, 64, 3, 1, 8, 4, 16, 16])

_ROWS = [10, 120, 1000, 2300]
embedding_short_configs = cross_product_configs(
    num_embeddings=_ROWS, embedding_dim=[64], input_size=[8, 16, 64], device=["cpu"], tags=["short"]
)
embeddingbag_short_configs = cross_product_configs(
    embeddingbags=_ROWS, dim=[64], mode=["sum"], input_size=[8, 16, 64], offset=[0], sparse=[True, False],
    include_last_offset=[True, False], device=["cpu"], tags=["short"],
)  # fmt: skip
