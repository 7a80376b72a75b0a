"""Functions in the language that `script` compiles, each with arguments. Python itself says what they give."""

# ruff: noqa: E501, UP006, UP007, UP031, UP032, UP035, UP045
# mypy: ignore-errors

import enum
import math
from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import taeda as torch
from taeda import Tensor

PROGRAMS = []


def program(*calls):
    def enter(function):
        PROGRAMS.append((function, calls))
        return function

    return enter


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Point(NamedTuple):
    x: int
    y: float = 0.5


class Counter:
    total: int

    def __init__(self, start: int = 0, names: Optional[List[str]] = None):
        self.total = start
        self.names = ["a"] if names is None else names

    def add(self, n: int) -> "Counter":
        self.total += n
        return self

    @property
    def double(self) -> int:
        return 2 * self.total

    @double.setter
    def double(self, value: int):
        self.total = value // 2

    @staticmethod
    def twice(n: int) -> int:
        return 2 * n

    def __add__(self, other: "Counter") -> int:
        return self.total + other.total

    def __len__(self) -> int:
        return self.total

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __getitem__(self, i: int) -> str:
        return self.names[i]

    def __call__(self, n: int) -> int:
        return n + self.total

    def __eq__(self, other: "Counter") -> bool:
        return self.total == other.total


class Special(Counter):
    def __init__(self, start: int):
        super().__init__(start, ["s"])
        self.extra = 1.5

    def add(self, n: int) -> "Counter":
        self.total += 10 * n
        return self


@dataclass
class Pair:
    left: int
    right: str = "r"


class Guard:
    def __init__(self, log: List[str]):
        self.log = log

    def __enter__(self) -> int:
        self.log.append("in")
        return len(self.log)

    def __exit__(self, kind: Any, value: Any, trace: Any):
        self.log.append("out")


def helper(x: int, scale: int = 2) -> int:
    return x * scale


@program((1, 2), (5, 2), (-7, 2), (7, -2))
def arithmetic(a: int, b: int):
    return a + b, a - b, a * b, a / b, a // b, a % b, -a, +b, ~a, a & b, a | b, a ^ b, a << 3, abs(a), a**2


@program((1.5, 2.0), (-7.5, 2.0), (0.0, -3.0))
def floats(a: float, b: float):
    return a + b, a - b, a * b, a / b, a // b, a % b, a**b if a > 0 else 0.0, int(a), float(int(b)), round(a), bool(a)


@program((0,), (4,))
def divide(a: int):
    return 8 // a, 8 / a, 8 % a


@program((3,), (-3,), (0,))
def branches(n: int):
    if n > 0:
        sign = "positive"
    elif n < 0:
        sign = "negative"
    else:
        sign = "zero"
    return sign + "!", 1 if n else 0, n > 0 and n < 5, n < 0 or n > 2, not n, 0 < n < 4


@program((0,), (1,), (3,), (5,), (8,))
def early(n: int) -> int:
    if n == 0:
        return -1
    for i in range(n):
        if i == 2:
            continue
        if i == 4:
            return 100 + i
        if n == 3 and i == 1:
            break
    else:
        return 7
    while True:
        n += 3
        if n % 2 == 0:
            return n


@program((0,), (3,), (6,))
def nested_loops(n: int):
    found = []
    for i in range(n):
        for j in range(i, n, 2):
            if j == 4:
                break
            if (i + j) % 3 == 0:
                continue
            found.append(i * 10 + j)
        else:
            found.append(-i)
    i = 0
    while i < n:
        i += 1
        if i == 2:
            continue
        if i == 5:
            break
        found.append(i)
    return found, i


@program((None,), (4,))
def optional(x: Optional[int]):
    if x is None:
        x = 1
    y = x + 1
    z: Optional[int] = None
    if y > 3:
        z = y
    if z is not None and z > 0:
        y = y + z
    return y, z, z is None


@program((None, 2), (3, None), (None, None))
def optional_returns(a: Optional[int], b: Optional[int]) -> int:
    if a is None:
        if b is None:
            return 0
        return b
    assert a is not None
    if b is not None:
        return a + b
    return a


@program((1,), ("a",), (2.5,))
def union(x: Union[int, str, float]):
    if isinstance(x, int):
        return x + 1
    elif isinstance(x, str):
        return len(x)
    else:
        return int(x)


@program(([3, 1, 2],), ([],), ([5],))
def lists(x: List[int]):
    y = x.copy()
    y.append(4)
    y.extend([7, 8])
    y.insert(0, 9)
    y.sort()
    last = y.pop()
    y.reverse()
    y[0] = 11
    z = y + x
    z *= 1
    total = sum(z)
    return (
        y,
        z[1:3],
        z[::-1] if len(z) > 0 else z,
        last,
        total,
        len(z),
        4 in z,
        z == y,
        max(z),
        min(z),
        sorted(z),
        z[-1],
    )


@program(([1, 2],), ([],))
def bad_index(x: List[int]):
    return x[1]


@program(({"a": 1, "b": 2},), ({},))
def dicts(d: Dict[str, int]):
    d["c"] = 3
    total = 0
    for key in d:
        total += d[key]
    names = []
    for k, v in d.items():
        names.append(k + str(v))
    e = {k: v * 2 for k, v in d.items()}
    e.update({"z": 0})
    return total, names, e, "a" in d, d.get("q"), d.get("q", 5), len(d), list(d.keys()), list(d.values()), d.pop("c")


@program(({"a": 1},), ({},))
def missing_key(d: Dict[str, int]):
    return d["a"]


@program(((1, "a", 2.0),))
def tuples(t: Tuple[int, str, float]):
    a, b, c = t
    first, *rest = t
    for item in t:
        b = b + str(item)
    return t[0], t[-1], t[1:], (a, c) + (b,), len(t), first, t == (1, "a", 2.0)


@program((4,), (0,))
def comprehensions(n: int):
    squares = [i * i for i in range(n)]
    even = [i for i in squares if i % 2 == 0]
    pairs = [(i, j) for i in range(n) for j in range(2) if i != j]
    names = {str(i): i for i in range(n)}
    return (
        squares,
        even,
        pairs,
        names,
        any([i > 2 for i in squares]),
        all(i >= 0 for i in squares),
        sum(i for i in even),
    )


@program((["b", "a"], [1, 2, 3]))
def iterables(a: List[str], b: List[int]):
    out = []
    for i, (x, y) in enumerate(zip(a, b), 1):
        out.append(x * y + str(i))
    for c in "xyz":
        out.append(c)
    for n in reversed(b):
        out.append(str(n))
    return out, list(range(3)), list(range(5, 1, -2)), list(zip(a, b)), list(enumerate(a)), [*a, "z"]


@program(("Hello World",), ("",))
def texts(s: str):
    parts = s.split(" ")
    n = len(s)
    return (s.upper(), s.lower(), s.strip(), parts, "-".join(parts), s.replace("l", "L"), s.find("o"), s.startswith("He"),
            f"{n:>4}|{s!r}|{n}", "{} and {}".format(n, s), "%d %s" % (n, s), s[1:4], s * 2, "lo" in s, s == "a", s + "!",
            s.count("l"), [c for c in s][:2], ord("a"), chr(98), str(1.5), hex(n), s.isalpha(), s.title())  # fmt: skip


@program((2.0,), (0.5,))
def maths(x: float):
    return (math.sqrt(x), math.exp(x), math.log(x), math.sin(x), math.floor(x), math.ceil(x), math.pow(x, 2), math.pi,
            math.isnan(x), math.gcd(12, 18), math.hypot(x, 1.0), math.inf > x, max(x, 1.0), min(1, 2), divmod(7, 2))  # fmt: skip


@program((-1.0,))
def bad_math(x: float):
    return math.sqrt(x)


@program((1,), (2,))
def enums(n: int):
    c = Color.RED
    if n == 2:
        c = Color.GREEN
    return c, c == Color.GREEN, c.value, c.name, [m.value for m in Color], c is Color.RED


@program((Point(1, 2.0),), (Point(3),))
def named_tuples(p: Point):
    q = Point(p.x + 1, y=p.y)
    r = Point(5)
    x, y = q
    return q, q.x, q[1], r.y, x, y, p == q


@program((3,), (0,))
def classes(n: int):
    c = Counter(n)
    c.add(2).add(3)
    c.double = c.double + 2
    d = Counter(1, names=["x", "y"])
    return (
        c.total,
        c.double,
        Counter.twice(n),
        c + d,
        len(c),
        "x" in d,
        d[1],
        c(1),
        c == d,
        c != d if n > 100 else False,
    )


@program((3,))
def inheritance(n: int):
    s = Special(n)
    s.add(1)
    return s.total, s.extra, s.names, s.double


@program((3,))
def dataclasses_too(n: int):
    a, b = Pair(n), Pair(n, "r")
    a.left += 1
    return a.left, a.right, a == b, Pair(left=4) == a


@program((2,), (-1,))
def contexts(n: int):
    log = ["start"]
    with Guard(log) as depth:
        log.append(str(depth))
        if n < 0:
            return log
        with Guard(log):
            n += 1
    return log + [str(n)]


@program((3,), (-1,), (0,), (7,))
def raises(n: int) -> int:
    if n < 0:
        raise ValueError("negative: " + str(n))
    if n == 0:
        raise KeyError("zero")
    assert n < 5, f"too big: {n}"
    return n


@program(
    (4, 5),
)
def calls(a: int, b: int):
    def inner(x: int, y: int = 10) -> int:
        return x + y + b

    square = lambda x: x * x
    return (
        helper(a),
        helper(a, scale=b),
        helper(scale=3, x=a),
        inner(a),
        inner(a, 1),
        square(b),
        list(map(square, [1, 2])),
    )


def gathered(*args, scale: int = 1, **kwargs):
    total = 0
    for value in args:
        total += value
    for name, value in kwargs.items():
        total += value * len(name)
    return total * scale


@program((2,))
def stars(n: int):
    values = (1, n, 3)
    return gathered(), gathered(1, 2), gathered(*values, scale=2), gathered(1, ab=n), helper(*(n,))


@program((5,), (1,))
def factorial(n: int) -> int:
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@program((3,), ())
def defaults(n=2, m=None):
    if m is None:
        return n + 1
    return n


@program((2, 3.0))
def walrus_and_chain(n: int, x: float):
    if (m := n * 2) > 3:
        n = m
    a = b = n
    a += 1
    x -= 1
    x *= 3
    x /= 2
    a //= 2
    return a, b, x, n, m, "yes" if n else "no", 1 if x > 2 else None


@program((torch.arange(12.0).reshape(3, 4), 2))
def tensors(x: Tensor, n: int):
    y = x + 1 - n * x / 2
    y = 3 - y + 2**y * 0 + 1 / (y.abs() + 1)
    y[0] = 5
    y[1, 2:] = x[1, :2]
    y[:, 0] += 1
    z = x[:, None, 1:3][..., -1]
    mask = x > 4
    w = x[mask].sum() + x[[0, 2]].sum() + x[torch.tensor([1])].sum()
    a, b = x.max(dim=1)
    first, *others = x.split(1)
    rows = 0.0
    for row in x:
        rows = rows + float(row.sum())
    return (y, z, w, a, b, x.shape, x.size(0), x.dtype == torch.float32, x.dim(), len(x), first, rows, x.T, x @ x.t(),
            torch.cat([x, x]), torch.zeros(2, n), x.view(-1, 2), x.mean((0, 1)), bool(x.sum() > 3), x.sum().item(),
            torch.stack([r for r in x]), x.new_ones([2], dtype=torch.int64), x if x.is_floating_point() else y)  # fmt: skip


@program((torch.arange(120.0).reshape(2, 3, 4, 5), torch.tensor([0, 1, 1])))
def behind_an_ellipsis(x: Tensor, i: Tensor):
    y = x.clone()
    y[..., i, :] = 7.0
    y[..., i] = y[..., i] + 1
    return (x[..., i, :], x[..., i, 0], x[i, ..., i], x[..., i], x[0, ..., i, None, :], x[..., i, 1:, i], x[..., None, i],
            x[:, i, ..., i], x[..., x[0, 0, 0] > 1], y, x.__getitem__(i), x.__getitem__((0, 1)))  # fmt: skip


@program((torch.ones(2, 3),), (torch.zeros(2, 3),))
def tensor_loop(x: Tensor):
    steps = 0
    while bool(x.sum() < 50):
        x = x * 2 + 1
        steps += 1
    if x.sum() > 60:
        x = torch.relu(x)
    return x, steps


@program((torch.arange(4),), (torch.eye(2),))
def tolist(x: Tensor):
    if x.dim() == 1:
        values: List[int] = x.tolist()
        return values[0]
    return 0
