"""Derivatives of functions as values: ``vjp``, ``jvp``, ``jacobian``, ``hessian``, ``vhp`` and ``hvp``.

Inputs and results are a tensor, or a tuple of tensors, wherever the caller used one. Inside, everything is a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor

Tensors = tuple[Tensor, ...]
Function = Callable[..., Any]


def _tuple_of(value: Any, name: str, function: str) -> Tensors:
    values = value if isinstance(value, tuple) else (value,)
    for index, one in enumerate(values):
        if not isinstance(one, Tensor):
            shown = f"element {index} of {name}" if isinstance(value, tuple) else name
            raise TypeError(
                f"taeda.autograd.functional.{function}: {name} must be a tensor or a tuple of tensors; "
                f"{shown} is a {type(one).__name__}"
            )
    return values


def _like(values: Sequence[Any], model: Any) -> Any:
    """A tuple where the caller's ``model`` was one, else its only entry."""
    return tuple(values) if isinstance(model, tuple) else values[0]


def _trackable(values: Tensors, keep_history: bool) -> Tensors:
    """Copies of the inputs that share their memory and require gradients."""
    with taeda.enable_grad():
        return tuple(
            value.view_as(value) if keep_history and value.requires_grad else value.detach().requires_grad_()
            for value in values
        )


def _finished(values: Any, keep_history: bool) -> Any:
    """The results, cut from the graph unless the caller wants to go on differentiating."""
    if isinstance(values, tuple):
        return tuple(_finished(value, keep_history) for value in values)
    return values if keep_history else values.detach()


def _grad(
    outputs: Sequence[Tensor],
    inputs: Tensors,
    vectors: Sequence[Tensor | None],
    *,
    create_graph: bool,
    retain_graph: bool | None = None,
    batched: bool = False,
) -> tuple[Tensor | None, ...]:
    """``autograd.grad`` that takes outputs without history for constants."""
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return taeda.autograd.grad(
        [o for o, _ in pairs],
        inputs,
        [v for _, v in pairs],
        create_graph=create_graph,
        retain_graph=retain_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )


def _zeros_for_none(
    grads: Sequence[Tensor | None], like: Sequence[Tensor], function: str, strict: bool, what: str
) -> Tensors:
    filled = []
    for index, (grad, one) in enumerate(zip(grads, like, strict=True)):
        if grad is None and strict:
            raise RuntimeError(
                f"taeda.autograd.functional.{function}: {what} {index} does not enter the result; with strict=False "
                "its derivative is zero"
            )
        filled.append(taeda.zeros_like(one) if grad is None else grad)
    return tuple(filled)


def _check_strict(outputs: Tensors, function: str, strict: bool) -> None:
    for index, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"taeda.autograd.functional.{function}: output {index} does not depend on the inputs; "
                "strict=False makes its derivative zero"
            )


def _check_strict_graph(values: Any, inputs: Tensors, function: str, strict: bool, create_graph: bool) -> None:
    if strict and create_graph and any(x.requires_grad for x in inputs):
        for value in values:
            if not value.requires_grad:
                raise RuntimeError(
                    f"taeda.autograd.functional.{function}: the derivative does not depend on the inputs, so it cannot "
                    "be differentiated again; with strict=False its derivative is zero"
                )


def _vectors(v: Any, like: Tensors, function: str, of: str) -> Tensors:
    """The vector argument, or ones where there is only one number to choose."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"taeda.autograd.functional.{function}: v can only be left out where the {of} is a single number"
            )
        return (taeda.ones_like(like[0]),)
    vectors = _tuple_of(v, "v", function)
    if len(vectors) != len(like):
        raise RuntimeError(
            f"taeda.autograd.functional.{function}: v must have one tensor per {of}, {len(like)}; got {len(vectors)}"
        )
    for index, (vector, one) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != one.shape:
            raise RuntimeError(
                f"taeda.autograd.functional.{function}: v[{index}] must be of the {of}'s shape {tuple(one.shape)}; "
                f"got {tuple(vector.shape)}"
            )
    return vectors


def _scalar_output(outputs: Any, function: str) -> Tensor:
    values = _tuple_of(outputs, "the function's result", function)
    if len(values) != 1 or values[0].numel() != 1:
        raise RuntimeError(f"taeda.autograd.functional.{function}: the function must return a single number")
    return values[0]


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The vector ``v`` times the Jacobian of ``func`` at ``inputs``: one backward pass.

    Args:
        func: takes the inputs, returns a tensor or a tuple.
        inputs: a tensor or a tuple.
        v: of the outputs' shapes; may be left out where the output is a single number.
        create_graph: make the results differentiable.
        strict: raise where an output does not depend on an input, instead of returning zeros.

    Returns:
        The function's result, and the product, with the inputs' structure.

    Raises:
        TypeError: the inputs or outputs are not tensors.
        RuntimeError: ``v`` does not fit the outputs, or ``strict`` is violated.
    """
    points = _trackable(_tuple_of(inputs, "inputs", "vjp"), create_graph)
    with taeda.enable_grad():
        result = func(*points)
        outputs = _tuple_of(result, "the function's result", "vjp")
        _check_strict(outputs, "vjp", strict)
        vectors = _vectors(v, outputs, "vjp", "output")
        grads = _grad(outputs, points, vectors, create_graph=create_graph)
        product = _zeros_for_none(grads, points, "vjp", strict, "input")
        _check_strict_graph(product, points, "vjp", strict, create_graph)
    return _like(_finished(outputs, create_graph), result), _like(_finished(product, create_graph), inputs)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The Jacobian of ``func`` at ``inputs`` times the vector ``v``.

    Computed by two backward passes: the first is linear in the vector it starts from, and its derivative with respect
    to that vector is the product (Townsend, "A new trick for calculating Jacobian vector products", 2017).

    Args:
        func: takes the inputs, returns a tensor or a tuple.
        inputs: a tensor or a tuple.
        v: of the inputs' shapes; may be left out where the input is a single number.
        create_graph: make the results differentiable.
        strict: raise where an output does not depend on an input, instead of returning zeros.

    Returns:
        The function's result, and the product, with the outputs' structure.

    Raises:
        TypeError: the inputs or outputs are not tensors.
        RuntimeError: ``v`` does not fit the inputs, or ``strict`` is violated.
    """
    points = _trackable(_tuple_of(inputs, "inputs", "jvp"), create_graph)
    vectors = _vectors(v, points, "jvp", "input")
    with taeda.enable_grad():
        result = func(*points)
        outputs = _tuple_of(result, "the function's result", "jvp")
        _check_strict(outputs, "jvp", strict)
        seeds = tuple(taeda.zeros_like(output).requires_grad_() for output in outputs)
        first = _zeros_for_none(_grad(outputs, points, seeds, create_graph=True), points, "jvp", strict, "input")
        second = _grad(first, seeds, vectors, create_graph=create_graph)
        product = _zeros_for_none(second, outputs, "jvp", strict, "output")
        _check_strict_graph(product, points, "jvp", strict, create_graph)
    return _like(_finished(outputs, create_graph), result), _like(_finished(product, create_graph), result)


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """All first derivatives of ``func`` at ``inputs``.

    Args:
        func: takes the inputs, returns a tensor or a tuple.
        inputs: a tensor or a tuple.
        create_graph: make the result differentiable.
        strict: raise where an output does not depend on an input, instead of returning zeros.
        vectorize: run the passes as one batch.
        strategy: ``"reverse-mode"``, one pass per output element, or ``"forward-mode"``, one per input element;
            the latter only with ``vectorize``.

    Returns:
        For one output and one input a tensor of shape ``output.shape + input.shape``; a tuple over inputs, over
        outputs, or over outputs of tuples over inputs where there are tuples of them.

    Raises:
        TypeError: the inputs or outputs are not tensors.
        RuntimeError: ``strict`` is violated, or used with ``vectorize``.
        NotImplementedError: forward mode without ``vectorize``, as in PyTorch.
        ValueError: another strategy.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise ValueError(
            f"taeda.autograd.functional.jacobian: strategy must be 'forward-mode' or 'reverse-mode'; got {strategy!r}"
        )
    if strict and vectorize:
        raise RuntimeError("taeda.autograd.functional.jacobian: strict=True cannot be checked with vectorize=True")
    points = _tuple_of(inputs, "inputs", "jacobian")
    if strategy == "forward-mode":
        if not vectorize:
            raise NotImplementedError("taeda.autograd.functional.jacobian: forward-mode needs vectorize=True")
        return _forward_jacobian(func, inputs, _trackable(points, True) if create_graph else points, create_graph)
    points = _trackable(points, create_graph)
    with taeda.enable_grad():
        result = func(*points)
        outputs = _tuple_of(result, "the function's result", "jacobian")
        _check_strict(outputs, "jacobian", strict)
        rows = [_jacobian_of(output, points, create_graph, strict, vectorize) for output in outputs]
    return _like([_like(_finished(row, create_graph), inputs) for row in rows], result)


def _jacobian_of(output: Tensor, points: Tensors, create_graph: bool, strict: bool, vectorize: bool) -> Tensors:
    """One output's Jacobians, by input."""
    count = output.numel()
    seeds = taeda.eye(count, dtype=output.dtype, device=output.device).reshape((count, *output.shape))
    if vectorize and len(seeds):
        grads = _grad([output], points, [seeds], create_graph=create_graph, retain_graph=True, batched=True)
        stacked = [
            g if g is not None else p.new_zeros(len(seeds), *p.shape) for g, p in zip(grads, points, strict=True)
        ]
    else:
        rows = []
        for seed in seeds:
            grads = _grad([output], points, [seed], create_graph=create_graph, retain_graph=True)
            rows.append(_zeros_for_none(grads, points, "jacobian", strict, "input"))
            _check_strict_graph(rows[-1], points, "jacobian", strict, create_graph)
        stacked = [taeda.stack(column) for column in zip(*rows, strict=True)]
        stacked = stacked or [p.new_zeros(0, *p.shape) for p in points]
    return tuple(g.reshape((*output.shape, *p.shape)) for g, p in zip(stacked, points, strict=True))


def _forward_jacobian(func: Function, inputs: Any, points: Tensors, create_graph: bool) -> Any:
    structure: list[Any] = []

    def flat(*args: Tensor) -> Tensors:
        result = func(*args)
        structure.append(result)
        return _tuple_of(result, "the function's result", "jacobian")

    columns = []  # by input, then by output
    for index, point in enumerate(points):
        count = point.numel()
        seeds = taeda.eye(count, dtype=point.dtype, device=point.device).reshape(count, *point.shape)

        def moved(seed: Tensor, index: int = index) -> Tensors:
            tangents = tuple(seed if i == index else taeda.zeros_like(p) for i, p in enumerate(points))
            return taeda.func.jvp(flat, points, tangents)[1]

        products = taeda.func.vmap(moved)(seeds)
        columns.append([p.movedim(0, -1).reshape((*p.shape[1:], *point.shape)) for p in products])
    rows = [tuple(row) for row in zip(*columns, strict=True)]
    return _like([_like(_finished(row, create_graph), inputs) for row in rows], structure[0])


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """All second derivatives of ``func``, which returns a single number, at ``inputs``.

    Args:
        func: takes the inputs, returns a tensor of one element.
        inputs: a tensor or a tuple.
        create_graph: make the result differentiable.
        strict: raise where a derivative does not depend on an input, instead of returning zeros.
        vectorize: run the passes as one batch.
        outer_jacobian_strategy: how the gradient is differentiated, as in ``jacobian``.

    Returns:
        A tensor of shape ``input.shape + input.shape``, or a tuple of tuples of shapes ``inputs[i].shape +
        inputs[j].shape``.

    Raises:
        as ``jacobian``; RuntimeError also if the function returns anything but a single number.
    """
    points = _tuple_of(inputs, "inputs", "hessian")

    def gradient(*args: Tensor) -> Any:
        output = _scalar_output(func(*args), "hessian")
        _check_strict((output,), "hessian", strict)
        grads = _grad([output], args, [taeda.ones_like(output)], create_graph=True)
        return _like(_zeros_for_none(grads, args, "hessian", strict, "input"), inputs)

    def transformed(*args: Tensor) -> Any:  # forward mode over a graph needs the gradient as a transform, too
        number = taeda.func.grad(
            lambda *xs: _scalar_output(func(*xs), "hessian").reshape(()), argnums=tuple(range(len(points)))
        )
        return _like(number(*args), inputs)

    if outer_jacobian_strategy == "forward-mode":
        gradient = transformed
    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The vector ``v`` times the Hessian of ``func``, which returns a single number, at ``inputs``.

    Arguments, results and errors are as for ``vjp``, with ``v`` of the inputs' shapes. For a twice continuously
    differentiable function this equals ``hvp``, and costs less.
    """
    points = _trackable(_tuple_of(inputs, "inputs", "vhp"), create_graph)
    vectors = _vectors(v, points, "vhp", "input")
    with taeda.enable_grad():
        result = func(*points)
        output = _scalar_output(result, "vhp")
        first = _gradient(output, points, "vhp", strict)
        second = _grad(first, points, vectors, create_graph=create_graph)
        product = _zeros_for_none(second, points, "vhp", strict, "input")
        _check_strict_graph(product, points, "vhp", strict, create_graph)
    return _like((_finished(output, create_graph),), result), _like(_finished(product, create_graph), inputs)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The Hessian of ``func``, which returns a single number, at ``inputs`` times the vector ``v``.

    Arguments, results and errors are as for ``vhp``; see ``jvp`` for the way it is computed.
    """
    points = _trackable(_tuple_of(inputs, "inputs", "hvp"), create_graph)
    vectors = _vectors(v, points, "hvp", "input")
    with taeda.enable_grad():
        result = func(*points)
        output = _scalar_output(result, "hvp")
        first = _gradient(output, points, "hvp", strict)
        seeds = tuple(taeda.zeros_like(point).requires_grad_() for point in points)
        linear = _grad(first, points, seeds, create_graph=True)
        filled = _zeros_for_none(linear, points, "hvp", strict, "input")
        product = _zeros_for_none(
            _grad(filled, seeds, vectors, create_graph=create_graph), points, "hvp", strict, "input"
        )
        _check_strict_graph(product, points, "hvp", strict, create_graph)
    return _like((_finished(output, create_graph),), result), _like(_finished(product, create_graph), inputs)


def _gradient(output: Tensor, points: Tensors, function: str, strict: bool) -> Tensors:
    _check_strict((output,), function, strict)
    grads = _grad([output], points, [taeda.ones_like(output)], create_graph=True)
    filled = _zeros_for_none(grads, points, function, strict, "input")
    _check_strict(filled, function, strict)
    return filled


def _construct_standard_basis_for(tensors: Sequence[Tensor], tensor_numels: Sequence[int]) -> tuple[Tensor, ...]:
    """The unit vectors of all elements of ``tensors`` together: for each tensor a matrix with a row for each of them,
    and a column for each of its own ``tensor_numels`` elements."""
    total = sum(tensor_numels)
    made, start = [], 0
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        part = taeda.zeros(total, count, dtype=tensor.dtype, device=tensor.device)
        part.diagonal(-start).fill_(1)
        made.append(part)
        start += count
    return tuple(made)
