"""Device-generic test instantiation, CPU only."""

import collections
import inspect
import re
import unittest

import torch
from torch.testing._internal.common_utils import (
    TestCase,
    _no_decorators,
    _TestParametrizer,
    apply_decorators,
    dtype_name,
)

tol = collections.namedtuple("tol", ["atol", "rtol"])
PYTORCH_CUDA_MEMCHECK = False
PYTORCH_TESTING_DEVICE_ONLY_FOR_KEY = "PYTORCH_TESTING_DEVICE_ONLY_FOR"
PYTORCH_TESTING_DEVICE_EXCEPT_FOR_KEY = "PYTORCH_TESTING_DEVICE_EXCEPT_FOR"
TEST_WITH_ROCM = False


class DeviceTypeTestBase(TestCase):
    device_type = "cpu"


class CPUTestBase(DeviceTypeTestBase):
    pass


def get_device_type_test_bases():
    return [CPUTestBase]


class OpDTypes:
    supported, unsupported, supported_backward, unsupported_backward, any_one, none, any_common_cpu_cuda_one = range(7)


def _args_of(fn):
    try:
        return list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return []


def instantiate_device_type_tests(
    cls, scope, except_for=None, only_for=None, include_lazy=False, allow_mps=False, allow_xpu=False, **kw
):
    scope.pop(cls.__name__, None)
    norm = lambda v: None if v is None else [v] if isinstance(v, str) else list(v)
    if (norm(only_for) and "cpu" not in norm(only_for)) or (norm(except_for) and "cpu" in norm(except_for)):
        return
    new = type(
        cls.__name__ + "CPU",
        (cls,),
        {
            "device_type": "cpu",
            "__module__": cls.__module__,
            "get_primary_device": classmethod(lambda c: "cpu"),
            "get_all_devices": classmethod(lambda c: ["cpu"]),
        },
    )
    # move fixtures down: generic classes call super(self.__class__, self).setUp(), which must not reach itself
    for name in ("setUp", "tearDown", "setUpClass", "tearDownClass"):
        if name in cls.__dict__:
            setattr(new, name, cls.__dict__[name])
            delattr(cls, name)
    for name in [n for n in dir(cls) if n.startswith("test")]:
        fn = getattr(cls, name)
        if not callable(fn):
            continue
        setattr(new, name, None)  # the generic version must not be collected
        gen = getattr(fn, "parametrize_fn", None)
        variants = gen(fn, cls, new) if gen else [(fn, "", {}, _no_decorators)]
        for t, suffix, params, deco in variants:
            ds = getattr(t, "dtypes", getattr(fn, "dtypes", None))
            ds = None if ds is None or "dtype" in params or "dtypes" in params else ds.get("cpu", ds.get("all"))
            for d in [None] if ds is None else ds:
                _add(new, name, t, suffix, dict(params), deco, d)
    scope[new.__name__] = new


def _add(new, name, test, suffix, params, deco, dtype):
    args = _args_of(test)
    label = [name] + ([re.sub(r"\W", "_", suffix)] if suffix else []) + ["cpu"]
    d = params.get("dtype", dtype)
    if dtype is not None:
        if isinstance(dtype, (list, tuple)):
            params["dtypes" if "dtypes" in args else "dtype"] = dtype
            label += [dtype_name(x) for x in dtype]
        else:
            params["dtype"] = dtype
            label.append(dtype_name(dtype))
    elif isinstance(d, torch.dtype) and dtype_name(d) not in suffix:
        label.append(dtype_name(d))
    if "device" in args and "device" not in params:
        params["device"] = "cpu"
    if "devices" in args and "devices" not in params:
        params["devices"] = ["cpu"]

    def run(self):
        dt = params.get("dtype")
        if isinstance(dt, torch.dtype):
            self.precision = max(self.precision, getattr(test, "precision_overrides", {}).get(dt, 0))
            over = getattr(test, "tolerance_overrides", {}).get(dt)
            if over:
                self.precision, self.rel_tol = over.atol, over.rtol
        return test(self, **params)

    run.__name__ = "_".join(label)
    run.__doc__ = None
    for k in ("__unittest_skip__", "__unittest_skip_why__", "__unittest_expecting_failure__"):
        if hasattr(test, k):
            setattr(run, k, getattr(test, k))
    extra = [x for p in getattr(test, "_decorate_if", ()) for x in p(params)]
    try:
        run = apply_decorators(run, list(deco(params)) + extra)
    except Exception:
        pass
    setattr(new, "_".join(label), run)


# ------------------------------------------------------------------ parametrising decorators
class dtypes:
    def __init__(self, *args, device_type="all"):
        if len(args) == 1 and isinstance(args[0], (list, tuple)) and not isinstance(args[0], torch.dtype):
            inner = args[0]
            if inner and all(isinstance(i, torch.dtype) for i in inner) and not isinstance(inner, list):
                args = args
            if args and isinstance(args[0], list):
                args = tuple(args[0])
        self.args, self.device_type = args, device_type

    def __call__(self, fn):
        d = dict(getattr(fn, "dtypes", {}))
        d[self.device_type] = self.args
        fn.dtypes = d
        return fn


def _for(device):
    class _D(dtypes):
        def __init__(self, *args):
            super().__init__(*args, device_type=device)

    return _D


dtypesIfCPU, dtypesIfCUDA, dtypesIfMPS, dtypesIfHPU, dtypesIfXPU, dtypesIfPRIVATEUSE1 = map(
    _for, ("cpu", "cuda", "mps", "hpu", "xpu", "privateuseone")
)


class ops(_TestParametrizer):
    """the op table is covered by `make compat`; here the op lists are empty unless supplied."""

    def __init__(self, op_list, *, dtypes=None, allowed_dtypes=None, skip_if_dynamo=True):
        self.op_list, self.dtypes, self.allowed = list(op_list), dtypes, allowed_dtypes

    def _parametrize_test(self, test, generic_cls, device_cls):
        for op in self.op_list:
            if self.dtypes == OpDTypes.none:
                yield test, op.name, {"op": op}, _no_decorators
                continue
            ds = self.dtypes if isinstance(self.dtypes, (list, tuple)) else op.supported_dtypes("cpu")
            for d in ds:
                if self.allowed is None or d in self.allowed:
                    yield test, op.name + "_" + dtype_name(d), {"op": op, "dtype": d}, _no_decorators


class precisionOverride:
    def __init__(self, d):
        self.d = d

    def __call__(self, fn):
        fn.precision_overrides = self.d
        return fn


class toleranceOverride:
    def __init__(self, d):
        self.d = d

    def __call__(self, fn):
        fn.tolerance_overrides = self.d
        return fn


def _update_param_kwargs(params, name, value):
    """Add value under `name`, or under the plural when it is a list; None adds nothing."""
    if isinstance(value, (list, tuple)):
        params[name + "s"] = value
    elif value is not None:
        params[name] = value


def _dtype_test_suffix(d):
    return "" if d is None else "_" + "_".join(dtype_name(x) for x in (d if isinstance(d, (list, tuple)) else [d]))


# ------------------------------------------------------------------ device filters
def _only_cuda(fn):
    return unittest.skip("only on other devices")(fn)


def _noop(fn):
    return fn


def _noop_factory(*a, **k):
    return a[0] if len(a) == 1 and callable(a[0]) and not k else _noop


onlyCUDA = onlyMPS = onlyXPU = onlyHPU = onlyPRIVATEUSE1 = onlyCUDAAndPRIVATEUSE1 = onlyAccelerator = _only_cuda
onlyCPU = onlyNativeDeviceTypes = onlyOnCPUAndCUDA = _noop
skipMeta = skipXLA = skipLazy = skipMPS = skipHPU = skipXPU = skipCUDAIfNoMagma = skipCUDAIfRocm = (
    skipCUDAIfNoCusolver
) = _noop_factory
skipCUDAIfNotRocm = skipCUDAIfNoMagmaAndNoCusolver = skipCUDAIfNoMagmaAndNoLinalgsolver = skipCUDAIfNoCudnn = (
    skipCUDAIfMiopen
) = _noop_factory
expectedFailureMeta = expectedFailureXLA = expectedFailureMPS = expectedFailureCUDA = expectedFailureMPSPre15 = (
    expectedFailureHPU
) = _noop_factory
disablecuDNN = disableMkldnn = skipCUDAIfNoSparseGeneric = skipGPUIf = skipMPSIf = skipXPUIf = _noop_factory
skipCUDAIfNoMiopen = skipCUDAIfNotMiopenSuggestNHWC = _noop_factory


def onlyNativeDeviceTypesAnd(devices=None):
    return _noop


def _cuda_if(*a, **k):
    return _noop


skipCUDAIf = skipCUDAVersionIn = skipCUDAIfRocmVersionLessThan = skipCUDAIfCudnnVersionLessThan = (
    skipCUDAIfVersionLessThan
) = skipPRIVATEUSE1If = _cuda_if


def onlyOn(device_types):
    return _noop if "cpu" in ([device_types] if isinstance(device_types, str) else device_types) else _only_cuda


def skipCPUIf(cond, reason):
    return unittest.skipIf(cond, reason)


def skipIf(cond, reason, device_type=None):
    return unittest.skipIf(cond, reason)


def _backend(n):
    try:
        return bool(getattr(torch.backends, n).is_available())
    except Exception:
        return True


skipCPUIfNoLapack = skipCPUIfNoFFT = _noop
skipCPUIfNoMkl = lambda f: unittest.skipIf(not _backend("mkl"), "no mkl")(f)
skipCPUIfNoMklSparse = lambda f: f  # what PyTorch needs MKL for
skipCPUIfNoMkldnn = lambda f: unittest.skipIf(not _backend("mkldnn"), "no mkldnn")(f)
has_cusolver = has_hipsolver = lambda: False


def deviceCountAtLeast(n):
    return _noop if n <= 1 else _only_cuda


def largeTensorTest(size, device=None, inductor=False):
    """Keep tests below 3 GiB."""
    m = re.match(r"([\d.]+)\s*([KMGT])B?", size) if isinstance(size, str) else None
    n = (
        float(m.group(1)) * 1024 ** ("KMGT".index(m.group(2)) + 1)
        if m
        else size
        if isinstance(size, (int, float))
        else 0
    )
    too_big = n > 3 * 2**30
    return unittest.skipIf(too_big or callable(size), "needs too much memory")


def __getattr__(n):
    if n.startswith("__"):
        raise AttributeError(n)
    from stand_ins import fallback

    return fallback(__name__, n)


def get_all_device_types():
    return ["cpu"]
