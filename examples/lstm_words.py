"""A word-level language model: an LSTM reads the sentences of the Python manual, then makes up its own.

The sentences are those of the pages that ``help("lambda")`` and its like show, which come with Python. They are of
different lengths: packed, they go through the LSTM together without a step on padding.

    python examples/lstm_words.py [--steps 400] [--every 20] [--seed 0]

Needs nothing but Python and NumPy.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse
import collections
import math
import re
from pydoc_data.topics import topics

nn = torch.nn
F = torch.nn.functional
DataLoader = torch.utils.data.DataLoader
pack_sequence = torch.nn.utils.rnn.pack_sequence
PackedSequence = torch.nn.utils.rnn.PackedSequence

WIDTH, START, UNKNOWN = 128, 0, 1


def read_sentences():
    """Sentences of 4 to 30 words, and the words that occur at least four times among them."""
    prose = [
        paragraph
        for name in sorted(topics)
        for paragraph in topics[name].split("\n\n")
        if not re.search(r"[=>|*_{]", paragraph)
    ]
    sentences = [re.findall(r"[a-z]+|[,;:.]", s.lower()) for s in re.split(r"(?<=\.)\s", "\n".join(prose))]
    sentences = [s for s in sentences if 4 <= len(s) <= 30 and s[-1] == "."]
    counts = collections.Counter(word for sentence in sentences for word in sentence)
    frequent = sorted(word for word, count in counts.items() if count >= 4)
    return sentences, ["<start>", "<unknown>", *frequent]


class WordModel(nn.Module):
    """Words in, scores for the next word out. The same matrix turns words to vectors and back."""

    def __init__(self, words):
        super().__init__()
        self.embedding = nn.Embedding(words, WIDTH)
        self.dropout = nn.Dropout(0.2)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, dropout=0.2)
        self.bias = nn.Parameter(torch.zeros(words))
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)

    def forward(self, packed, state=None):
        """``packed`` holds words; the scores come in its order, that is by time, then by sentence."""
        vectors = self.dropout(self.embedding(packed.data))
        vectors = PackedSequence(vectors, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        outputs, state = self.lstm(vectors, state)
        return F.linear(self.dropout(outputs.data), self.embedding.weight, self.bias), state

    @torch.no_grad()
    def make_up(self, stop):
        """A sentence, word by word; UNKNOWN is never said."""
        self.eval()
        said, state = [START], None
        while said[-1] != stop and len(said) < 40:
            scores, state = self(pack_sequence([torch.tensor(said[-1:])]), state)
            scores[0, [START, UNKNOWN]] = -math.inf
            said.append(torch.distributions.Categorical(logits=1.5 * scores[0]).sample().item())
        return said[1:]


def collate(sentences):
    """Each sentence as input, beginning with START, and as what is to be said; both packed."""
    start = torch.tensor([START])
    before = [torch.cat([start, sentence[:-1]]) for sentence in sentences]
    return pack_sequence(before, enforce_sorted=False), pack_sequence(sentences, enforce_sorted=False)


@torch.no_grad()
def perplexity(model, loader):
    """Between how many words the model has to guess, so to speak."""
    model.eval()
    total = count = 0
    for before, said in loader:
        total += F.cross_entropy(model(before)[0], said.data, reduction="sum").item()
        count += len(said.data)
    model.train()
    return math.exp(total / count)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400, help="batches to learn from")
    parser.add_argument("--every", type=int, default=20, help="steps from one printed loss to the next")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    sentences, words = read_sentences()
    number = collections.defaultdict(lambda: UNKNOWN, {word: k for k, word in enumerate(words)})
    coded = [torch.tensor([number[word] for word in sentence]) for sentence in sentences]
    training, unseen = torch.utils.data.random_split(coded, [len(coded) - 200, 200])
    loader = DataLoader(training, batch_size=32, shuffle=True, collate_fn=collate, drop_last=True)
    check = DataLoader(unseen, batch_size=100, collate_fn=collate)
    print(f"{len(sentences):,} sentences, {len(words):,} words")

    model = WordModel(len(words))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.3, patience=2)
    step = 0
    while step < options.steps:
        for before, said in loader:
            loss = F.cross_entropy(model(before)[0], said.data)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 0.1)
            optimizer.step()
            if step % options.every == 0:
                guess = perplexity(model, check)
                scheduler.step(guess)
                print(f"step {step}: loss {loss.item():.5f}, perplexity of unseen sentences {guess:.3f}")
            step += 1
            if step == options.steps:
                break

    for _ in range(5):
        print("-", " ".join(words[k] for k in model.make_up(number["."])))


if __name__ == "__main__":
    main()
