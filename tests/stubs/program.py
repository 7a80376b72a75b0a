"""What type checkers make of a program: the expected type beside each reveal_type, the kind of error beside mistakes.

Read by test_stubs.py; never run.
"""

from __future__ import annotations

from typing import Any

import taeda as torch
import taeda.nn.functional as F
from taeda import Tensor, nn, optim
from taeda.utils.data import DataLoader, TensorDataset

x = torch.ones(2, 3)

# --- tensors
reveal_type(x)  # Tensor
reveal_type(x.sum())  # Tensor
reveal_type(x.shape)  # Size
reveal_type(x.shape[0])  # int
reveal_type(x.shape[:1])  # Size
reveal_type(x.size(0))  # int
reveal_type(x.size())  # Size
reveal_type(x.dtype)  # dtype
reveal_type(x.device)  # device
reveal_type(x.grad)  # Tensor | None
reveal_type(x.requires_grad)  # bool
reveal_type(x.item())  # int | float
reveal_type(x.T)  # Tensor
reveal_type(x[0])  # Tensor
reveal_type(x[0, ..., None, 1:])  # Tensor
reveal_type(x[x > 0])  # Tensor
reveal_type(2 * x + 1)  # Tensor
reveal_type(1 - x)  # Tensor
reveal_type(x @ x.T)  # Tensor
reveal_type(x == 1)  # Tensor
reveal_type(-x)  # Tensor
reveal_type(x.view(-1, 1))  # Tensor
reveal_type(x.view((3, 2)))  # Tensor
reveal_type(x.permute(1, 0))  # Tensor
reveal_type(x.float())  # Tensor
reveal_type(x.to(torch.float64))  # Tensor
reveal_type(x.to("cpu", torch.float64))  # Tensor
reveal_type(x.add_(1))  # Tensor
reveal_type(x.set_(x.untyped_storage()))  # Tensor
reveal_type(x.numpy())  # ndarray[Any, Any]
reveal_type(x.split(1))  # tuple[Tensor, ...]
reveal_type(x.chunk(2))  # tuple[Tensor, ...]
reveal_type(x.max(dim=1))  # max
reveal_type(x.backward())  # None
reveal_type(len(x))  # int
reveal_type(float(x.sum()))  # float

# --- functions
reveal_type(torch.max(x, dim=1).values)  # Tensor
reveal_type(torch.sort(x).indices)  # Tensor
reveal_type(torch.max(x))  # Tensor
reveal_type(torch.tensor([1.0, 2.0], dtype=torch.float32))  # Tensor
reveal_type(torch.zeros(2, 3, dtype=torch.int64, device="cpu"))  # Tensor
reveal_type(torch.zeros((2, 3)))  # Tensor
reveal_type(torch.cat([x, x], dim=0))  # Tensor
reveal_type(torch.where(x > 0, x, 0.0))  # Tensor
reveal_type(torch.mul(2, x))  # Tensor
reveal_type(torch.einsum("ij,jk->ik", x, x.T))  # Tensor
reveal_type(torch.linalg.eigh(x).eigenvalues)  # Tensor
reveal_type(torch.linalg.svd(x))  # linalg_svd
reveal_type(torch.fft.rfft(x))  # Tensor
reveal_type(torch.special.expit(x))  # Tensor
reveal_type(torch.equal(x, x))  # bool
reveal_type(torch.is_tensor(x))  # bool
reveal_type(torch.get_num_threads())  # int
reveal_type(torch.manual_seed(0))  # Generator
reveal_type(torch.save(x, "file"))  # None
reveal_type(torch.finfo(torch.float32).eps)  # float
reveal_type(torch.pi)  # float
reveal_type(torch.float32)  # dtype
reveal_type(torch.float)  # dtype
reveal_type(torch.bool)  # dtype
reveal_type(torch.strided)  # layout
reveal_type(torch.device("cpu"))  # device
reveal_type(torch.__version__)  # str
reveal_type(torch.FloatTensor(2))  # Tensor
reveal_type(F.relu(x))  # Tensor
reveal_type(F.prelu(x, x))  # Tensor
reveal_type(F.gelu(x, approximate="tanh"))  # Tensor
reveal_type(F.conv2d(x, x, padding=1))  # Tensor
reveal_type(F.cross_entropy(x, x))  # Tensor


# --- modules
class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.layers = nn.ModuleList([nn.Linear(3, 3)])
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: Tensor, twice: bool = False) -> Tensor:
        reveal_type(self.first)  # Linear
        reveal_type(self.first(x))  # Tensor
        reveal_type(self.first.weight)  # Tensor
        reveal_type(self.scale * x)  # Tensor
        reveal_type(self.seen)  # Tensor | Module
        return F.relu(self.first(x)) * self.scale


class Untyped(nn.Module):
    def forward(self, x, more=None, **rest):  # type: ignore[no-untyped-def]
        return x, more


net = Net()
reveal_type(net(x))  # Tensor
reveal_type(net(x, twice=True))  # Tensor
reveal_type(Untyped()(x, 2, k=3))  # Any
reveal_type(nn.Sequential(net, nn.ReLU()))  # Sequential
reveal_type(net.train())  # Net
reveal_type(net.state_dict())  # dict[str, Any]
for parameter in net.parameters():
    reveal_type(parameter)  # Parameter
module: nn.Module = net
reveal_type(module(x, 1))  # Any
reveal_type(nn.CrossEntropyLoss()(x, x))  # Tensor
reveal_type(nn.init.xavier_uniform_(x))  # Tensor
reveal_type(nn.utils.clip_grad_norm_(net.parameters(), 1.0))  # Tensor

# --- training
optimizer = optim.Adam(net.parameters(), lr=1e-3, betas=(0.9, 0.99))
reveal_type(optimizer)  # Adam
reveal_type(optimizer.zero_grad())  # None
reveal_type(torch.optim.lr_scheduler.StepLR(optimizer, 2))  # StepLR
reveal_type(torch.optim.swa_utils.AveragedModel(net))  # AveragedModel
reveal_type(DataLoader(TensorDataset(x, x), batch_size=2))  # DataLoader[tuple[Tensor, ...]]
reveal_type(torch.autograd.grad(x.sum(), x))  # tuple[Any, ...]
with torch.no_grad():
    reveal_type(net(x))  # Tensor


@torch.no_grad()
def evaluate(model: nn.Module, batch: Tensor) -> float:
    return float(model(batch).mean())


reveal_type(evaluate(net, x))  # float


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return 2 * x


reveal_type(Double.apply(x))  # Any

# --- mistakes
torch.no_such_function(x)  # error: attr-defined
torch.sofmax(x)  # error: attr-defined
torch.float31  # error: attr-defined
x.sumn()  # error: attr-defined
F.rellu(x)  # error: attr-defined
nn.Linea(1, 2)  # error: attr-defined
torch.linalg.eig_h(x)  # error: attr-defined
optim.Adamm(net.parameters())  # error: attr-defined
torch.add(x, "s")  # error: call-overload
torch.ones(2, dtype="float32")  # error: call-overload
torch.ones("2")  # error: arg-type
torch.softmax(x)  # error: call-arg
x + "s"  # error: operator
x.sum(dim="0")  # error: arg-type
F.relu(1)  # error: arg-type
net(1)  # error: arg-type
net(x, x, x)  # error: call-arg, error: arg-type
nn.Linear("a", 2)  # error: arg-type
x.shape = (2,)  # error: misc, error: assignment
optim.Adam(net.parameters(), learning_rate=1e-3)  # error: call-arg
number: int = torch.add(x, x)  # error: assignment
