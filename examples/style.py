"""Neural style: paint one photograph with the textures of another.

A picture's texture is in how a network's features go together (their Gram matrices), its content in where they are.
Even a network that has learned nothing will do: here the features are random. L-BFGS then changes the pixels; it
learns the surface's curvature from small differences of gradients, and so wants double precision.

    python examples/style.py [--steps 40] [--every 1] [--seed 0] [--size 128] [--save style.png]

The photographs, of a Chinese temple and of a flower, come with scikit-learn. Needs scikit-learn and matplotlib.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse

from sklearn.datasets import load_sample_image

nn = torch.nn
F = torch.nn.functional

STYLE_LAYERS, CONTENT_LAYER = ("relu1", "relu2", "relu3", "relu4"), "relu3"


def load_image(name, size):
    """A photograph of scikit-learn as (1, 3, size, size), from 0 to 1."""
    image = torch.from_numpy(load_sample_image(name).copy()).permute(2, 0, 1).unsqueeze(0) / 255
    return F.interpolate(image, (size, size), mode="bilinear", antialias=True, align_corners=False)


class Features(nn.Module):
    """A random convolutional network, and what came out of each of its named layers at the last call."""

    def __init__(self, channels=(3, 24, 32, 48, 64)):
        super().__init__()
        self.layers = nn.Sequential()
        for k, (inputs, outputs) in enumerate(zip(channels, channels[1:]), 1):
            conv = nn.Conv2d(inputs, outputs, 3, padding=1, padding_mode="reflect")
            nn.init.orthogonal_(conv.weight, gain=nn.init.calculate_gain("relu"))
            nn.init.uniform_(conv.bias, -0.1, 0.1)
            self.layers.add_module(f"conv{k}", conv)
            self.layers.add_module(f"relu{k}", nn.ReLU())
            self.layers.add_module(f"pool{k}", nn.AvgPool2d(2))
            self.layers.get_submodule(f"relu{k}").register_forward_hook(self.keeper(f"relu{k}"))
        self.requires_grad_(False)
        self.seen = {}

    def keeper(self, name):
        def keep(module, inputs, output):
            self.seen[name] = output

        return keep

    def forward(self, image):
        self.seen.clear()
        self.layers(2 * image - 1)
        return dict(self.seen)


def gram(features):
    """How much each pair of channels lights up together."""
    flat = features.flatten(2)
    return flat @ flat.mT / flat.shape[-1]


def variation(image):
    """How much neighbouring pixels differ."""
    return image.diff(dim=-1).square().mean() + image.diff(dim=-2).square().mean()


class Painting:
    """The pixels, as logits so that they stay between black and white, and how far they are from what is wanted."""

    def __init__(self, features, content, style):
        self.features = features
        self.wanted_content = features(content)[CONTENT_LAYER]
        self.wanted_grams = {name: gram(seen) for name, seen in features(style).items() if name in STYLE_LAYERS}
        self.logits = content.clamp(0.02, 0.98).logit().requires_grad_()

    def image(self):
        return self.logits.sigmoid()

    def losses(self):
        image = self.image()
        seen = self.features(image)
        style = sum(F.mse_loss(gram(seen[name]), wanted) for name, wanted in self.wanted_grams.items())
        return style, F.mse_loss(seen[CONTENT_LAYER], self.wanted_content), variation(image)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="steps of L-BFGS, of up to five evaluations each")
    parser.add_argument("--every", type=int, default=1, help="steps from one printed loss to the next")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=128, help="width and height of the picture")
    parser.add_argument("--save", help="file for the picture")
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(options.seed)

    content, style = load_image("china.jpg", options.size), load_image("flower.jpg", options.size)
    painting = Painting(Features(), content, style)
    optimizer = torch.optim.LBFGS(
        [painting.logits], max_iter=4, max_eval=5, history_size=10, line_search_fn="strong_wolfe"
    )

    def closure():
        style_loss, content_loss, roughness = painting.losses()
        loss = 2 * style_loss + content_loss + roughness
        (painting.logits.grad,) = torch.autograd.grad(loss, painting.logits)
        return loss

    for step in range(options.steps):
        loss = optimizer.step(closure)
        if step % options.every == 0:
            print(f"step {step}: loss {loss.item():.6f}")

    with torch.no_grad():
        style_loss, content_loss, roughness = (part.item() for part in painting.losses())
    print(f"style {style_loss:.6f}, content {content_loss:.6f}, roughness {roughness:.6f}")
    if options.save:
        from matplotlib.image import imsave

        imsave(options.save, painting.image().detach()[0].permute(1, 2, 0).numpy())


if __name__ == "__main__":
    main()
