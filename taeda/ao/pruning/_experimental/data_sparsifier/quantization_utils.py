"""Embeddings that are pruned and quantised, in either order."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import nn
from taeda.ao import quantization
from taeda.ao.pruning._experimental.data_sparsifier.base_data_sparsifier import EMBEDDINGS, BaseDataSparsifier
from taeda.ao.pruning.sparsifier.utils import fqn_to_module, module_to_fqn

__all__ = ["post_training_sparse_quantize"]


def post_training_sparse_quantize(
    model: nn.Module,
    data_sparsifier_class: type[BaseDataSparsifier],
    sparsify_first: bool = True,
    select_embeddings: list[nn.Module] | None = None,
    **sparse_config: Any,
) -> None:
    """Prunes and quantises embeddings in place: those chosen, or all.

    ``sparsify_first=False`` quantises, prunes the numbers that this gave, and quantises them again. The sparsifier is
    made with ``sparse_config``.
    """
    chosen = [m for m in model.modules() if type(m) in EMBEDDINGS] if select_embeddings is None else select_embeddings
    names: list[str] = []
    for embedding in chosen:
        name = module_to_fqn(model, embedding)
        assert type(embedding) in EMBEDDINGS, f"post_training_sparse_quantize: {type(embedding)} is not an embedding"
        assert name is not None, "post_training_sparse_quantize: an embedding is not part of the model"
        names.append(name)
    if sparsify_first:
        weights = {name: fqn_to_module(model, name).weight for name in names}
        for name, pruned in _pruned(data_sparsifier_class, weights, sparse_config).items():
            fqn_to_module(model, name).weight = nn.Parameter(pruned, requires_grad=weights[name].requires_grad)
        _quantize(model, names)
    else:
        _quantize(model, names)
        weights = {name: fqn_to_module(model, name).weight().dequantize() for name in names}
        for name, pruned in _pruned(data_sparsifier_class, weights, sparse_config).items():
            module = fqn_to_module(model, name)
            old = module.weight()
            scales, points = old.q_per_channel_scales(), old.q_per_channel_zero_points()
            made = taeda.quantize_per_channel(pruned, scales, points, old.q_per_channel_axis(), old.dtype)
            module.set_weight(made)


def _pruned(kind: type[BaseDataSparsifier], weights: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """The weights with their masks, by the same names."""
    sparsifier = kind(**config)
    keys = {name: name.replace(".", "_") for name in weights}
    for name, weight in weights.items():
        sparsifier.add_data(keys[name], weight)
    sparsifier.step()
    sparsifier.squash_mask()
    return {name: sparsifier.get_data(key, return_original=False).detach() for name, key in keys.items()}


def _quantize(model: nn.Module, names: list[str]) -> None:
    for name in names:
        fqn_to_module(model, name).qconfig = quantization.float_qparams_weight_only_qconfig
    quantization.prepare(model, inplace=True)
    quantization.convert(model, inplace=True)
