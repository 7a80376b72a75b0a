"""`assertEqual` of anything that tests compare, through NumPy."""

import numbers

import numpy as np
import torch
from torch.testing._internal._parametrising import dtype_name


# ------------------------------------------------------------------ dtype tables
def _pairs():
    for n, t in (
        ("bool", "bool"),
        ("uint8", "uint8"),
        ("uint16", "uint16"),
        ("uint32", "uint32"),
        ("uint64", "uint64"),
        ("int8", "int8"),
        ("int16", "int16"),
        ("int32", "int32"),
        ("int64", "int64"),
        ("float16", "float16"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("complex64", "complex64"),
        ("complex128", "complex128"),
    ):
        if hasattr(torch, t):
            yield n, getattr(torch, t)


numpy_to_torch_dtype_dict = {(np.bool_ if n == "bool" else getattr(np, n)): t for n, t in _pairs()}
torch_to_numpy_dtype_dict = {t: n for n, t in numpy_to_torch_dtype_dict.items()}
if hasattr(torch, "bfloat16"):
    torch_to_numpy_dtype_dict[torch.bfloat16] = np.float32
if hasattr(torch, "complex32"):
    torch_to_numpy_dtype_dict[torch.complex32] = np.complex64


def numpy_to_torch_dtype(d):
    return numpy_to_torch_dtype_dict[np.dtype(d).type]


# (rtol, atol)
_TOL = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
dtype2prec_DONTUSE = {
    getattr(torch, n): p
    for n, p in (("float32", 1e-5), ("float64", 1e-5), ("float16", 1e-2), ("bfloat16", 1e-1))
    if hasattr(torch, n)
}


def _np(t):
    """Tensor -> numpy (bfloat16 etc. widened)."""
    t = t.detach()
    if getattr(t, "is_quantized", False) is True:
        t = t.dequantize()
    if str(getattr(t, "layout", "")) != str(getattr(torch, "strided", "")):
        t = t.to_dense()
    for f in ("resolve_conj", "resolve_neg"):
        if hasattr(t, f):
            t = getattr(t, f)()
    n = dtype_name(t.dtype)
    if n == "bfloat16" or n.startswith("float8"):
        t = t.to(torch.float32)
    elif n == "complex32":
        t = t.to(torch.complex64)
    return t.cpu().numpy()


def _is_num(x):
    return isinstance(x, (numbers.Number, np.number, np.bool_)) or (
        hasattr(torch, "SymInt") and isinstance(x, (torch.SymInt, torch.SymFloat))
    )


def _nn_types(*names):
    nn = getattr(torch, "nn", None)
    return tuple(getattr(nn, n) for n in names if hasattr(nn, n))


def _seq_like(x):
    import collections.abc

    if isinstance(x, (str, bytes, torch.Tensor)):
        return False
    sub = getattr(getattr(getattr(torch, "utils", None), "data", None), "Subset", ())
    return isinstance(
        x,
        (collections.abc.Sequence,)
        + _nn_types("Sequential", "ModuleList", "ParameterList")
        + _shared("ScriptList")
        + ((sub,) if sub else ()),
    )


def _mapping_types():
    import collections.abc

    return (collections.abc.Mapping,) + _nn_types("ModuleDict", "ParameterDict") + _shared("ScriptDict")


def _shared(name):
    return (getattr(torch, name),) if hasattr(torch, name) else ()


class Comparison:
    # --- equality of anything the tests compare
    def assertEqual(
        self,
        x,
        y,
        msg=None,
        *,
        atol=None,
        rtol=None,
        equal_nan=True,
        exact_dtype=True,
        exact_device=False,
        exact_layout=False,
        exact_stride=False,
        exact_is_coalesced=False,
    ):
        if (rtol is None) != (atol is None):
            rtol, atol = rtol or 0, atol or 0
        o = dict(
            atol=atol,
            rtol=rtol,
            nan=equal_nan,
            dtype=exact_dtype,
            device=exact_device,
            layout=exact_layout,
            stride=exact_stride,
            coalesced=exact_is_coalesced,
        )
        err = self._diff(x, y, o, "")
        if err:
            if callable(msg):
                err = msg(err)
            elif msg:
                err = f"{err}\n{msg}"
            raise self.failureException(err)

    def assertNotEqual(self, x, y, msg=None, *, atol=None, rtol=None, **k):
        try:
            self.assertEqual(x, y, msg, atol=atol, rtol=rtol, **k)
        except AssertionError:
            return
        raise self.failureException(msg or f"values are equal: {x!r}")

    def _diff(self, x, y, o, at):
        T = torch.Tensor
        if hasattr(torch, "storage"):
            ts = tuple(
                c
                for c in (getattr(torch.storage, "TypedStorage", None), getattr(torch.storage, "UntypedStorage", None))
                if c
            )
            if ts and (isinstance(x, ts) or isinstance(y, ts)):
                return self._diff(list(x), list(y), o, at + " (storage)")
        if (
            isinstance(x, np.ndarray)
            and not isinstance(y, np.ndarray)
            and isinstance(y, T)
            or isinstance(y, np.ndarray)
            and isinstance(x, T)
        ):
            x, y = (
                torch.from_numpy(np.array(v)) if isinstance(v, np.ndarray) and v.dtype.kind in "biufc" else v
                for v in (x, y)
            )
            return self._diff_tensor(x, y, o, at)
        if isinstance(x, T) and isinstance(y, T):
            return self._diff_tensor(x, y, o, at)
        if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
            return self._diff_arrays(x, y, o, at, str(x.dtype), str(y.dtype))
        if _is_num(x) and _is_num(y):
            return self._diff_num(x, y, o, at)
        for a, b in ((x, y), (y, x)):
            if _is_num(a) and isinstance(b, (T, np.ndarray)):
                n = b.numel() if isinstance(b, T) else b.size
                if n != 1:
                    return "%s: number %r against %d elements" % (at, a, n)
                tol = _TOL.get(dtype_name(b.dtype), (0, 0))
                return self._diff_num(x if a is x else b.item(), b.item() if a is x else y, o, at, tol)
        if isinstance(x, str) or isinstance(y, str):
            return None if x == y else f"{at}: {x!r} != {y!r}"
        for a, b in ((x, y), (y, x)):
            if (
                isinstance(a, (list, tuple))
                and isinstance(b, (T, np.ndarray))
                and not isinstance(a, getattr(torch, "Size", ()))
            ):
                if isinstance(b, T):
                    t = (
                        torch.as_tensor(a, dtype=b.dtype)
                        if not any(isinstance(i, T) for i in a)
                        else torch.stack([torch.as_tensor(i, dtype=b.dtype) for i in a])
                    )
                else:
                    t = np.asarray(a, dtype=b.dtype)
                return self._diff(t, b, o, at) if a is x else self._diff(b, t, o, at)
        if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)) or type(x).__name__ == "deque":
            if len(x) != len(y):
                return "%s: lengths %d and %d" % (at, len(x), len(y))
            for i, (a, b) in enumerate(zip(x, y)):
                e = self._diff(a, b, o, "%s[%d]" % (at, i))
                if e:
                    return e
            return None
        if _seq_like(x) and _seq_like(y):
            return self._diff(list(x), list(y), o, at)
        if isinstance(x, _mapping_types()) and isinstance(y, _mapping_types()):
            x, y = ({k: v[k] for k in v} for v in (x, y))
            if set(x) != set(y):
                return f"{at}: keys {sorted(map(str, x))!r} and {sorted(map(str, y))!r}"
            for k in x:
                e = self._diff(x[k], y[k], o, f"{at}[{k!r}]")
                if e:
                    return e
            return None
        try:
            same = bool(x == y)
        except Exception as ex:
            return f"{at}: cannot compare {type(x).__name__} and {type(y).__name__} ({ex})"
        return None if same else f"{at}: {x!r} != {y!r}"

    def _limits(self, o, *names, base=None):
        if o["rtol"] is not None:
            return max(o["rtol"], self._rel_tol), max(o["atol"], self._precision)
        r = max([_TOL.get(n, (0, 0))[0] for n in names] + [base[0] if base else 0])
        a = max([_TOL.get(n, (0, 0))[1] for n in names] + [base[1] if base else 0])
        return max(r, self._rel_tol), max(a, self._precision)

    def _diff_num(self, x, y, o, at, base=None):
        if isinstance(x, bool) != isinstance(y, bool) and not (base or o["dtype"] is False):
            x, y = (int(v) if isinstance(v, bool) else v for v in (x, y))
        isint = lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool)
        kind = "complex128" if isinstance(x, complex) or isinstance(y, complex) else "float64"
        r, a = (0, 0) if isint(x) and isint(y) and o["rtol"] is None else self._limits(o, kind, base=base)
        if x == y or (o["nan"] and x != x and y != y):
            return None
        try:
            if isint(x) and isint(y) and not (r or a):
                ok = False
            else:
                ok = abs(x - y) <= a + r * abs(y)
        except OverflowError:
            ok = False
        return None if ok else f"{at}: {x!r} != {y!r} (rtol {r:g} atol {a:g})"

    def _diff_tensor(self, x, y, o, at):
        if tuple(x.shape) != tuple(y.shape):
            return f"{at}: shapes {tuple(x.shape)} and {tuple(y.shape)}"
        if o["dtype"] and x.dtype != y.dtype:
            return f"{at}: dtypes {x.dtype} and {y.dtype}"
        if o["layout"] and x.layout != y.layout:
            return f"{at}: layouts {x.layout} and {y.layout}"
        if o["device"] and x.device != y.device:
            return f"{at}: devices {x.device} and {y.device}"
        if o["stride"] and x.stride() != y.stride():
            return f"{at}: strides {x.stride()} and {y.stride()}"
        if o["coalesced"] and getattr(x, "is_sparse", False) and x.is_coalesced() != y.is_coalesced():
            return f"{at}: coalesced differs"
        if getattr(x, "is_meta", False) or getattr(y, "is_meta", False):
            return None
        if type(x) is not torch.Tensor or type(y) is not torch.Tensor:  # subclasses without .numpy()
            try:
                a, b = _np(x), _np(y)
            except (RuntimeError, TypeError):
                return (
                    None
                    if "Fake" in type(x).__name__ + type(y).__name__ or bool(torch.allclose(x, y, equal_nan=o["nan"]))
                    else f"{at}: differ"
                )
            return self._diff_arrays(a, b, o, at, dtype_name(x.dtype), dtype_name(y.dtype), False)
        return self._diff_arrays(_np(x), _np(y), o, at, dtype_name(x.dtype), dtype_name(y.dtype), False)

    def _diff_arrays(self, a, b, o, at, na, nb, check=True):
        if a.shape != b.shape:
            return f"{at}: shapes {a.shape} and {b.shape}"
        if check and o["dtype"] and a.dtype != b.dtype:
            return f"{at}: dtypes {a.dtype} and {b.dtype}"
        if a.dtype.kind not in "biufc":
            return None if (a == b).all() else f"{at}: arrays differ"
        r, t = self._limits(o, na, nb)
        with np.errstate(all="ignore"):
            if a.dtype.kind in "bui" and b.dtype.kind in "bui" and not (r or t):
                ok = a == b
            else:
                w = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
                p, q = a.astype(w), b.astype(w)
                ok = (p == q) | (np.abs(p - q) <= t + r * np.abs(q))
                if o["nan"]:
                    ok |= np.isnan(p) & np.isnan(q)
        if np.all(ok):
            return None
        i = tuple(int(v[0]) for v in np.nonzero(~np.atleast_1d(ok)))
        return "%s: %d of %d elements differ, first at %s: %s and %s (rtol %g atol %g)" % (
            at,
            int((~np.asarray(ok)).sum()),
            a.size,
            i,
            np.atleast_1d(a)[i],
            np.atleast_1d(b)[i],
            r,
            t,
        )

    def assertEqualIgnoreType(self, *a, **k):
        return self.assertEqual(*a, exact_dtype=False, **k)

    def assertEqualBroadcasting(self, x, y, *a, **k):
        if not isinstance(y, (list, tuple)) and not isinstance(y, torch.Tensor):
            y = torch.ones_like(x) * y
        if not isinstance(y, torch.Tensor):
            y = torch.ones_like(x) * torch.tensor(y)
        return self.assertEqual(x, y, *a, **k)

    def assertEqualTypeString(self, x, y):
        self.assertEqual(x.device, y.device)
        self.assertEqual(x.dtype, y.dtype)
        self.assertEqual(x.is_sparse, y.is_sparse)

    def assertObjectIn(self, obj, it):
        if not any(o is obj for o in it):
            raise self.failureException("object not found")
