"""Takes masked rows out of layers, and out of the layers that read them.

Without ``prune_bias`` a pruned channel still gives its bias; what it gave is added to the bias of the next layer.
Through a padded convolution that is no constant: then the rows stay, as zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.ao.pruning._experimental.pruner.parametrization import BiasHook
from taeda.nn.utils import parametrize

__all__ = [
    "prune_conv2d", "prune_conv2d_activation_conv2d", "prune_conv2d_activation_pool_conv2d", "prune_conv2d_conv2d",
    "prune_conv2d_padded", "prune_conv2d_pool_activation_conv2d", "prune_conv2d_pool_flatten_linear", "prune_linear",
    "prune_linear_activation_linear", "prune_linear_linear", "prune_lstm_output_layernorm_linear",
    "prune_lstm_output_linear",
]  # fmt: skip

Activation = Callable[[Tensor], Tensor] | None


def _parameter(tensor: Tensor) -> nn.Parameter:
    return nn.Parameter(tensor.detach().clone())


def _own_weight(module: nn.Module, name: str = "weight") -> Tensor:
    """The weight before any mask."""
    if parametrize.is_parametrized(module, name):
        return module.parametrizations[name].original
    return getattr(module, name)


def _set_weight(module: nn.Module, tensor: Tensor, name: str = "weight") -> None:
    if parametrize.is_parametrized(module, name):
        module.parametrizations[name].original = _parameter(tensor)
    else:
        setattr(module, name, _parameter(tensor))


def _remove_bias_handles(module: nn.Module) -> None:
    """Takes the hooks off that add the bias."""
    for key, hook in list(module._forward_hooks.items()):
        if isinstance(hook, BiasHook):
            del module._forward_hooks[key]


def _unmask(module: nn.Module, name: str = "weight") -> Tensor:
    """Makes the masked weight the parameter; gives the mask."""
    mask = module.parametrizations[name][0].mask
    parametrize.remove_parametrizations(module, name, leave_parametrized=True)
    return mask


def _take_bias(module: nn.Module) -> Tensor | None:
    """The bias that the hook added, which is the module's no longer."""
    _remove_bias_handles(module)
    bias = getattr(module, "_bias", None)
    if bias is not None:
        del module._bias
    return None if bias is None else bias.detach()


def _prune_rows(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    """Takes masked rows and their biases out; gives the mask, and the biases if they still have to be added."""
    mask, bias = _unmask(module), _take_bias(module)
    _set_weight(module, module.weight[mask])
    if bias is not None:
        module.bias = _parameter(bias[mask])
    setattr(module, "out_channels" if isinstance(module, nn.Conv2d) else "out_features", int(mask.sum()))
    return mask, None if getattr(module, "prune_bias", False) else bias


def _prune_columns(module: nn.Module, mask: Tensor, constants: Tensor | None) -> None:
    """Takes columns out; ``constants``, what they read, goes to the bias."""
    weight = _own_weight(module)
    if constants is not None:
        lost = module.weight.detach()[:, ~mask]
        added = lost.reshape(*lost.shape[:2], -1).sum(2) @ constants
        name = "_bias" if getattr(module, "_bias", None) is not None else "bias"
        old = getattr(module, name)
        hooked = any(isinstance(hook, BiasHook) for hook in module._forward_hooks.values())
        name = "_bias" if hooked else name
        setattr(module, name, _parameter(added if old is None else old.detach() + added))
    _set_weight(module, weight[:, mask])
    setattr(module, "in_channels" if isinstance(module, nn.Conv2d) else "in_features", int(mask.sum()))


def _constants(bias: Tensor | None, mask: Tensor, activation: Activation) -> Tensor | None:
    """What pruned channels give."""
    if bias is None:
        return None
    lost = bias[~mask]
    return lost if activation is None else activation(lost)


def prune_linear(linear: nn.Linear) -> None:
    """Prunes the last layer of a model, whose results get fewer columns."""
    _prune_rows(linear)


def prune_linear_linear(linear1: nn.Linear, linear2: nn.Linear) -> None:
    """Prunes a layer whose reader is the next."""
    prune_linear_activation_linear(linear1, None, linear2)


def prune_linear_activation_linear(linear1: nn.Linear, activation: Activation, linear2: nn.Linear) -> None:
    """The same with an activation between."""
    with taeda.no_grad():
        mask, bias = _prune_rows(linear1)
        _prune_columns(linear2, mask, _constants(bias, mask, activation))


def prune_conv2d_padded(conv2d_1: nn.Conv2d) -> None:
    """Leaves the masked channels of a convolution, as zeros and their biases."""
    with taeda.no_grad():
        _unmask(conv2d_1)
        bias = _take_bias(conv2d_1)
        if bias is not None:
            conv2d_1.bias = _parameter(bias)


def prune_conv2d(conv2d: nn.Conv2d) -> None:
    """Prunes the last convolution of a model, whose results get fewer channels."""
    _prune_rows(conv2d)


def prune_conv2d_conv2d(conv2d_1: nn.Conv2d, conv2d_2: nn.Conv2d) -> None:
    """Prunes a convolution whose reader is the next."""
    prune_conv2d_activation_conv2d(conv2d_1, None, conv2d_2)


def prune_conv2d_activation_conv2d(conv2d_1: nn.Conv2d, activation: Activation, conv2d_2: nn.Conv2d) -> None:
    """The same with an activation between."""
    gives_bias = getattr(conv2d_1, "_bias", None) is not None and not getattr(conv2d_1, "prune_bias", False)
    if gives_bias and any(p != 0 for p in _pair(conv2d_2.padding)):
        return prune_conv2d_padded(conv2d_1)
    with taeda.no_grad():
        mask, bias = _prune_rows(conv2d_1)
        _prune_columns(conv2d_2, mask, _constants(bias, mask, activation))


def _pair(padding: Any) -> tuple[Any, ...]:
    """A padding by dimension; that of ``"same"`` is not zero, nor that of a pool's single number."""
    if isinstance(padding, str):
        return (int(padding != "valid"),)
    return padding if isinstance(padding, tuple) else (padding,)


def prune_conv2d_pool_activation_conv2d(c1: nn.Conv2d, pool: nn.Module, activation: Activation, c2: nn.Conv2d) -> None:
    """The same with a pool, which leaves a constant as it is, before the activation."""
    prune_conv2d_activation_conv2d(c1, activation, c2)


def prune_conv2d_activation_pool_conv2d(c1: nn.Conv2d, activation: Activation, pool: nn.Module, c2: nn.Conv2d) -> None:
    """The same with a pool behind the activation."""
    prune_conv2d_activation_conv2d(c1, activation, c2)


def prune_conv2d_pool_flatten_linear(
    conv2d: nn.Conv2d, pool: nn.Module, flatten: Activation, linear: nn.Linear
) -> None:
    """Prunes a convolution whose pooled and flattened channels a linear layer reads: some columns for each channel."""
    with taeda.no_grad():
        mask, bias = _prune_rows(conv2d)
        each = linear.in_features // mask.numel()
        constants = _constants(bias, mask, None)
        constants = None if constants is None else constants.repeat_interleave(each)
        _prune_columns(linear, mask.repeat_interleave(each), constants)


def prune_lstm_output_linear(lstm: nn.LSTM, getitem: Callable[..., Any], linear: nn.Linear) -> None:
    """Prunes the hidden units of an LSTM whose reader is a linear layer."""
    prune_lstm_output_layernorm_linear(lstm, getitem, None, linear)


def prune_lstm_output_layernorm_linear(
    lstm: nn.LSTM, getitem: Callable[..., Any], layernorm: nn.LayerNorm | None, linear: nn.Linear
) -> None:
    """The same with a norm between. The mask of the input gate's rows of the last layer says which units stay."""
    with taeda.no_grad():
        for layer in range(lstm.num_layers):
            units = _prune_lstm_layer(lstm, layer)
            if units is None:
                continue
            if layer + 1 < lstm.num_layers:
                name = f"weight_ih_l{layer + 1}"
                _set_weight(lstm, _own_weight(lstm, name)[:, units], name)
                continue
            if layernorm is not None:
                layernorm.normalized_shape = (int(units.sum()),)
                for name in ("weight", "bias"):
                    if getattr(layernorm, name, None) is not None:
                        setattr(layernorm, name, _parameter(getattr(layernorm, name)[units]))
            lstm.hidden_size = int(units.sum())
            _prune_columns(linear, units, None)


def _prune_lstm_layer(lstm: nn.LSTM, layer: int) -> Tensor | None:
    """Takes masked rows out of one layer; gives the units that stay, None where the layer has no mask."""
    units = None
    for kind in ("ih", "hh"):
        weight, bias = f"weight_{kind}_l{layer}", f"bias_{kind}_l{layer}"
        if not parametrize.is_parametrized(lstm, weight):
            continue
        mask = _unmask(lstm, weight)
        setattr(lstm, weight, _parameter(getattr(lstm, weight)[mask]))
        if lstm.bias:
            setattr(lstm, bias, _parameter(getattr(lstm, bias)[mask]))
        units = mask[: mask.numel() // 4]
        if kind == "hh":
            setattr(lstm, weight, _parameter(getattr(lstm, weight)[:, units]))
    return units
