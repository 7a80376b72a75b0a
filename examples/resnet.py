"""A residual network learns to tell ten kinds of shapes and patterns apart, in pictures of CIFAR's size.

There is nothing to download: every picture, 3 x 32 x 32, is drawn when it is asked for, in colours, place, size and
noise of its own, by the data loader's worker processes. They also flip and shift it, each time in another way.

    python examples/resnet.py [--steps 200] [--every 10] [--seed 0] [--save resnet.pt]

Needs nothing but Python and NumPy.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse

nn = torch.nn
F = torch.nn.functional
DataLoader = torch.utils.data.DataLoader

KINDS = ["columns", "rows", "diagonals", "checkers", "disc", "ring", "square", "diamond", "cross", "star"]


def outline(kind, x, y, size):
    """A function of the plane that is positive where the shape is."""
    wave = lambda t: torch.sin(5 * t / size)
    radius = torch.hypot(x, y)
    return {
        "columns": lambda: wave(x),
        "rows": lambda: wave(y),
        "diagonals": lambda: wave(x + y),
        "checkers": lambda: wave(x) * wave(y),
        "disc": lambda: size - radius,
        "ring": lambda: 0.12 - (radius - size).abs(),
        "square": lambda: size - torch.maximum(x.abs(), y.abs()),
        "diamond": lambda: size - x.abs() - y.abs(),
        "cross": lambda: 0.12 - torch.minimum(x.abs(), y.abs()),
        "star": lambda: size * (0.7 + 0.3 * torch.cos(5 * torch.atan2(x, y))) - radius,
    }[kind]()


class Pictures(torch.utils.data.Dataset):
    """Picture ``index`` is always the same one, but for the flips and shifts of training."""

    def __init__(self, first, count, augment):
        self.first, self.count, self.augment = first, count, augment

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.first + index)
        rand = lambda *shape: torch.rand(shape, generator=generator)
        kind = index % len(KINDS)
        line = torch.linspace(-1, 1, 32)
        y, x = torch.meshgrid(line, line, indexing="ij")
        right, down, size = (rand(3) * 0.5).tolist()
        shape = torch.sigmoid(15 * outline(KINDS[kind], x + right - 0.25, y + down - 0.25, 0.4 + size / 2))
        paper, ink = 0.5 * rand(2, 3, 1, 1) + torch.tensor([0.0, 0.5]).view(2, 1, 1, 1)
        picture = paper + (ink - paper) * shape + 0.1 * torch.randn(3, 32, 32, generator=generator)
        return (self.varied(picture) if self.augment else picture), kind

    @staticmethod
    def varied(picture):
        if torch.rand(()) < 0.5:
            picture = picture.flip(2)
        down, right = torch.randint(5, (2,)).tolist()
        padded = F.pad(picture.unsqueeze(0), (2, 2, 2, 2), mode="reflect").squeeze(0)
        return padded[:, down : down + 32, right : right + 32]


class Block(nn.Module):
    """Two convolutions that learn what to add to their input."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut.append(nn.Conv2d(inputs, outputs, 1, stride, bias=False)).append(nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Sequential):
    """A stem, three stages of which each halves the picture and doubles the channels, and a linear layer."""

    def __init__(self, width=16, blocks=1):
        stem = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)
        )
        stages = nn.Sequential()
        for inputs, outputs, stride in ((width, width, 1), (width, 2 * width, 2), (2 * width, 4 * width, 2)):
            for k in range(blocks):
                stages.append(Block(inputs if k == 0 else outputs, outputs, stride if k == 0 else 1))
        super().__init__(stem, stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, len(KINDS)))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = [(model(pictures).argmax(1) == kinds).float() for pictures, kinds in loader]
    return torch.cat(right).mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="batches to learn from")
    parser.add_argument("--every", type=int, default=10, help="steps from one printed loss to the next")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file for the state of the training")
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    training = DataLoader(Pictures(0, 32 * options.steps, True), batch_size=32, shuffle=True, num_workers=2)
    test = DataLoader(Pictures(10**9, 500, False), batch_size=100, num_workers=2)
    model = ResNet()
    averaged = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.95), use_buffers=True
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=options.steps)
    print(f"{sum(p.numel() for p in model.parameters()):,} weights")

    for step, (pictures, kinds) in enumerate(training):
        loss = F.cross_entropy(model(pictures), kinds, label_smoothing=0.1)
        if step % options.every == 0:
            print(f"step {step}: loss {loss.item():.5f}, learning rate {scheduler.get_last_lr()[0]:.5f}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        averaged.update_parameters(model)
    if options.save:
        parts = {"model": model, "averaged": averaged, "optimizer": optimizer, "scheduler": scheduler}
        torch.save({name: part.state_dict() for name, part in parts.items()}, options.save)
    rights = accuracy(model, test), accuracy(averaged, test)
    print("of 500 new pictures {:.1%} are named right, {:.1%} by the averaged weights".format(*rights))


if __name__ == "__main__":
    main()
