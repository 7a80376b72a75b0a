"""Learn to read handwritten digits: a first program.

The 1,797 images of 8 x 8 pixels come with scikit-learn; 43 people wrote them. A small convolutional network learns
from 80 % of them in some seconds and is then asked about the rest, which it has never seen.

    python examples/digits.py [--epochs 20] [--out digits_out] [--seed 0]

Writes the trained weights and a picture to the output folder. Needs scikit-learn, matplotlib and tqdm.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from tqdm import tqdm

nn = torch.nn
F = torch.nn.functional
DataLoader = torch.utils.data.DataLoader
TensorDataset = torch.utils.data.TensorDataset


class DigitNet(nn.Module):
    """Two convolutions look for strokes, pooling makes room for wobbles, and two linear layers decide."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, kernel_size=3, padding=1)
        self.dropout = nn.Dropout(0.3)
        self.hidden = nn.Linear(64 * 4 * 4, 128)
        self.output = nn.Linear(128, 10)

    def forward(self, images):  # (batch, 1, 8, 8)
        x = F.relu(self.conv1(images))  # (batch, 32, 8, 8)
        x = F.relu(self.conv2(x))  # (batch, 64, 8, 8)
        x = F.max_pool2d(x, 2)  # (batch, 64, 4, 4)
        x = self.dropout(x.flatten(1))  # (batch, 1024)
        x = F.relu(self.hidden(x))  # (batch, 128)
        return self.output(x)  # (batch, 10): one score per digit


def load_data():
    """The digits as two datasets of (image, label): 1,437 to learn from and 360 to be tested on."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16  # pixels from 0 to 1
    labels = torch.tensor(digits.target, dtype=torch.int64)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))  # the same split every time
    train, test = order[: int(0.8 * len(order))], order[int(0.8 * len(order)) :]
    return TensorDataset(images[train], labels[train]), TensorDataset(images[test], labels[test])


def shifted(images):
    """The images moved by up to one pixel each way, so that the network sees no batch twice the same."""
    down, right = torch.randint(3, (2,)).tolist()
    return F.pad(images, (1, 1, 1, 1))[:, :, down : down + 8, right : right + 8]


def train_model(model, dataset, epochs):
    """Train with Adam; return the loss of every step."""
    loader = DataLoader(dataset, batch_size=64, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
    losses = []
    model.train()
    with tqdm(total=epochs * len(loader), desc="training", unit="step") as progress:
        for epoch in range(epochs):
            for images, labels in loader:
                loss = F.cross_entropy(model(shifted(images)), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                losses.append(loss.item())
                progress.set_postfix(epoch=epoch + 1, loss=f"{losses[-1]:.4f}")
                progress.update()
    return losses


@torch.no_grad()
def predict(model, images):
    """The digit with the highest score for each image."""
    model.eval()
    return model(images).argmax(dim=1)


def draw(path, losses, images, labels, predictions):
    """A picture of the loss over time, and of the digits that the model got wrong."""
    wrong = (predictions != labels).nonzero().flatten().tolist()[:12]
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[3, 2])
    axes = left.subplots()
    axes.semilogy(losses, linewidth=0.8)
    axes.set(title="Loss while training", xlabel="step", ylabel="cross-entropy")
    axes.grid(alpha=0.3)
    right.suptitle(f"Misclassified: {int((predictions != labels).sum())} of {len(labels)}")
    for axes, index in zip(right.subplots(3, 4).flat, wrong + [None] * 12):
        axes.axis("off")
        if index is not None:
            axes.imshow(images[index, 0].numpy(), cmap="gray_r")
            axes.set_title(f"{labels[index]}, read as {predictions[index]}", fontsize=8)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20, help="times the training images are gone through")
    parser.add_argument("--out", type=Path, default=Path("digits_out"), help="folder for the weights and the picture")
    parser.add_argument("--seed", type=int, default=0, help="of the first weights and the order of the images")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    torch.manual_seed(options.seed)
    train, test = load_data()
    model = DigitNet()
    losses = train_model(model, train, options.epochs)

    images, labels = test.tensors
    predictions = predict(model, images)
    accuracy = (predictions == labels).float().mean().item()
    print(f"test accuracy: {accuracy:.2%} on {len(labels)} images never seen in training")

    weights = options.out / "digits.pt"
    torch.save(model.state_dict(), weights)
    restored = DigitNet()
    restored.load_state_dict(torch.load(weights))
    assert torch.equal(predict(restored, images), predictions), "the restored model must predict the same"
    print(f"saved the weights to {weights} and loaded them again: the same predictions")

    picture = options.out / "digits.png"
    draw(picture, losses, images, labels, predictions)
    print(f"drew the loss and the misclassified digits in {picture}")


if __name__ == "__main__":
    main()
