"""A variational autoencoder: handwritten digits squeezed into eight numbers, and new digits drawn from there.

The 1,797 digits of 8 x 8 pixels come with scikit-learn. The encoder says, for each of the eight numbers, where it
probably lies; the decoder paints the digit again from a sample. It can then paint digits that nobody wrote.

    python examples/vae.py [--steps 600] [--every 20] [--seed 0] [--save vae.pt]

Needs scikit-learn.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse

from sklearn.datasets import load_digits

nn = torch.nn
F = torch.nn.functional
Normal = torch.distributions.Normal
kl_divergence = torch.distributions.kl_divergence

LATENT = 8


class Encoder(nn.Module):
    """Images in, a normal distribution over the latent numbers out."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.GELU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.GELU(),
            nn.Flatten(), nn.Linear(64 * 4 * 4, 128), nn.GELU(),
        )  # fmt: skip
        self.mean = nn.Linear(128, LATENT)
        self.raw_scale = nn.Linear(128, LATENT)

    def forward(self, images):
        features = self.body(images)
        return Normal(self.mean(features), F.softplus(self.raw_scale(features)) + 1e-4)


class Decoder(nn.Sequential):
    """Latent numbers in, the logit of every pixel's brightness out."""

    def __init__(self):
        super().__init__(
            nn.Linear(LATENT, 64 * 2 * 2), nn.GELU(), nn.Unflatten(1, (64, 2, 2)),
            nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.GroupNorm(4, 32), nn.GELU(),
            nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(16, 1, 3, padding=1),
        )  # fmt: skip


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()
        self.register_buffer("zero", torch.zeros(LATENT))
        self.register_buffer("one", torch.ones(LATENT))

    @property
    def prior(self):
        return Normal(self.zero, self.one)

    def forward(self, images):
        """How badly the images are painted again, and how much the encoder says about them, in nats per image."""
        posterior = self.encoder(images)
        logits = self.decoder(posterior.rsample())
        error = F.binary_cross_entropy_with_logits(logits, images, reduction="none").sum(dim=(1, 2, 3))
        information = kl_divergence(posterior, self.prior).sum(dim=1)
        return error.mean(), information.mean()

    @torch.no_grad()
    def paint(self, count):
        return self.decoder(self.prior.sample((count,))).sigmoid()


def show(images):
    """Images side by side, as text."""
    shades = " .:-=+*#%@"
    for row in torch.cat(list(images.squeeze(1)), dim=1):
        print("".join(2 * shades[round(9 * brightness)] for brightness in row.tolist()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600, help="batches to learn from")
    parser.add_argument("--every", type=int, default=20, help="steps from one printed loss to the next")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file for the trained weights")
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    images = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16
    training, test = torch.utils.data.random_split(torch.utils.data.TensorDataset(images), [0.9, 0.1])
    loader = torch.utils.data.DataLoader(training, batch_size=64, shuffle=True, drop_last=True)
    (unseen,) = test[:]

    model = VAE()
    optimizer = torch.optim.Adamax(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.1 ** (1 / options.steps))
    step = 0
    while step < options.steps:
        for (batch,) in loader:
            error, information = model(batch)
            loss = error + min(1.0, 0.1 + step / 200) * information  # at first, saying much is cheap
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            scheduler.step()
            if step % options.every == 0:
                with torch.no_grad():
                    bound = sum(model(unseen))
                print(f"step {step}: loss {loss.item():.5f}, bound for unseen digits {bound.item():.5f}")
            step += 1
            if step == options.steps:
                break

    if options.save:
        torch.save(model.state_dict(), options.save)
        model = VAE()
        print(model.load_state_dict(torch.load(options.save)))
    print("digits that nobody wrote:")
    show(model.eval().paint(6))


if __name__ == "__main__":
    main()
