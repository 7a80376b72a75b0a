"""Whole optimiser steps over lists of tensors, each tensor in one pass over memory.

``grad_scale`` divides the gradients, which are overwritten with the quotients; where ``found_inf`` is 1 nothing
happens. Steps are counted by the caller. A learning rate in a tensor is read once per call.
"""

from taedagen.opdef import *
from taedagen.opdef.samples import S, f, v

_LISTS = "Tensor(a!)[] self, Tensor(b!)[] grads, "
_ADAM = (
    _LISTS + "Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, "
    "*, {lr} lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize, "
    "Tensor? grad_scale=None, Tensor? found_inf=None) -> ()"
)
_SGD = (
    _LISTS + "Tensor(c!)[] momentum_buffer_list, *, float weight_decay, float momentum, {lr} lr, float dampening, "
    "bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()"
)
_ADAGRAD = (_LISTS + "Tensor(c!)[] state_sums, Tensor[] state_steps, *, {lr} lr, float lr_decay, float weight_decay, "
            "float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()")  # fmt: skip

_RATE = v(0.1, "float32")
_STEPS = [v(2.0, "float32")]


def _sgd(lr):
    options = {"weight_decay": 0.1, "momentum": 0.9, "lr": lr, "dampening": 0.0, "maximize": False}
    lists = [f(3)], [f(3)], [f(3)]
    return [S(*lists, **options, nesterov=n, is_first_step=False).with_dtype("float32") for n in (False, True)]


def _adam(lr):
    options = {"lr": lr, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-8}
    lists = [f(3)], [f(3)], [f(3)], [f(3, low=0.1)], []
    return [S(*lists, _STEPS, **options, amsgrad=False, maximize=False).with_dtype("float32")]


def _adagrad(lr):
    options = {"lr": lr, "lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-8, "maximize": False}
    return [S([f(3)], [f(3)], [f(3, low=0.1)], _STEPS, **options).with_dtype("float32")]


@kernel("_fused_sgd_(" + _SGD.format(lr="float"), files="optim", not_differentiable=True, samples=_sgd(0.1))
def _fused_sgd_(*_):
    """A step of gradient descent with momentum; ``is_first_step``: the buffers, not initialised, become the
    gradients."""


@composite("_fused_sgd_.tensor_lr(" + _SGD.format(lr="Tensor"), files="optim", samples=_sgd(_RATE))
def _fused_sgd_tensor(*_):
    """``_fused_sgd_`` with the learning rate in a tensor."""


@kernel("_fused_adam_(" + _ADAM.format(lr="float"), files="optim", not_differentiable=True, samples=_adam(0.1))
def _fused_adam_(*_):
    """A step of Adam. Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015."""


@composite("_fused_adam_.tensor_lr(" + _ADAM.format(lr="Tensor"), files="optim", samples=_adam(_RATE))
def _fused_adam_tensor(*_):
    """``_fused_adam_`` with the learning rate in a tensor."""


@kernel("_fused_adamw_(" + _ADAM.format(lr="float"), files="optim", not_differentiable=True, samples=_adam(0.1))
def _fused_adamw_(*_):
    """Adam with the weights shrunk directly. Source: Loshchilov and Hutter, "Decoupled weight decay", 2019."""


@composite("_fused_adamw_.tensor_lr(" + _ADAM.format(lr="Tensor"), files="optim", samples=_adam(_RATE))
def _fused_adamw_tensor(*_):
    """``_fused_adamw_`` with the learning rate in a tensor."""


@kernel(
    "_fused_adagrad_(" + _ADAGRAD.format(lr="float").replace("Tensor[] state_steps", "Tensor(d!)[] state_steps"),
    files="optim",
    not_differentiable=True,
    samples=_adagrad(0.1),
)
def _fused_adagrad_(*_):
    """A step of Adagrad. Source: Duchi, Hazan and Singer, "Adaptive subgradient methods", 2011."""


@composite("_fused_adagrad_.tensor_lr(" + _ADAGRAD.format(lr="Tensor"), files="optim", samples=_adagrad(_RATE))
def _fused_adagrad_tensor(*_):
    """``_fused_adagrad_`` with the learning rate in a tensor."""
