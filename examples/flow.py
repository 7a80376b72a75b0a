"""A normalising flow: bend a round cloud of points until it has the shape of two moons.

Every layer moves one coordinate by an amount that depends on the other, so that it can be undone exactly, and knows
how much it stretches the plane. The density of any point follows by walking the layers backwards.

    python examples/flow.py [--steps 600] [--every 20] [--seed 0]

Needs nothing but Python and NumPy.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse
import math

nn = torch.nn
distributions = torch.distributions
constraints = torch.distributions.constraints
lr_scheduler = torch.optim.lr_scheduler


class Coupling(distributions.Transform):
    """``y[moved] = x[moved] * exp(scale) + shift``, both a function of the other coordinate, which stays."""

    domain = codomain = constraints.real_vector
    bijective = True

    def __init__(self, net, moved):
        super().__init__(cache_size=1)
        self.net, self.moved = net, moved

    def scale_and_shift(self, points):
        kept = points[..., 1 - self.moved, None]
        scale, shift = self.net(kept).unbind(-1)
        return 2 * torch.tanh(scale / 2), shift

    def joined(self, points, moved):
        """``points`` with one coordinate replaced."""
        pair = [points[..., 0], points[..., 1]]
        pair[self.moved] = moved
        return torch.stack(pair, dim=-1)

    def _call(self, x):
        scale, shift = self.scale_and_shift(x)
        return self.joined(x, x[..., self.moved] * scale.exp() + shift)

    def _inverse(self, y):
        scale, shift = self.scale_and_shift(y)
        return self.joined(y, (y[..., self.moved] - shift) * (-scale).exp())

    def log_abs_det_jacobian(self, x, y):
        return self.scale_and_shift(x)[0]


class Flow(nn.Module):
    """A learned distribution over the plane."""

    def __init__(self, layers=8, width=32):
        super().__init__()
        self.nets = nn.ModuleList(
            nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))
            for _ in range(layers)
        )
        for net in self.nets:
            nn.init.zeros_(net[-1].weight)  # every layer begins as the identity
            nn.init.zeros_(net[-1].bias)
        self.center = nn.Parameter(torch.zeros(2))
        self.log_size = nn.Parameter(torch.zeros(2))

    def distribution(self):
        cloud = distributions.Independent(distributions.Normal(torch.zeros(2), torch.ones(2)), 1)
        bends = [Coupling(net, moved=k % 2) for k, net in enumerate(self.nets)]
        last = distributions.AffineTransform(self.center, self.log_size.exp(), event_dim=1)
        return distributions.TransformedDistribution(cloud, [*bends, last])


def two_moons(count):
    """Points on two half circles that reach into each other, with some noise."""
    angle = distributions.Uniform(0.0, math.pi).sample((count,))
    upper = distributions.Bernoulli(0.5).sample((count,)) == 1
    x = torch.where(upper, angle.cos(), 1 - angle.cos())
    y = torch.where(upper, angle.sin(), 0.5 - angle.sin())
    return torch.stack([x, y], dim=1) + 0.08 * torch.randn(count, 2)


@torch.no_grad()
def show(distribution):
    """The density as text."""
    y, x = torch.meshgrid(torch.linspace(1.6, -1.1, 24), torch.linspace(-1.6, 2.6, 72), indexing="ij")
    density = distribution.log_prob(torch.stack([x, y], dim=-1)).exp()
    for row in (density / density.max() * 9).round().int().tolist():
        print("".join(" .:-=+*#%@"[shade] for shade in row))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600, help="batches to learn from")
    parser.add_argument("--every", type=int, default=20, help="steps from one printed loss to the next")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    flow = Flow()
    optimizer = torch.optim.NAdam(flow.parameters(), lr=5e-3)
    warm = max(1, options.steps // 10)
    rising = lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=warm)
    falling = lr_scheduler.CosineAnnealingLR(optimizer, T_max=max(1, options.steps - warm))
    scheduler = lr_scheduler.SequentialLR(optimizer, [rising, falling], milestones=[warm])
    for step in range(options.steps):
        loss = -flow.distribution().log_prob(two_moons(256)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % options.every == 0:
            print(f"step {step}: loss {loss.item():.5f}")

    distribution = flow.distribution()
    points = distribution.rsample((1000,))
    print("the middle of a thousand samples:", [round(number, 3) for number in points.mean(0).tolist()])
    show(distribution)


if __name__ == "__main__":
    main()
