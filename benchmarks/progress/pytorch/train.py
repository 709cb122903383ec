"""A training loop on the CPU that prints its speed after each step.

Usage: train.py [--model conv|transformer] [--threads N] [--batch N] [--workers N] [--steps N]. The
data are made on the fly: pictures of random shapes to classify, or sequences of tokens that follow
a hidden rule. A step of the default batch takes about two seconds with one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator

warnings.filterwarnings("ignore", "Failed to initialize NumPy")

import torch  # noqa: E402 - it would print that warning
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader, IterableDataset, get_worker_info  # noqa: E402

CLASSES = 10
PIXELS = 64
STRIPES = 24
"""Waves of a picture: their sum takes a few milliseconds, as the decoding of a photograph does."""
TOKENS, LENGTH, WIDTH = 256, 128, 256
DEFAULT_BATCH = {"conv": 160, "transformer": 56}
"""Samples of a step that takes about two seconds."""


class Pictures(IterableDataset[tuple[Tensor, Tensor]]):
    """Pictures of waves whose direction is the class."""

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield pictures without end, others in each worker."""
        random = _generator()
        axis = torch.linspace(-1.0, 1.0, PIXELS)
        x, y = torch.meshgrid(axis, axis, indexing="ij")
        while True:
            label = int(torch.randint(CLASSES, (), generator=random))
            angle = torch.tensor(label * torch.pi / CLASSES)
            along = x * torch.cos(angle) + y * torch.sin(angle)
            phases = torch.rand(3, STRIPES, 1, 1, generator=random)
            frequencies = torch.arange(1.0, STRIPES + 1).view(1, STRIPES, 1, 1)
            waves = torch.sin(frequencies * along + 2 * torch.pi * phases) / frequencies
            noise = 0.3 * torch.randn(3, PIXELS, PIXELS, generator=random)
            yield waves.sum(1) + noise, torch.tensor(label)


class Sequences(IterableDataset[tuple[Tensor, Tensor]]):
    """Sequences of tokens, each of which mostly follows from the two before it."""

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield sequences and the next token of each place, without end."""
        random = _generator()
        while True:
            tokens = torch.randint(TOKENS, (LENGTH + 1,), generator=random).tolist()
            surprises = torch.rand(LENGTH + 1, generator=random).tolist()
            for at in range(2, LENGTH + 1):
                if surprises[at] > 0.1:
                    tokens[at] = (5 * tokens[at - 1] + 3 * tokens[at - 2] + 1) % TOKENS
            whole = torch.tensor(tokens)
            yield whole[:-1], whole[1:]


class SmallConvolutional(nn.Module):
    """Three convolutions, each followed by normalisation and pooling."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in ((3, 32), (32, 64), (64, 128)):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after)]
            layers += [nn.ReLU(), nn.Conv2d(after, after, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(128, CLASSES)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the scores of the classes."""
        scores: Tensor = self.head(self.layers(pictures).mean((2, 3)))
        return scores


class SmallTransformer(nn.Module):
    """Four causal layers of attention over embedded tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(WIDTH, TOKENS)
        self.mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the scores of the next token at each place."""
        found = self.layers(self.tokens(tokens) + self.places, self.mask, is_causal=True)
        scores: Tensor = self.head(found).transpose(1, 2)
        return scores


def _generator() -> torch.Generator:
    worker = get_worker_info()
    return torch.Generator().manual_seed(1 if worker is None else 2 + worker.id)


def train(options: argparse.Namespace) -> None:
    """Train, and print speed and loss after each step."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    is_conv = options.model == "conv"
    model = SmallConvolutional() if is_conv else SmallTransformer()
    data = Pictures() if is_conv else Sequences()
    batch = options.batch or DEFAULT_BATCH[options.model]
    loader = DataLoader(data, batch_size=batch, num_workers=options.workers)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    began = time.perf_counter()
    for step, (samples, targets) in enumerate(loader, 1):
        loss = functional.cross_entropy(model(samples), targets)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        ended = time.perf_counter()
        speed = batch / (ended - began)
        print(f"step {step} samples/s: {speed:.2f} loss: {loss.item():.4f}", flush=True)
        began = ended
        if step >= options.steps:
            return


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=tuple(DEFAULT_BATCH), default="conv")
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch (%(default)s)")
    parser.add_argument("--batch", type=int, help="samples of a step (default: by model)")
    parser.add_argument(
        "--workers", type=int, default=0, help="processes that make data (%(default)s)"
    )
    parser.add_argument("--steps", type=int, default=200, help="steps (%(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    train(_parsed())
