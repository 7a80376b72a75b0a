"""Models whose programs are made and read. Each call defines their classes anew, so that nothing of them is known; they
are narrow, as the time of their tensors is not what is measured."""

from __future__ import annotations

from typing import Any


def resnet18(T: Any) -> Any:
    """The layers of ResNet-18, with an eighth of its channels."""
    nn = T.nn

    class Block(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.downsample = None
            if stride != 1 or inputs != outputs:
                self.downsample = nn.Sequential(
                    nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
                )

        def forward(self, x):  # type: ignore[no-untyped-def]
            identity = x
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if self.downsample is not None:
                identity = self.downsample(x)
            out += identity
            return self.relu(out)

    class ResNet(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(8)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            self.layer1 = self.layer(8, 8, 1)
            self.layer2 = self.layer(8, 16, 2)
            self.layer3 = self.layer(16, 32, 2)
            self.layer4 = self.layer(32, 64, 2)
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(64, 10)

        @staticmethod
        def layer(inputs: int, outputs: int, stride: int) -> Any:
            return nn.Sequential(Block(inputs, outputs, stride), Block(outputs, outputs, 1))

        def forward(self, x):  # type: ignore[no-untyped-def]
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            x = T.flatten(self.avgpool(x), 1)
            return self.fc(x)

    return ResNet().eval(), (T.ones(1, 3, 32, 32),)


def transformer(T: Any) -> Any:
    """Six layers of an encoder with attention, written out."""
    nn, F = T.nn, T.nn.functional

    class Attention(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)

        def forward(self, x):  # type: ignore[no-untyped-def]
            batch, length, width = x.size()
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            q = q.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            k = k.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            v = v.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            weights = F.softmax(q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5, dim=-1)
            return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

    class Layer(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = Attention(width, heads)
            self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.dropout = nn.Dropout(0.1)

        def forward(self, x):  # type: ignore[no-untyped-def]
            x = x + self.dropout(self.attention(self.norm1(x)))
            return x + self.dropout(self.feed(self.norm2(x)))

    class Encoder(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.positions = nn.Embedding(100, 16), nn.Parameter(T.zeros(1, 8, 16))
            self.layers = nn.ModuleList([Layer(16, 4) for _ in range(6)])
            self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 100)

        def forward(self, tokens):  # type: ignore[no-untyped-def]
            x = self.embed(tokens) + self.positions
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x))

    return Encoder().eval(), (T.arange(8).reshape(1, 8),)
