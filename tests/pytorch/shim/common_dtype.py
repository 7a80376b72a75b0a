"""Lists of dtypes the tests iterate over (missing dtypes are left out)."""

import torch


def _d(*names):
    return tuple(getattr(torch, n) for n in names if hasattr(torch, n))


_INT = _d("uint8", "int8", "int16", "int32", "int64")
_FLOAT = _d("float32", "float64")
_COMPLEX = _d("complex64", "complex128")


class Tuple(tuple):
    def __add__(self, o):
        return Tuple(tuple(self) + tuple(o))


def _u(*groups):
    seen = []
    for g in groups:
        for x in g if isinstance(g, (tuple, list)) else (g,):
            if x not in seen:
                seen.append(x)
    return Tuple(seen)


def floating_types():
    return _u(_FLOAT)


def floating_types_and_half():
    return _u(_FLOAT, _d("float16"))


def floating_types_and(*d):
    return _u(_FLOAT, d)


def complex_types():
    return _u(_COMPLEX)


def complex_types_and(*d):
    return _u(_COMPLEX, d)


def floating_and_complex_types():
    return _u(_FLOAT, _COMPLEX)


def floating_and_complex_types_and(*d):
    return _u(_FLOAT, _COMPLEX, d)


def integral_types():
    return _u(_INT)


def integral_types_and(*d):
    return _u(_INT, d)


def double_types():
    return _d("float64", "complex128")


def all_types():
    return _u(_FLOAT, _INT)


def all_types_and(*d):
    return _u(_FLOAT, _INT, d)


def all_types_and_complex():
    return _u(_FLOAT, _INT, _COMPLEX)


def all_types_and_complex_and(*d):
    return _u(_FLOAT, _INT, _COMPLEX, d)


def all_types_and_half():
    return _u(_FLOAT, _INT, _d("float16"))


def all_types_complex_float8_and(*d):
    return _u(_FLOAT, _INT, _COMPLEX, _d("float8_e4m3fn", "float8_e5m2"), d)


def custom_types(*d):
    return _u(d)


def empty_types():
    return _u()


def get_all_dtypes(
    include_half=True,
    include_bfloat16=True,
    include_bool=True,
    include_complex=True,
    include_complex32=False,
    include_qint=False,
):
    r = get_all_int_dtypes() + get_all_fp_dtypes(include_half, include_bfloat16)
    return (
        r
        + (list(_d("bool")) if include_bool else [])
        + (get_all_complex_dtypes(include_complex32) if include_complex else [])
    )


def get_all_math_dtypes(device="cpu"):
    return (
        get_all_int_dtypes()
        + get_all_fp_dtypes(include_half=device.startswith("cuda"), include_bfloat16=False)
        + get_all_complex_dtypes()
    )


def get_all_complex_dtypes(include_complex32=False):
    return list((_d("complex32") if include_complex32 else ()) + _COMPLEX)


def get_all_int_dtypes():
    return list(_INT)


def get_all_fp_dtypes(include_half=True, include_bfloat16=True):
    return list(_FLOAT + (_d("float16") if include_half else ()) + (_d("bfloat16") if include_bfloat16 else ()))


def get_all_qint_dtypes():
    return list(_d("qint8", "quint8", "qint32", "quint4x2", "quint2x4"))


float_to_corresponding_complex_type_map = {
    getattr(torch, a): getattr(torch, b)
    for a, b in (("float16", "complex32"), ("float32", "complex64"), ("float64", "complex128"))
    if hasattr(torch, a) and hasattr(torch, b)
}
_dispatch_dtypes = Tuple


def highest_precision_float(device):
    return torch.float64


def __getattr__(n):
    if n.startswith("__"):
        raise AttributeError(n)
    from stand_ins import fallback

    return fallback(__name__, n)
