"""What stands in for the contents of a module that a package leaves out. The text of this file goes into packages: it
imports nothing."""


class MockedObject:
    """Something of a module that was mocked out. It can be named and passed on; any use of it raises."""

    def __new__(cls, *args: object, **kwargs: object) -> "MockedObject":
        if kwargs.get("_suppress_err"):
            return super().__new__(cls)
        name = args[0] if args and isinstance(args[0], str) else "this"  # as where a class derives from one
        raise NotImplementedError(f"{name} needs an object of a module that was mocked out of this package")

    def __init__(self, name: str, _suppress_err: bool) -> None:
        self.__dict__["_name"] = name

    def __repr__(self) -> str:
        return f"MockedObject({self.__dict__['_name']})"


def _refusing(method: str) -> object:
    def refuse(self: MockedObject, *args: object, **kwargs: object) -> object:
        raise NotImplementedError(
            f"{self.__dict__['_name']} was mocked out of this package, and its {method} is needed. Make the package "
            "again with this module interned or externed"
        )

    return refuse


_METHODS = """
    abs add and bool bytes call complex contains delattr delitem divmod enter eq exit float floordiv format ge getattr
    getitem gt iadd iand ifloordiv ilshift imatmul imod imul index int invert ior ipow irshift isub iter itruediv ixor
    le len lshift lt matmul mod mul ne neg or pos pow radd rand rdivmod reversed rfloordiv rlshift rmatmul rmod rmul ror
    round rpow rrshift rshift rsub rtruediv rxor set setattr setitem str sub truediv xor
"""
for _method in _METHODS.split():
    setattr(MockedObject, f"__{_method}__", _refusing(f"__{_method}__"))
del _method
