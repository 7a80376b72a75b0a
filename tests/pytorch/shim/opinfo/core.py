"""Minimal OpInfo vocabulary used by borrowed data tables (own code)."""


class DecorateInfo:
    """Decorators that apply to one instantiated test only."""

    def __init__(self, decorators, cls_name=None, test_name=None, *, device_type=None, dtypes=None, active_if=True):
        self.decorators = list(decorators) if isinstance(decorators, (list, tuple)) else [decorators]
        self.cls_name, self.test_name, self.device_type, self.dtypes, self.active_if = (
            cls_name,
            test_name,
            device_type,
            dtypes,
            active_if,
        )

    def is_active(self, cls_name, test_name, device_type, dtype, param_kwargs=None):
        on = self.active_if(param_kwargs or {}) if callable(self.active_if) else self.active_if
        strip = (
            cls_name[: -len(device_type)]
            if device_type and cls_name and cls_name.lower().endswith(device_type)
            else cls_name
        )
        return bool(
            on
            and self.cls_name in (None, cls_name, strip)
            and self.test_name in (None, test_name)
            and self.device_type in (None, device_type)
            and (self.dtypes is None or dtype in self.dtypes)
        )


class SampleInput:
    def __init__(self, input, *args, **kwargs):
        self.input = input
        if (
            len(args) <= 1
            and set(kwargs) <= {"args", "kwargs", "output_process_fn_grad", "broadcasts_input", "name"}
            and kwargs
        ):
            self.args, self.kwargs = kwargs.get("args", args), kwargs.get("kwargs", {})
        else:
            self.args, self.kwargs = args, kwargs
        self.name = ""


class OpInfo:
    def __init__(self, name="", **kw):
        self.name = name
        self.variant_test_name, self.decorators, self.aten_name = "", (), name
        self.__dict__.update(kw)

    def supported_dtypes(self, device_type):
        return ()

    def __getattr__(self, name):
        if name.startswith("supports_"):
            return False
        raise AttributeError(name)


class UnaryUfuncInfo(OpInfo):
    pass


class BinaryUfuncInfo(OpInfo):
    pass


class ReductionOpInfo(OpInfo):
    pass


class ErrorInput:
    def __init__(self, sample_input, *, error_type=RuntimeError, error_regex=""):
        self.sample_input, self.error_type, self.error_regex = sample_input, error_type, error_regex


def __getattr__(n):
    if n.startswith("__"):
        raise AttributeError(n)
    from stand_ins import fallback

    return fallback(__name__, n)
