"""A program that says ``import torch``, over the stubs that ``python -m taeda stubs`` writes; see program.py."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import TensorDataset

x = torch.ones(2, 3, dtype=torch.float32)
reveal_type(x.sum())  # Tensor
reveal_type(torch.max(x, dim=1).values)  # Tensor
reveal_type(torch.nn.functional.gelu(x))  # Tensor
reveal_type(F.relu(x))  # Tensor
reveal_type(torch.linalg.eigh(x))  # linalg_eigh
reveal_type(torch.__version__)  # str
reveal_type(StepLR(torch.optim.SGD([x], lr=0.1), 2))  # StepLR
reveal_type(TensorDataset(x)[0])  # tuple[Tensor, ...]


class Net(nn.Module):
    def forward(self, x: Tensor) -> torch.Tensor:
        return x


reveal_type(Net()(x))  # Tensor
torch.no_such_function(x)  # error: attr-defined
F.rellu(x)  # error: attr-defined
x.sumn()  # error: attr-defined
