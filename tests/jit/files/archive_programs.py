"""Programs that PyTorch and Taeda both compile: a maker takes the library and gives (program, arguments of calls)."""

import enum
from typing import Any, NamedTuple


def functions(torch):
    Tensor = torch.Tensor

    def helper(x: Tensor, k: float = 2.5) -> Tensor:
        if bool(x.sum() > 0):
            y = x + k
        else:
            y = x - k
        for i in range(3):
            if i == 1:
                continue
            y = y * (i + 1)
        while bool(y.max() > 10):
            y = y / 2
            if bool(y.min() < -3):
                break
        return y

    def program(x: Tensor, n: int, flag: bool | None = None) -> tuple[Tensor, list[int], dict[str, float], str]:
        items = [i * 2 for i in range(n)]
        found: dict[str, float] = {}
        for i, v in enumerate(items):
            if i % 2 == 0:
                found[str(i)] = v / 2
        text = f"n is {n} and -n {-n}" + 'quote " and \\ and \n'
        if flag is not None:
            text += "flag" if flag else "none"
        y = helper(x[0:2, 1:, None, ...].squeeze(), -1.5)
        a, b = torch.max(y, dim=0)
        w: Tensor | None = None
        for j in range(n):
            if w is None:
                w = a
            else:
                w = w + j
        if w is not None:
            y = y + w
        return torch.cat([y, y.to(torch.float32)]).softmax(-1), items, found, text

    x = torch.arange(12.0).reshape(3, 4) - 5
    return torch.jit.script(program), [(x, 3, None), (x, 0, True), (x.neg(), 5, False)]


def layers(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, padding=1)
            self.norm = nn.BatchNorm2d(4)
            self.drop = nn.Dropout(0.5)
            self.out = nn.Sequential(nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(4, 2))
            self.register_buffer("scale", torch.full((1,), 2.0))
            self.register_buffer("nothing", None)
            self.view = nn.Parameter(self.conv.weight.detach()[0])

        def forward(self, x):
            y = self.drop(torch.relu(self.norm(self.conv(x)))) * self.scale
            return self.out(y) + self.view.sum()

    torch.manual_seed(0)
    return torch.jit.script(Block().eval()), [(torch.linspace(-1, 1, 2 * 3 * 5 * 5).reshape(2, 3, 5, 5),)]


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    first: "torch.Tensor"  # noqa: F821  # of whichever library compiles it
    count: int


def attributes(torch):
    Tensor, nn = torch.Tensor, torch.nn

    class Holder(nn.Module):
        names: list[str]
        table: dict[str, Tensor]
        either: int | str
        maybe: Tensor | None

        def __init__(self):
            super().__init__()
            self.names = ["x", "y'\"\\\n", "ä"]
            self.table = {"a": torch.ones(2), "b": torch.zeros(1, dtype=torch.float64)}
            self.numbers = [1, 2, 3]
            self.halves = [0.5, 1.5]
            self.flags = [True, False]
            self.nested = [(1, "a"), (2, "b")]
            self.either = 3
            self.maybe = None
            self.colour = Colour.RED
            self.complex = 1 + 2j
            self.large = 1 << 40
            self.device = torch.device("cpu")
            self.half = torch.ones(2, dtype=torch.bfloat16)
            self.seen = torch.jit.Attribute([], list[int])

        def forward(self, x: Tensor, n: int):
            self.numbers.append(n)
            self.seen += [n]
            out = x
            for name in self.table:
                out = out + self.table[name].sum().to(torch.float32)
            if self.colour == Colour.RED:
                out = -out
            either = self.either
            if isinstance(either, int):
                out = out * either
            maybe = self.maybe
            if maybe is None:
                self.maybe = x
            else:
                out = out + maybe
            z = torch.tensor(0.0) + self.half.to(torch.float32).sum()
            return out + z, self.names, self.numbers, len(self.seen), self.nested[0][1], self.complex * 2, self.large

    return torch.jit.script(Holder()), [(torch.ones(2), 1), (torch.ones(2), 2)]


def members(torch):
    Tensor = torch.Tensor

    @torch.jit.script
    class Item:
        def __init__(self, key: int) -> None:
            self.key = key

        def __lt__(self, other: "Item") -> bool:
            return self.key < other.key

    def program(x: Tensor, anything: Any, colour: Colour) -> tuple[str, str, list[list[float]], list[int], str]:
        items = [Item(3), Item(1), Item(2)]
        items.sort(reverse=True)
        keys = [item.key for item in items] + [item.key for item in sorted(items)]
        kind = "other"
        if isinstance(anything, tuple):
            kind = "tuple"
        elif isinstance(anything, list):
            kind = "list"
        rows: list[list[float]] = x.tolist()
        return colour.name, str(colour.value), rows, keys, kind

    x = torch.arange(4.0).reshape(2, 2)
    return torch.jit.script(program), [(x, (1, 2), Colour.RED), (x, [1], Colour.BLUE), (x, 1, Colour.RED)]


def containers(torch):
    Tensor, nn = torch.Tensor, torch.nn

    @torch.jit.interface
    class Step(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            pass

    class Neg(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return -x

    class Double(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    class Chooses(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = nn.ModuleList([Neg(), Double()])
            self.named = nn.ModuleDict({"neg": Neg(), "twice": Double()})

        @torch.jit._overload_method
        def raised(self, x: int) -> int: ...

        @torch.jit._overload_method
        def raised(self, x: Tensor) -> Tensor: ...  # noqa: F811

        def raised(self, x):  # noqa: F811
            return x + 1

        def forward(self, x: Tensor, i: int, name: str) -> tuple[Tensor, int]:
            step: Step = self.steps[i]
            other: Step = self.named[name]
            return self.raised(other.forward(step.forward(x))), self.raised(i)

    return torch.jit.script(Chooses()), [(torch.ones(1), 0, "twice"), (torch.ones(1), 1, "neg")]


def contexts(torch):
    def program(x: torch.Tensor) -> tuple[torch.Tensor, bool]:
        with torch.autograd.profiler.record_function("doubled"):
            y = x * 2
        with torch.no_grad():
            z = y * 3
        return y + z, z.requires_grad

    return torch.jit.script(program), [(torch.arange(3.0),)]


MAKERS = {
    "functions": functions,
    "layers": layers,
    "attributes": attributes,
    "members": members,
    "containers": containers,
    "contexts": contexts,
}
