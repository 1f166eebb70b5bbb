# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer and writes sequences.pt2, sequences.calib.npz and sequences.test.npz beside this file.

The task can be computed: sixteen tokens, ten digits and one marker among them; the class is the digit after the marker. The
network must find the marker and look one place further, which is what attention is for. Needed once, and only to make the
sample anew (the three files are in the repository):

    python resources/samples/train_sequences.py

The seeds are fixed; training takes about ten seconds on one core. At the end the script quantizes its model with torch.ao
(backend x86) and fails if float top-1 is under 99 %.
"""
import sys
import warnings

import numpy as np
import torch
from train_common import quantized, write_sample
from torch import nn

LENGTH, DIGITS = 16, 10
MARKER = DIGITS  # the eleventh token
WIDTH, HEADS, HIDDEN, LAYERS = 32, 4, 64, 2


class Attention(nn.Module):
    """Self-attention with a linear layer for each of query, key, value and output."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def split(self, x):
        return x.view(x.size(0), LENGTH, self.heads, WIDTH // self.heads).transpose(1, 2)

    def forward(self, x):
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = torch.softmax(torch.matmul(query, key.transpose(2, 3)) * (WIDTH // self.heads) ** -0.5, -1)
        mixed = torch.matmul(weights, value).transpose(1, 2).reshape(x.size(0), LENGTH, WIDTH)
        return self.out(mixed)


class EncoderLayer(nn.Module):
    """Attention, then two linear layers; each normalised before and added to what went in."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, hidden)
        self.gelu = nn.GELU()
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class SequenceNet(nn.Module):
    """Tokens [N, 16] to logits [N, 10]."""

    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(DIGITS + 1, WIDTH)
        self.position = nn.Parameter(torch.randn(LENGTH, WIDTH))
        self.layers = nn.Sequential(*(EncoderLayer(WIDTH, HEADS, HIDDEN) for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, DIGITS)

    def forward(self, tokens):
        x = self.layers(self.token(tokens) + self.position)
        return self.head(self.norm(x).mean(1))


def make_sequences(count, generator):
    """Random digits with one marker before the last place, and the digit after it."""
    tokens = torch.randint(0, DIGITS, (count, LENGTH), generator=generator)
    place = torch.randint(0, LENGTH - 1, (count,), generator=generator)
    rows = torch.arange(count)
    tokens[rows, place] = MARKER
    return tokens, tokens[rows, place + 1]


def train(steps=700, batch=128):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = SequenceNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, steps)
    for _ in range(steps):
        tokens, labels = make_sequences(batch, generator)
        loss = nn.functional.cross_entropy(model(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def top1(model, tokens, labels):
    with torch.no_grad():
        return (model(tokens).argmax(1) == labels).float().mean().item()


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    model = train()
    generator = torch.Generator().manual_seed(1)
    calibration, _ = make_sequences(128, generator)
    tokens, labels = make_sequences(512, generator)
    size = write_sample("sequences", model, {"tokens": calibration.numpy()},
                        {"tokens": tokens.numpy(), "labels": labels.numpy().astype(np.int64)})
    float_top1 = top1(model, tokens, labels)
    int8_top1 = top1(quantized(model, calibration), tokens, labels)
    print(f"top-1 on {len(labels)} sequences: float {float_top1:.2%}, int8 (torch.ao) {int8_top1:.2%}; {size:,} bytes")
    return 0 if float_top1 >= 0.99 and size < 300_000 else 1


if __name__ == "__main__":
    import train_sequences  # so that the exported classes are train_sequences.SequenceNet, not __main__.SequenceNet

    sys.exit(train_sequences.main())
