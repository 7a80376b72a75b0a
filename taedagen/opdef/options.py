"""What a declaration may say besides its schema: each option, the kinds that take it, and what it means.

Every kind takes ``variants`` (of ``function``, ``method``, ``inplace``, ``out``, and ``inplace_function`` where the
in-place form is a function beside the method), ``module`` (the public namespace),
``dtypes`` and ``not_differentiable``.
"""

from __future__ import annotations

from difflib import get_close_matches

OF_ALL = ("variants", "module", "dtypes", "not_differentiable")
KINDS = ("pointwise", "reduction", "view", "kernel", "composite")

OPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "autocast": (KINDS, "what autocast does to its tensors: lower, fp32, or promote to the widest dtype"),
    "widest_of": (KINDS, "the arguments among which autocast='promote' looks for the widest dtype"),
    "number": (KINDS, "a tensor argument that Python callers may give as a number, in every overload"),
    "old_factor": (KINDS, "the keyword of the number that once stood right before the tensors that it scales"),
    "called": (KINDS, "the name in messages, where users call it by that of a Python function around it"),
    "unbound": (KINDS, "it has no name in Python outside taeda.ops"),
    "draws": (KINDS, "it may draw random numbers, though no overload takes a generator"),
    "samples": (KINDS, "calls for tests, where types say too little: a list of S(...), or the op whose samples serve"),
    "domain": (KINDS, "the interval of a sample's elements: of all arguments, by argument, or another op's"),
    "batch": (KINDS, "the rule of vmap, a function in taeda/func/_batched, and its options; 'inplace': in place, too"),
    "flops": (KINDS, "a formula in the arguments' shapes, the result's and prod, for taeda.utils.flop_counter"),
    "flat": (KINDS, "the arguments whose gradient does not change with them, but is differentiable again: to zeros"),
    "nondiff": (KINDS, "the results that never carry a gradient"),
    "scalar": (("pointwise", "composite"), "an argument, or a table of overload to arguments, that may be a number"),
    "promote": (("pointwise",), "how argument dtypes combine"),
    "dtype_out": (("pointwise",), "the result's dtype, where it is not the promoted one"),
    "check": (("pointwise",), "a function of csrc/shape/operands.h that the operands and numbers must pass"),
    "contiguous": (("pointwise",), "a new result keeps no layout of the operands: always, or with the 'number first'"),
    "masks": (("pointwise",), "the operands that are bool whatever the others are"),
    "operands": (("pointwise",), "the numbers that take part in promotion as tensors do"),
    "choices": (("pointwise",), "the words that a str argument may be; each has a loop of its own"),
    "constants": (("pointwise",), "numbers for which an argument has a loop of its own"),
    "result": (("reduction",), "the result's dtype"),
    "same_as": (("reduction",), "the declaration whose loops it shares"),
    "via": (("reduction",), "the dtype that elements are read as"),
    "absent": (("reduction",), "values that stand for optional arguments which are not given"),
    "nonempty": (("reduction",), "nothing to combine is an error, though it has an identity"),
    "out_widens": (("reduction",), "out may have a wider dtype than the result, as always where that is a float"),
    "shape": (("view", "kernel"), "the shape rule, a function of csrc/shape; 'dynamic' where only the data tell"),
    "files": (("kernel", "composite"), "where it is written by hand: csrc/{backend/*,composite}/<files>.cpp"),
    "any_device": (("kernel",), "one function serves all backends"),
    "geometry_only": (("kernel",), "no element of its tensors is read or written, so lazy conjugates come as they are"),
    "explicit": (("composite",), "autograd does not look inside"),
    "optional_grads": (("kernel",), "the derivative takes grads as they come, undefined where none flowed"),
    "node": (KINDS, "the number in its node's name, where that is not its place among the overloads; or by overload"),
    "inplace_overload": (KINDS, "the in-place form's overload name, where it is not the schema's own; or by overload"),
    "out_overload": (KINDS, "the out= form's, where it does not follow from the schema's own; or by overload"),
    "outs": (KINDS, "the names of out= parameters, where they are not the results'"),
    "own_out": (("kernel",), "out= may not share memory with an argument; else arguments that do are copied"),
    "out": (
        ("pointwise", "kernel", "composite"),
        "which dtypes out= takes: only the 'same'; or, not for pointwise, others with a 'type error', or 'any'",
    ),
}  # fmt: skip


def mistake(kind: str, options: dict[str, object]) -> str | None:
    """What is wrong with the options of a declaration; None if nothing is."""
    for name in options:
        if name not in OPTIONS:
            taken = sorted([*OF_ALL, *(n for n in OPTIONS if kind in OPTIONS[n][0])])
            close = "".join(f"; did you mean '{n}'?" for n in get_close_matches(name, taken, 1))
            return f"the option '{name}' is unknown{close}; a {kind} takes {', '.join(taken)}"
        if kind not in OPTIONS[name][0]:
            return f"the option '{name}' is for {' and '.join(OPTIONS[name][0])}, not for a {kind}"
    return None if kind != "view" or "shape" in options else "a view names its shape rule: shape='...'"
