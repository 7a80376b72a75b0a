"""`parametrize` and its kind: one test for each of several arguments."""

import enum
import functools
import re

import torch


class subtest:
    def __init__(self, arg_values, name=None, decorators=None):
        self.arg_values, self.name, self.decorators = arg_values, name, decorators or []


def dtype_name(d):
    return str(d).split(".")[-1]


def _pretty(name, v):
    if isinstance(v, torch.dtype):
        return dtype_name(v)
    bound = hasattr(type(v), "__members__") and not isinstance(v, enum.Enum)  # PyTorch's enumerations of C++
    if bound or isinstance(v, (int, float, str, bool, type(None))):
        return re.sub(r"\W", "_", f"{name}_{v}")
    if hasattr(v, "formatted_name"):
        return v.formatted_name
    return re.sub(r"\W", "_", "{}_{}".format(name, getattr(v, "__name__", type(v).__name__)))


class _TestParametrizer:
    """Subclasses yield (test, name_suffix, kwargs, decorators_for(kwargs))."""

    def _parametrize_test(self, test, generic_cls, device_cls):
        raise NotImplementedError

    def __call__(self, fn):
        mine, other = self._parametrize_test, getattr(fn, "parametrize_fn", None)
        fn.parametrize_fn = mine if other is None else functools.partial(compose_parametrize_fns, mine, other)
        return fn


def compose_parametrize_fns(a, b, test, generic_cls, device_cls):
    """Cartesian product of two parametrisations of the same test."""
    for t, s1, k1, d1 in b(test, generic_cls, device_cls):
        for t2, s2, k2, d2 in a(t, generic_cls, device_cls):
            both = dict(k1, **k2)
            yield t2, "_".join(x for x in (s2, s1) if x), both, (lambda p, d1=d1, d2=d2: list(d1(p)) + list(d2(p)))


def _no_decorators(params):
    return []


class parametrize(_TestParametrizer):
    def __init__(self, arg_str, arg_values, name_fn=None):
        self.names = [s.strip() for s in arg_str.split(",") if s.strip()]
        self.values, self.name_fn = arg_values, name_fn

    def _parametrize_test(self, test, generic_cls, device_cls):
        if not self.names:
            yield test, "", {}, _no_decorators
            return
        for _i, v in enumerate(list(self.values)):
            deco, given = _no_decorators, None
            if isinstance(v, subtest):
                deco, given, v = (lambda p, d=v.decorators: d), v.name, v.arg_values
            vals = list(v) if len(self.names) > 1 else [v]
            if len(vals) != len(self.names):
                raise RuntimeError("parametrize: %d names, %d values" % (len(self.names), len(vals)))
            kw = dict(zip(self.names, vals))
            if given is None:
                given = self.name_fn(*vals) if self.name_fn else "_".join(_pretty(n, x) for n, x in kw.items())
            yield test, str(given), kw, deco


class reparametrize(_TestParametrizer):
    def __init__(self, parametrizer, adapter):
        self.p, self.adapter = parametrizer, adapter

    def _parametrize_test(self, test, generic_cls, device_cls):
        for t, s, k, d in self.p._parametrize_test(test, generic_cls, device_cls):
            r = self.adapter(s, k)
            for s2, k2 in [] if r is None else [r] if isinstance(r, tuple) else r:
                yield t, s2, k2, d


def apply_decorators(fn, decos):
    for d in decos:
        fn = d(fn)
    return fn


def instantiate_parametrized_tests(cls):
    for name in [n for n in dir(cls) if n.startswith("test")]:
        fn = getattr(cls, name)
        if not hasattr(fn, "parametrize_fn"):
            continue
        make = fn.parametrize_fn
        setattr(cls, name, None)  # hide the generic version
        for t, suffix, kw, deco in make(fn, cls, None):

            def bound(self, _t=t, _kw=kw):
                return _t(self, **_kw)

            functools.update_wrapper(bound, t, updated=())
            if hasattr(bound, "__wrapped__"):
                del bound.__wrapped__
            for k, v in t.__dict__.items():
                if k != "parametrize_fn" and k != "__wrapped__":
                    setattr(bound, k, v)
            new = name + ("_" + re.sub(r"\W", "_", suffix) if suffix else "")
            bound.__name__ = new
            extra = [x for p in getattr(t, "_decorate_if", ()) for x in p(kw)]
            setattr(cls, new, apply_decorators(bound, list(deco(kw)) + extra))
    return cls
