"""Forward passes in another dtype than the parameters have, and gradients that are reduced last."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda.autograd import Variable
from taeda.distributed._reducer import GradBucket, pieces
from taeda.nn.modules.module import Module
from taeda.nn.utils.stateless import _functional_call
from taeda.utils._pytree import tree_map

if TYPE_CHECKING:
    from taeda.nn.parallel.distributed import DistributedDataParallel


@dataclass
class _MixedPrecision:
    """In which dtypes a module computes, its gradients are reduced (``param_dtype`` by default), and its buffers are
    kept; None leaves them as they are."""

    param_dtype: taeda.dtype | None = None
    reduce_dtype: taeda.dtype | None = None
    buffer_dtype: taeda.dtype | None = None

    def call(self, module: Module, ignored: set[str], inputs: Any, kwargs: Any) -> Any:
        """``module`` of these inputs, all of them and its parameters in ``param_dtype``; gradients come back in the
        parameters' own."""
        if self.buffer_dtype is not None:
            for name, buffer in module.named_buffers():
                if name not in ignored and buffer.is_floating_point():
                    buffer.data = buffer.data.to(self.buffer_dtype)
        low = self.param_dtype
        if low is None:
            return module(*inputs, **kwargs)

        def cast(one: Any) -> Any:
            return one.to(low) if isinstance(one, Tensor) and one.is_floating_point() else one

        given: dict[str, Tensor] = {name: cast(one) for name, one in module.named_parameters() if name not in ignored}
        return _functional_call(module, given, tree_map(cast, inputs), tree_map(cast, kwargs))

    def reduce(self, group: Any, bucket: GradBucket) -> Any:
        """A hook that reduces in ``reduce_dtype``."""
        buffer, low = bucket.buffer(), self.reduce_dtype or self.param_dtype
        sent = buffer.to(low).div_(group.size())
        work = dist.all_reduce(sent, group=group, async_op=True)
        assert work is not None
        return work.get_future().then(lambda done: buffer.copy_(done.value()[0]))


def reduce_last(ddp: DistributedDataParallel, parameters: Sequence[Tensor], signal: Tensor) -> None:
    """Has the gradients of ``parameters`` become their mean over the processes at the end of each backward pass that
    gives ``signal`` one."""
    weak = weakref.ref(ddp)

    def reduce() -> None:
        owner = weak()
        if owner is None:
            return
        with taeda.no_grad():
            flat = taeda.cat([(taeda.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in parameters])
            flat /= owner.process_group.size()
            dist.all_reduce(flat, group=owner.process_group)
            for parameter, mean in zip(parameters, pieces(flat, parameters), strict=True):
                if parameter.grad is None:
                    parameter.grad = mean.clone()
                else:
                    parameter.grad.copy_(mean)

    def has_gradient(_: Tensor) -> None:
        owner = weak()
        if owner is not None and owner.require_backward_grad_sync:
            Variable._execution_engine.queue_callback(reduce)

    weakref.finalize(ddp, signal.register_post_accumulate_grad_hook(has_gradient).remove)
