"""Two networks play against each other: one paints digits, the other tells them from handwritten ones.

The handwritten digits of 8 x 8 pixels come with scikit-learn. The painter never sees them: all it learns, it learns
from the judge's gradient.

    python examples/gan.py [--steps 1500] [--every 50] [--seed 0]

Needs scikit-learn.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse

from sklearn.datasets import load_digits

nn = torch.nn
F = torch.nn.functional
spectral_norm = torch.nn.utils.parametrizations.spectral_norm

NOISE = 16


def make_painter():
    """Noise in, images out: every transposed convolution doubles the size."""
    return nn.Sequential(
        nn.ConvTranspose2d(NOISE, 64, kernel_size=2, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.ConvTranspose2d(64, 32, kernel_size=4, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
        nn.ConvTranspose2d(32, 1, kernel_size=4, stride=2, padding=1), nn.Tanh(),
    )  # fmt: skip


def make_judge():
    """Images in, a score out that is high for handwritten ones. Spectral norms keep its gradient from exploding."""
    return nn.Sequential(
        spectral_norm(nn.Conv2d(1, 32, kernel_size=4, stride=2, padding=1)), nn.LeakyReLU(0.2), nn.Dropout2d(0.2),
        spectral_norm(nn.Conv2d(32, 64, kernel_size=4, stride=2, padding=1)), nn.LeakyReLU(0.2), nn.Dropout2d(0.2),
        nn.Flatten(), nn.Linear(64 * 2 * 2, 1), nn.Flatten(0),
    )  # fmt: skip


def initialize(module):
    if isinstance(module, nn.ConvTranspose2d):
        nn.init.normal_(module.weight, 0.0, 0.05)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight, 1.0, 0.02)


def show(images):
    """Images side by side, as text."""
    shades = " .:-=+*#%@"
    for row in torch.cat(list(images.squeeze(1)), dim=1):
        print("".join(2 * shades[round(4.5 * (brightness + 1))] for brightness in row.tolist()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500, help="batches to learn from")
    parser.add_argument("--every", type=int, default=50, help="steps from one printed loss to the next")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    digits = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 8 - 1  # pixels from -1 to 1
    sampler = torch.utils.data.RandomSampler(digits, replacement=True, num_samples=64 * options.steps)
    loader = torch.utils.data.DataLoader(digits, batch_size=64, sampler=sampler)
    painter, judge = make_painter().apply(initialize), make_judge()
    paints = torch.optim.Adam(painter.parameters(), lr=1e-3, betas=(0.5, 0.999))
    judges = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.999))
    same_noise = torch.randn(6, NOISE, 1, 1)

    for step, real in enumerate(loader):
        painted = painter(torch.randn(len(real), NOISE, 1, 1))

        # The judge should score real images high and painted ones low.
        judge_loss = F.softplus(-judge(real)).mean() + F.softplus(judge(painted.detach())).mean()
        judges.zero_grad()
        judge_loss.backward()
        judges.step()

        # The painter wants its images scored high. The judge's own gradients are not needed here.
        judge.requires_grad_(False)
        painter_loss = F.softplus(-judge(painted)).mean()
        paints.zero_grad()
        painter_loss.backward()
        paints.step()
        judge.requires_grad_(True)

        if step % options.every == 0:
            print(f"step {step}: judge's loss {judge_loss.item():.5f}, painter's {painter_loss.item():.5f}")

    painter.eval()
    with torch.inference_mode():
        show(painter(same_noise))


if __name__ == "__main__":
    main()
