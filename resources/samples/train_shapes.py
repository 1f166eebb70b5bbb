# SPDX-License-Identifier: Apache-2.0
"""Trains a small detector and writes shapes.pt2, shapes.calib.npz and shapes.test.npz beside this file.

The images are drawn: 32x32 grey values with one to three squares, discs and crosses on a noisy ground. Each of the 8x8 cells of
the result says a box in pixels (centre and size) and a score from 0 to 1 for each class, in one tensor, as detectors do. The
boxes reach 32 and the scores 1: one range for both leaves four steps for the scores. Needed once, and only to make the
sample anew (the three files are in the repository):

    python resources/samples/train_shapes.py

The seeds are fixed; training takes about ten seconds on one core. At the end the script quantizes its model with torch.ao
(backend x86) and fails if the float model finds under 95 % of the shapes.
"""
import sys
import warnings

import numpy as np
import torch
from train_common import quantized, write_sample
from torch import nn

SIZE, CELL, CLASSES = 32, 4, 3
CELLS = SIZE // CELL


class ConvBlock(nn.Module):
    """Convolution, batch norm, ReLU."""

    def __init__(self, channels_in, channels_out, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


class Head(nn.Module):
    """For each cell a box in pixels and a score for each class: [N, 4 + 3, 64]."""

    def __init__(self, channels):
        super().__init__()
        self.centre = nn.Conv2d(channels, 2, 1)
        self.size = nn.Conv2d(channels, 2, 1)
        self.score = nn.Conv2d(channels, CLASSES, 1)
        rows, columns = torch.meshgrid(torch.arange(CELLS), torch.arange(CELLS), indexing="ij")
        self.register_buffer("grid", torch.stack([columns, rows]).float())

    def forward(self, x):
        centre = (torch.sigmoid(self.centre(x)) + self.grid) * CELL
        size = torch.sigmoid(self.size(x)) * SIZE
        score = torch.sigmoid(self.score(x))
        return torch.flatten(torch.cat([centre, size, score], 1), 2)


class ShapeDetector(nn.Module):
    """Images [N, 1, 32, 32] to boxes and scores [N, 7, 64]."""

    def __init__(self):
        super().__init__()
        self.stem = ConvBlock(1, 16, stride=2)
        self.down = ConvBlock(16, 32, stride=2)
        self.mix1 = ConvBlock(32, 32)
        self.mix2 = ConvBlock(32, 32)
        self.head = Head(32)

    def forward(self, image):
        x = self.down(self.stem(image))
        return self.head(self.mix2(x + self.mix1(x)))


def draw(kind, centre, half):
    """Where the shape is, as a mask of the image."""
    rows, columns = np.mgrid[0:SIZE, 0:SIZE]
    dx, dy = np.abs(columns - centre[0]), np.abs(rows - centre[1])
    inside = (dx <= half) & (dy <= half)
    if kind == 0:
        return inside
    if kind == 1:
        return dx**2 + dy**2 <= (half + 0.3) ** 2
    return inside & ((dx <= half / 3) | (dy <= half / 3))


def make_images(count, random):
    """(images, per image a list of (class, centre x, centre y, size)); shapes do not touch."""
    images = np.empty((count, 1, SIZE, SIZE), np.float32)
    shapes = []
    for i in range(count):
        image = random.normal(0.1, 0.05, (SIZE, SIZE))
        here = []
        for _ in range(random.integers(1, 4)):
            half = int(random.integers(3, 6))
            centre = random.integers(half, SIZE - half, 2)
            if all(np.abs(centre - other[1:3]).max() > half + other[3] / 2 + 1 for other in here):
                kind = int(random.integers(0, CLASSES))
                image[draw(kind, centre, half)] += random.uniform(0.5, 0.9)
                here.append((kind, int(centre[0]), int(centre[1]), 2 * half + 1))
        images[i, 0] = np.round(np.clip(image, 0, 1) * 255) / 255  # as read from a picture
        shapes.append(here)
    return images, shapes


def targets(shapes):
    """The wanted scores [N, 3, 8, 8], and of the cells with a shape (image, class, row, column, box)."""
    scores = torch.zeros(len(shapes), CLASSES, CELLS, CELLS)
    cells = []
    for i, here in enumerate(shapes):
        for kind, x, y, size in here:
            row, column = y // CELL, x // CELL
            scores[i, kind, row, column] = 1
            cells.append((i, row * CELLS + column, x, y, size, size))
    return scores.flatten(2), torch.tensor(cells)


def train(steps=500, batch=64):
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    images, shapes = make_images(2048, random)
    images = torch.from_numpy(images)
    model = ShapeDetector()
    with torch.no_grad():
        model.head.score.bias.fill_(-3)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, steps)
    for _ in range(steps):
        chosen = random.choice(len(images), batch, replace=False)
        scores, cells = targets([shapes[i] for i in chosen])
        found = model(images[chosen])
        boxes = found[cells[:, 0], :4, cells[:, 1]]
        loss = nn.functional.binary_cross_entropy(found[:, 4:], scores, reduction="sum") / len(cells) \
            + (boxes - cells[:, 2:]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def overlap(box, other):
    """Intersection over union of two boxes given by centre and size."""
    low = np.maximum(box[:2] - box[2:] / 2, other[:2] - other[2:] / 2)
    high = np.minimum(box[:2] + box[2:] / 2, other[:2] + other[2:] / 2)
    common = np.prod(np.clip(high - low, 0, None))
    return common / (np.prod(box[2:]) + np.prod(other[2:]) - common)


def found_share(model, images, shapes, least=0.5):
    """The share of the shapes for which the cell of their centre has the right class, over `least`, and a box that overlaps by
    half; and how many other cells are over `least`, per image."""
    with torch.no_grad():
        results = model(torch.from_numpy(images)).numpy()
    hits = extra = total = 0
    for result, here in zip(results, shapes):
        scores = result[4:]
        extra += int((scores > least).sum())
        for kind, x, y, size in here:
            cell = y // CELL * CELLS + x // CELL
            total += 1
            hit = scores[kind, cell] > least
            extra -= int(hit)
            hits += bool(hit and overlap(result[:4, cell], np.array([x, y, size, size], np.float32)) > 0.5)
    return hits / total, extra / len(images)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    model = train()
    random = np.random.default_rng(1)
    calibration, _ = make_images(40, random)
    images, shapes = make_images(40, random)
    size = write_sample("shapes", model, {"image": calibration}, {"image": images})
    more, where = make_images(512, random)
    found, extra = found_share(model, more, where)
    int8_found, int8_extra = found_share(quantized(model, torch.from_numpy(calibration)), more, where)
    print(f"shapes found in {len(more)} images: float {found:.2%} ({extra:.2f} wrong an image), "
          f"int8 (torch.ao) {int8_found:.2%} ({int8_extra:.2f} wrong an image); {size:,} bytes")
    return 0 if found >= 0.95 and size < 300_000 else 1


if __name__ == "__main__":
    import train_shapes  # so that the exported classes are train_shapes.ShapeDetector, not __main__.ShapeDetector

    sys.exit(train_shapes.main())
