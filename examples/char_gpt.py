"""A character-level GPT: a small transformer learns to write like the Python manual.

It reads the pages that ``help("lambda")`` and its like show, half a million characters that come with Python, and
learns to say which character comes next. In the end it writes some lines of its own.

    python examples/char_gpt.py [--steps 600] [--every 20] [--seed 0] [--save char_gpt.pt]

Needs nothing but Python and NumPy.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse
import math
from pydoc_data.topics import topics

nn = torch.nn
F = torch.nn.functional

CONTEXT, WIDTH, HEADS, LAYERS, DROPOUT = 64, 128, 4, 4, 0.1


class Windows(torch.utils.data.Dataset):
    """Every stretch of ``CONTEXT`` characters of the text, with the stretch that begins one character later."""

    def __init__(self, codes):
        self.codes = codes

    def __len__(self):
        return len(self.codes) - CONTEXT

    def __getitem__(self, start):
        window = self.codes[start : start + CONTEXT + 1]
        return window[:-1], window[1:]


class Attention(nn.Module):
    """Each character looks back at those before it, in ``HEADS`` ways at once."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x):  # (batch, time, WIDTH)
        batch, time, _ = x.shape
        heads = self.qkv(x).view(batch, time, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4)  # (batch, HEADS, time, WIDTH / HEADS) each
        scores = query @ key.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
        future = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)
        weights = self.dropout(scores.masked_fill(future, -math.inf).softmax(dim=-1))
        return self.dropout(self.out((weights @ value).transpose(1, 2).reshape(batch, time, WIDTH)))


class Block(nn.Module):
    """Look around, then think: both add to what is already there."""

    def __init__(self):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(DROPOUT)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """Characters in, scores for the next character out. The first and the last matrix are the same one."""

    def __init__(self, characters):
        super().__init__()
        self.token = nn.Embedding(characters, WIDTH)
        self.position = nn.Embedding(CONTEXT, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, characters, bias=False)
        self.apply(self.initialize)
        self.head.weight = self.token.weight

    @staticmethod
    def initialize(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, codes):
        x = self.dropout(self.token(codes) + self.position(torch.arange(codes.shape[1], device=codes.device)))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    @torch.no_grad()
    def write(self, codes, length, temperature=0.8):
        """Continue ``codes`` by ``length`` characters, each drawn from the ten likeliest."""
        self.eval()
        for _ in range(length):
            scores = self(codes[:, -CONTEXT:])[:, -1] / temperature
            top, which = scores.topk(10)
            codes = torch.cat([codes, which.gather(1, torch.multinomial(top.softmax(-1), 1))], dim=1)
        return codes


def make_optimizer(model, steps):
    """AdamW with a rate that rises, then falls along a cosine; only the matrices decay."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=2e-3, betas=(0.9, 0.95))
    warm = max(1, steps // 20)
    rate = lambda step: min((step + 1) / warm, 0.55 + 0.45 * math.cos(math.pi * step / steps))
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, rate)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600, help="batches to learn from")
    parser.add_argument("--every", type=int, default=20, help="steps from one printed loss to the next")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file for the trained weights")
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    text = "\n\n".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(text))
    code = {character: k for k, character in enumerate(alphabet)}
    windows = Windows(torch.tensor([code[character] for character in text]))
    order = torch.utils.data.RandomSampler(windows, num_samples=16 * options.steps)
    loader = torch.utils.data.DataLoader(windows, batch_size=16, sampler=order, num_workers=2)

    model = GPT(len(alphabet))
    optimizer, scheduler = make_optimizer(model, options.steps)
    print(f"{sum(p.numel() for p in model.parameters()):,} weights, {len(text):,} characters of text")
    for step, (codes, following) in enumerate(loader):
        loss = F.cross_entropy(model(codes).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % options.every == 0:
            print(f"step {step}: loss {loss.item():.5f}")

    if options.save:
        torch.save(model.state_dict(), options.save)
        model = GPT(len(alphabet))
        model.load_state_dict(torch.load(options.save))
    start = "The lambda"
    page = model.write(torch.tensor([[code[character] for character in start]]), 300)
    print("".join(alphabet[k] for k in page[0].tolist()))


if __name__ == "__main__":
    main()
