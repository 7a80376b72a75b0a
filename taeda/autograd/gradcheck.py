"""Gradients against finite differences: ``gradcheck`` and ``gradgradcheck``.

A complex tensor is treated as its real and imaginary parts, on both sides. With ``L = Re(conj(g) * f(x))`` autograd's
convention makes the gradient ``dL/dRe(x) + i dL/dIm(x)``, so that in these real coordinates a backward pass is the
transposed Jacobian times ``g``, and complex functions need no case of their own.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._tensor.sparse_methods import SPARSE
from taeda.autograd._functions import Undefined
from taeda.autograd._jacobians import _get_numerical_jacobian as _get_numerical_jacobian
from taeda.autograd._jacobians import _iter_tensors as _iter_tensors
from taeda.autograd._jacobians import get_analytical_jacobian as get_analytical_jacobian
from taeda.autograd._jacobians import get_numerical_jacobian as get_numerical_jacobian

_BATCH = 2


class GradcheckError(RuntimeError):
    """The gradients that a function computes are not those that it should."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of ``func`` with central differences ``(f(x + eps) - f(x - eps)) / (2 eps)``.

    Args:
        func: takes the inputs, returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple; those that require gradients (float64 or complex128, or ``eps`` drowns in
            rounding) are checked. They are perturbed in place, and restored.
        eps: the perturbation.
        atol: absolute tolerance on every entry of the Jacobian.
        rtol: relative tolerance.
        raise_exception: raise on failure, or return False.
        nondet_tol: how far two backward passes over one graph may differ.
        check_undefined_grad: also run backward with undefined gradients, as other parts of a graph may, and forward
            mode with undefined tangents.
        check_grad_dtypes: also require each gradient to have its input's dtype.
        check_batched_grad: also compare ``is_grads_batched=True`` with a loop.
        check_batched_forward_grad: also compare ``vmap`` over forward mode with a loop; needs ``check_forward_ad``.
        check_forward_ad: also check forward mode.
        check_backward_ad: check backward mode.
        fast_mode: check the Jacobian along one random direction, ``u' J v``, in place of every entry.
        masked: of sparse inputs: check the derivative by the stored values, else by all elements.

    Returns:
        True if everything agrees.

    Raises:
        GradcheckError: something disagrees.
        ValueError: no input requires gradients, nothing is to be checked, or an argument does not fit.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "taeda.autograd.gradcheck: nothing to check: check_backward_ad and check_forward_ad are False"
        )
    if check_batched_grad and not check_backward_ad:
        raise ValueError("taeda.autograd.gradcheck: check_batched_grad needs check_backward_ad")
    if check_batched_forward_grad and not check_forward_ad:
        raise ValueError("taeda.autograd.gradcheck: check_batched_forward_grad needs check_forward_ad")
    if any(isinstance(x, Tensor) and x.layout in SPARSE for x in _as_tuple(inputs)):
        from taeda.sparse._gradcheck import by_values

        func, inputs = by_values(func, _as_tuple(inputs), bool(masked))
    try:
        check = _Check(func, inputs, eps, atol, rtol, fast_mode)
        if not check.outputs:
            check.numerical_is_zero()
            return True
        if check_forward_ad:
            check.forward()
            if check_undefined_grad:
                check.undefined_tangents()
            if check_batched_forward_grad:
                check.batched_forward()
        if check_backward_ad:
            check.backward(nondet_tol, check_grad_dtypes)
            if check_batched_grad:
                check.batched_backward()
            check.zero_gradients()
            if check_undefined_grad:
                check.undefined_gradients()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check second derivatives: ``gradcheck`` of the function's backward pass.

    Args:
        func: as for ``gradcheck``.
        inputs: as for ``gradcheck``.
        grad_outputs: gradients of the outputs to go backward from; random if None.
        gen_non_contig_grad_outputs: make the random ones non-contiguous.
        check_fwd_over_rev: check the backward pass by forward mode.
        check_rev_over_rev: check the backward pass by backward mode.

    The others are as for ``gradcheck``, and so are the errors.
    """
    args = inputs if isinstance(inputs, tuple) else tuple(inputs) if isinstance(inputs, list) else (inputs,)
    if grad_outputs is None:
        grad_outputs = _random_grad_outputs(func(*args), gen_non_contig_grad_outputs)
    seeds = grad_outputs if isinstance(grad_outputs, tuple) else tuple(_as_tuple(grad_outputs))
    count = len(seeds)

    def first_derivative(*both: Any) -> tuple[Tensor, ...]:
        points, directions = both[: len(both) - count], both[len(both) - count :]
        for was, point in zip(args, points, strict=True):
            if isinstance(was, Tensor) and was.requires_grad and not point.requires_grad:
                point.requires_grad_()  # in forward mode they come without
        outputs = _differentiable(func(*points))
        wanted = [x for x in points if isinstance(x, Tensor) and x.requires_grad]
        grads = taeda.autograd.grad(outputs, wanted, directions, create_graph=True, allow_unused=True)
        return tuple(grad for grad in grads if grad is not None)

    return gradcheck(
        first_derivative,
        (*args, *seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_grad_outputs(outputs: Any, noncontiguous: bool) -> tuple[Tensor, ...]:
    from taeda.testing import make_tensor

    return tuple(
        make_tensor(
            tuple(output.shape),
            dtype=output.dtype,
            device=output.device,
            low=-1,
            high=1,
            noncontiguous=noncontiguous,
            requires_grad=True,
        )
        for output in _differentiable(outputs)
    )


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _differentiable(outputs: Any) -> tuple[Tensor, ...]:
    return tuple(o for o in _as_tuple(outputs) if isinstance(o, Tensor) and o.requires_grad)


def _real(x: Tensor) -> Tensor:
    """A tensor's real coordinates as a vector: real and imaginary parts side by side for a complex one."""
    x = x.detach().resolve_conj().resolve_neg()
    return (taeda.view_as_real(x) if x.is_complex() else x).reshape(-1).clone()


def _from_real(vector: Tensor, like: Tensor) -> Tensor:
    """The tensor of ``like``'s shape and dtype with these real coordinates."""
    if like.is_complex():
        return taeda.view_as_complex(vector.to(like.real.dtype).reshape(*like.shape, 2))
    return vector.to(like.dtype).reshape(like.shape)


def _unit_vectors(x: Tensor) -> Iterator[Tensor]:
    """The coordinate directions of ``_real(x)``."""
    size = x.numel() * (2 if x.is_complex() else 1)
    for index in range(size):
        vector = taeda.zeros(size, dtype=taeda.float64, device=x.device)
        vector[index] = 1
        yield vector


def _random_direction(x: Tensor, seed: int) -> Tensor:
    """A random unit vector among ``_real(x)``'s directions; the global generator is left alone."""
    generator = taeda.Generator().manual_seed(seed)
    size = x.numel() * (2 if x.is_complex() else 1)
    vector = taeda.randn(size, generator=generator, dtype=taeda.float64)
    return (vector / vector.norm().clamp(min=1e-12)).to(x.device)


class _Check:
    """One function at one point, with everything that ``gradcheck`` asks of it.

    A Jacobian is held as its columns (numerical, forward mode) or rows (backward mode), in real coordinates, for one
    output and one input at a time.
    """

    def __init__(self, func: Callable[..., Any], inputs: Any, eps: float, atol: float, rtol: float, fast: bool) -> None:
        self.func = func
        self.args = _as_tuple(inputs)
        self.eps, self.atol, self.rtol, self.fast = eps, atol, rtol, fast
        self.inputs = [x for x in self.args if isinstance(x, Tensor) and x.requires_grad]
        self._check_inputs()
        outputs = _as_tuple(func(*self.args))
        self._places = [k for k, o in enumerate(outputs) if isinstance(o, Tensor) and o.requires_grad]
        self.outputs = [outputs[k] for k in self._places]
        for output in self.outputs:
            if output.layout != taeda.strided:
                raise ValueError(f"taeda.autograd.gradcheck: outputs must be strided; got {output.layout}")
        self._numerical: list[list[list[Tensor]]] | None = None

    def _check_inputs(self) -> None:
        if not self.inputs:
            raise ValueError(
                "taeda.autograd.gradcheck: no input requires gradients; call requires_grad_() on those to check"
            )
        for index, x in enumerate(self.inputs):
            if x.layout != taeda.strided:
                raise ValueError(f"taeda.autograd.gradcheck: inputs must be strided; input {index} is {x.layout}")
            if x.dtype not in (taeda.float64, taeda.complex128):
                warnings.warn(
                    f"taeda.autograd.gradcheck: input {index} is {x.dtype}, too coarse for finite differences unless "
                    "eps, atol and rtol are enlarged; use float64 or complex128",
                    stacklevel=4,
                )
            if any(step == 0 and size > 1 for size, step in zip(x.shape, x.stride(), strict=True)):
                raise RuntimeError(
                    f"taeda.autograd.gradcheck: input {index} is expanded, so its elements cannot be perturbed one by "
                    "one; pass a clone with contiguous memory and expand it inside the function"
                )

    # Numerical derivatives

    def _directions(self, i: int) -> Iterator[Tensor]:
        if self.fast:
            return iter([_random_direction(self.inputs[i], 2 * i)])
        return _unit_vectors(self.inputs[i])

    def _difference_quotient(self, x: Tensor, direction: Tensor) -> list[Tensor]:
        """For each output, its change along ``direction`` of the input ``x``."""
        data = x.data  # shares memory, and autograd does not see the changes
        original = data.clone()
        step = _from_real(direction * self.eps, x)
        sides = []
        try:
            for sign in (1, -1):
                data.copy_(original + sign * step)
                sides.append([_real(output) for output in self._comparable_outputs()])
        finally:
            data.copy_(original)
        return [(above - below) / (2 * self.eps) for above, below in zip(*sides, strict=True)]

    def _comparable_outputs(self) -> list[Tensor]:
        outputs = _as_tuple(self.func(*self.args))
        if self.outputs:
            found = [outputs[k] for k in self._places]
            for j, (now, before) in enumerate(zip(found, self.outputs, strict=True)):
                if now.shape != before.shape or now.dtype != before.dtype:
                    raise AssertionError(
                        f"taeda.autograd.gradcheck: output {j} was {before.dtype} of shape {tuple(before.shape)}; with "
                        f"other values of the inputs it is {now.dtype} of shape {tuple(now.shape)}"
                    )
            return found
        return [o for o in outputs if isinstance(o, Tensor) and (o.is_floating_point() or o.is_complex())]

    def numerical(self) -> list[list[list[Tensor]]]:
        """``[input][direction][output]``: columns of the Jacobians, computed once."""
        if self._numerical is None:
            self._numerical = [
                [self._difference_quotient(x, direction) for direction in self._directions(i)]
                for i, x in enumerate(self.inputs)
            ]
        return self._numerical

    def numerical_is_zero(self) -> None:
        """A function that records no gradient should not depend on its inputs."""
        for i, columns in enumerate(self.numerical()):
            for column in itertools.chain.from_iterable(columns):
                if column.numel() and column.abs().max() > self.atol:
                    raise GradcheckError(
                        f"taeda.autograd.gradcheck: no output requires gradients, yet they change with input {i} "
                        f"(by {column.abs().max().item():.6g}); its gradient was lost on the way"
                    )

    # Backward mode

    def _vjp(self, j: int, grad: Tensor) -> list[Tensor]:
        """The gradients of all inputs from output ``j``'s gradient; zeros where there is none."""
        grads = taeda.autograd.grad(self.outputs[j], self.inputs, grad, retain_graph=True, allow_unused=True)
        return [taeda.zeros_like(x) if g is None else g for x, g in zip(self.inputs, grads, strict=True)]

    def backward(self, nondet_tol: float, check_dtypes: bool) -> None:
        numerical = self.numerical()
        if any(x._python_dispatch for x in self.inputs):  # what such a tensor wraps has noticed the changes
            outputs = _as_tuple(self.func(*self.args))
            self.outputs = [outputs[k] for k in self._places]
        for j, output in enumerate(self.outputs):
            seeds = [_random_direction(output, 2 * j + 1)] if self.fast else list(_unit_vectors(output))
            rows = []
            for seed in seeds:
                grad = _from_real(seed, output)
                grads, again = self._vjp(j, grad), self._vjp(j, grad)
                self._check_gradients(j, grads, again, nondet_tol, check_dtypes)
                rows.append([_real(g) for g in grads])
            for i, columns in enumerate(numerical):
                if self.fast:
                    self._compare_fast(i, j, seeds[0], rows[0][i], columns[0][j])
                elif rows and columns:
                    expected = taeda.stack([column[j] for column in columns], 1)
                    self._compare("backward mode", i, j, taeda.stack([row[i] for row in rows]), expected)

    def _check_gradients(
        self, j: int, grads: list[Tensor], again: list[Tensor], nondet_tol: float, check_dtypes: bool
    ) -> None:
        for i, (x, one, two) in enumerate(zip(self.inputs, grads, again, strict=True)):
            if check_dtypes and one.dtype != x.dtype:
                raise GradcheckError(
                    f"taeda.autograd.gradcheck: the gradient of input {i} is {one.dtype}, the input {x.dtype}"
                )
            spread = (one - two).abs().max().item() if one.numel() else 0.0
            if spread > nondet_tol:
                raise GradcheckError(
                    f"taeda.autograd.gradcheck: two backward passes from output {j} gave gradients of input {i} that "
                    f"differ by {spread:.6g}; if that is expected, allow it with nondet_tol"
                )

    def _compare_fast(self, i: int, j: int, u: Tensor, row: Tensor, column: Tensor) -> None:
        """``(u' J) v`` against ``u' (J v)``: errors of at most ``atol`` per entry add up to ``atol |u|_1 |v|_1``."""
        v = next(self._directions(i)).to(row.dtype)
        found, expected = (row * v).sum().item(), (column.to(u.dtype) * u).sum().item()
        allowed = self.rtol * abs(expected) + self.atol * u.abs().sum().item() * v.abs().sum().item()
        if not abs(found - expected) <= allowed:
            raise GradcheckError(
                f"taeda.autograd.gradcheck: along a random direction, output {j} with respect to input {i}: backward "
                f"mode gives {found:.8g}, finite differences {expected:.8g}; fast_mode=False shows which entries differ"
            )

    def _compare(self, mode: str, i: int, j: int, found: Tensor, expected: Tensor) -> None:
        found, expected = found.to(taeda.float64), expected.to(taeda.float64)
        close = taeda.isclose(found, expected, rtol=self.rtol, atol=self.atol, equal_nan=True)
        if bool(close.all()):
            return
        difference = (found - expected).abs().masked_fill(close, -1).nan_to_num(nan=float("inf"))
        row, column = divmod(int(difference.argmax()), expected.shape[1])
        raise GradcheckError(
            f"taeda.autograd.gradcheck: the Jacobian of output {j} with respect to input {i} by {mode} differs in "
            f"{int((~close).sum())} of {close.numel()} entries from finite differences. The farthest off: "
            f"d output{self._place(self.outputs[j], row)} / d input{self._place(self.inputs[i], column)} is "
            f"{found[row, column].item():.8g}, should be {expected[row, column].item():.8g}\n"
            f"{mode}:\n{found}\nfinite differences:\n{expected}"
        )

    @staticmethod
    def _place(x: Tensor, flat: int) -> str:
        """``[1, 2]``, or ``[1, 2].imag``, for a real coordinate."""
        part = ""
        if x.is_complex():
            flat, imag = divmod(flat, 2)
            part = ".imag" if imag else ".real"
        index = []
        for size in reversed(x.shape):
            flat, rest = divmod(flat, size)
            index.append(rest)
        return f"{index[::-1]}{part}"

    def zero_gradients(self) -> None:
        """A backward pass is linear: from zero it leads to zero."""
        for j, output in enumerate(self.outputs):
            for i, grad in enumerate(self._vjp(j, taeda.zeros_like(output))):
                if bool((grad != 0).any()):
                    raise GradcheckError(
                        f"taeda.autograd.gradcheck: the gradient of output {j} is zero, that of input {i} is not; "
                        "the backward pass does not multiply by the gradient that it is given"
                    )

    def undefined_gradients(self) -> None:
        """Backward must bear undefined gradients of any one output, or of all."""
        every = set(range(len(self.outputs)))
        for undefined in [every, *({j} for j in every)] if len(every) > 1 else [every]:
            outputs = self._comparable_outputs()
            cut = [Undefined.apply(o) if j in undefined else o for j, o in enumerate(outputs)]
            zeros = [taeda.zeros_like(o) for o in outputs]
            names = "all outputs" if undefined == every else f"output {min(undefined)}"
            try:
                grads = taeda.autograd.grad(cut, self.inputs, zeros, allow_unused=True)
            except Exception as error:
                warnings.warn(
                    "taeda.autograd.gradcheck: undefined gradients are checked, too, unless check_undefined_grad=False",
                    stacklevel=4,
                )
                raise GradcheckError(
                    f"taeda.autograd.gradcheck: backward failed with {names} undefined ({error}); a backward function "
                    "must accept undefined gradients (None in Python), or set_materialize_grads(True) make them zeros"
                ) from error
            for i, grad in enumerate(grads):
                if grad is not None and bool((grad != 0).any()):
                    raise GradcheckError(
                        f"taeda.autograd.gradcheck: with {names} undefined and the rest zero, input {i}'s gradient "
                        "is not zero"
                    )

    def batched_backward(self) -> None:
        for j, output in enumerate(self.outputs):
            seeds = [_from_real(_random_direction(output, 100 + b), output) for b in range(_BATCH)]
            looped = [self._vjp(j, seed) for seed in seeds]
            try:
                batched = taeda.autograd.grad(
                    output, self.inputs, taeda.stack(seeds), retain_graph=True, allow_unused=True, is_grads_batched=True
                )
            except RuntimeError as error:
                raise GradcheckError(f"taeda.autograd.gradcheck: a batched backward pass failed: {error}") from error
            for i, found in enumerate(batched):
                expected = taeda.stack([grads[i] for grads in looped])
                self._compare_batched(
                    "backward", i, j, taeda.zeros_like(expected) if found is None else found, expected
                )

    def _compare_batched(self, mode: str, i: int, j: int, found: Tensor, expected: Tensor) -> None:
        if not taeda.allclose(found, expected, rtol=self.rtol, atol=self.atol):
            raise GradcheckError(
                f"taeda.autograd.gradcheck: output {j} with respect to input {i}: batched {mode} mode and a loop differ"
                f"\nbatched:\n{found}\nlooped:\n{expected}"
            )

    # Forward mode

    def _jvp(self, i: int, tangent: Tensor) -> list[Tensor]:
        """The outputs' tangents for one of input ``i``; zeros where there is none."""
        return self._jvps([tangent if k == i else taeda.zeros_like(x) for k, x in enumerate(self.inputs)])

    def _jvps(self, given: list[Tensor | None]) -> list[Tensor]:
        from taeda.autograd import forward_ad

        with forward_ad.dual_level():
            duals = {
                id(x): x.detach() if tangent is None else forward_ad.make_dual(x.detach(), tangent)
                for x, tangent in zip(self.inputs, given, strict=True)
            }
            outputs = _as_tuple(self.func(*(duals.get(id(arg), arg) for arg in self.args)))
            outputs = tuple(outputs[k] for k in self._places)
            tangents = [forward_ad.unpack_dual(o).tangent for o in outputs]
        return [taeda.zeros_like(o) if t is None else t for o, t in zip(outputs, tangents, strict=True)]

    def _outputs_with(self, i: int, x: Tensor) -> tuple[Tensor, ...]:
        """The outputs with ``x`` in place of input ``i``."""
        outputs = _as_tuple(self.func(*(x if arg is self.inputs[i] else arg for arg in self.args)))
        return tuple(outputs[k] for k in self._places)

    def forward(self) -> None:
        for i, columns in enumerate(self.numerical()):
            x = self.inputs[i]
            found = [self._jvp(i, _from_real(direction, x)) for direction in self._directions(i)]
            for j in range(len(self.outputs)):
                if found and columns:
                    tangents = taeda.stack([_real(one[j]) for one in found], 1)
                    self._compare("forward mode", i, j, tangents, taeda.stack([column[j] for column in columns], 1))

    def undefined_tangents(self) -> None:
        """Forward mode must bear inputs without a tangent: one of them, or all others."""
        zeros = [taeda.zeros_like(x) for x in self.inputs]
        for i in range(len(zeros)):
            for alone in (True, False):
                given = [zero if (k == i) is alone else None for k, zero in enumerate(zeros)]
                names = f"all tangents but input {i}'s" if alone else f"input {i}'s tangent"
                try:
                    found = self._jvps(given)
                except Exception as error:
                    raise GradcheckError(
                        f"taeda.autograd.gradcheck: forward mode failed with {names} undefined ({error}); a jvp "
                        "function must accept undefined tangents (None in Python)"
                    ) from error
                if any(bool((tangent != 0).any()) for tangent in found):
                    raise GradcheckError(
                        f"taeda.autograd.gradcheck: with {names} undefined and the rest zero, an output's tangent is "
                        "not zero"
                    )

    def batched_forward(self) -> None:
        for i, x in enumerate(self.inputs):
            seeds = taeda.stack([_from_real(_random_direction(x, 200 + b), x) for b in range(_BATCH)])
            looped = [self._jvp(i, seed) for seed in seeds]

            point = x.detach().requires_grad_()

            def tangents(seed: Tensor, i: int = i, point: Tensor = point) -> tuple[Tensor, ...]:
                return taeda.func.jvp(lambda moved: self._outputs_with(i, moved), (point,), (seed,))[1]

            batched = taeda.func.vmap(tangents)(seeds)
            for j, found in enumerate(batched):
                self._compare_batched("forward", i, j, found, taeda.stack([one[j] for one in looped]))
