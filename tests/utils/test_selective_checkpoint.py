"""Selective checkpointing: which ops run again, what is kept, and what is refused."""

import pytest

import taeda
from taeda.utils._python_dispatch import TorchDispatchMode
from taeda.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

MM = taeda.ops.aten.mm.default


class Log(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def run(policy, function=None, **options):
    """The gradient of x, and how often mm and sin ran in the forward pass and again in backward."""
    taeda.manual_seed(0)
    x, w = taeda.randn(3, 3, requires_grad=True), taeda.randn(3, 3)
    function = function or (lambda x, w: ((x @ w).sin() @ w).exp())
    with Log() as log:
        y = checkpoint(
            function,
            x,
            w,
            use_reentrant=False,
            context_fn=lambda: create_selective_checkpoint_contexts(policy, **options),
        )
        first = len(log.seen)
        y.sum().backward()
    again = [log.seen[first:].count(op) for op in (MM, taeda.ops.aten.sin.default)]
    return x.grad, again


def by_policy(kind):
    return lambda context, op, *args, **kwargs: kind if op is MM else CheckpointPolicy.PREFER_RECOMPUTE


@pytest.mark.parametrize(
    ("policy", "again"),
    [
        ([MM], [2, 1]),  # the two of the backward pass itself
        ([], [4, 1]),
        ([MM, taeda.ops.aten.sin.default], [2, 0]),
        (by_policy(CheckpointPolicy.MUST_SAVE), [2, 1]),
        (by_policy(CheckpointPolicy.PREFER_SAVE), [2, 1]),
        (by_policy(CheckpointPolicy.MUST_RECOMPUTE), [4, 1]),
    ],
)
def test_what_runs_again(policy, again):
    grad, counts = run(policy)
    taeda.manual_seed(0)
    x, w = taeda.randn(3, 3, requires_grad=True), taeda.randn(3, 3)
    ((x @ w).sin() @ w).exp().sum().backward()
    assert counts == again and taeda.equal(grad, x.grad)


def test_a_policy_is_told_about_the_call():
    told = []

    def policy(context, op, *args, **kwargs):
        told.append((context.is_recompute, tuple(context.op_output.shape), str(op), len(args)))
        return CheckpointPolicy.MUST_SAVE

    run(policy, lambda x, w: x @ w)
    assert told == [(False, (3, 3), "aten.mm.default", 2)]


def test_writes_to_what_is_kept():
    def function(x, w):
        return (x @ w).mul_(2).sin()

    with pytest.raises(RuntimeError, match="written to"):
        run([MM], function)
    run([MM], function, allow_cache_entry_mutation=True)


def test_one_backward_pass_alone():
    x = taeda.ones(2, 2, requires_grad=True)
    y = checkpoint(
        lambda x: (x @ x).sin().sin(),
        x,
        use_reentrant=False,
        context_fn=lambda: create_selective_checkpoint_contexts([MM]),
    )
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="one backward pass"):
        y.sum().backward()


def test_errors():
    with pytest.raises(TypeError, match="function or a list"):
        create_selective_checkpoint_contexts(3)
    with pytest.raises(ValueError, match="overload"):
        create_selective_checkpoint_contexts([taeda.mm])
