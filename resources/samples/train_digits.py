# SPDX-License-Identifier: Apache-2.0
"""Trains the sample model and writes digits.pt2, calib.npz and test.npz beside this file.

The data are scikit-learn's handwritten digits: 1,797 real images of 8x8 grey values. Needed once, and only to make the
sample anew (the three files are in the repository):

    pip install scikit-learn==1.9.1
    python resources/samples/train_digits.py

The seeds are fixed. At the end the script quantizes its model with torch.ao (backend x86) and fails if float top-1 is under
97 % or int8 is more than half a point below it.
"""
import pathlib
import sys
import warnings

import numpy as np
import torch
from train_common import exported, quantized
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
MEAN, STD = 0.3053, 0.3761  # of the training images, grey values scaled to [0, 1]


class ConvBlock(nn.Module):
    """Convolution, batch norm, ReLU."""

    def __init__(self, channels_in, channels_out, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, 3, stride=stride, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


class ResidualBlock(nn.Module):
    """Two convolutions around which the input is carried and added."""

    def __init__(self, channels):
        super().__init__()
        self.conv1 = ConvBlock(channels, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn2(self.conv2(self.conv1(x))) + x)


class DigitsNet(nn.Module):
    """Images [N, 1, 8, 8] to logits [N, 10]."""

    def __init__(self):
        super().__init__()
        self.stem = ConvBlock(1, 16)
        self.block1 = ResidualBlock(16)
        self.down = ConvBlock(16, 32, stride=2)
        self.block2 = ResidualBlock(32)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(32, 10)

    def forward(self, image):
        x = self.block1(self.stem(image))
        x = self.block2(self.down(x))
        return self.head(torch.flatten(self.pool(x), 1))


def load_digits():
    """Normalised images and labels: (train images, train labels, test images, test labels)."""
    from sklearn.datasets import load_digits as load
    from sklearn.model_selection import train_test_split

    images, labels = load(return_X_y=True)
    images = ((images.reshape(-1, 1, 8, 8) / 16.0 - MEAN) / STD).astype(np.float32)
    return train_test_split(images, labels.astype(np.int64), test_size=360, random_state=0, stratify=labels)


def shifted(images, generator):
    """Each image moved by up to one pixel: eight by eight pixels leave little else to vary."""
    padded = nn.functional.pad(images, (1, 1, 1, 1), value=-MEAN / STD)
    dy, dx = torch.randint(0, 3, (2,), generator=generator).tolist()
    return padded[:, :, dy:dy + 8, dx:dx + 8]


def train(images, labels, epochs=60, batch=64):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = DigitsNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        order = torch.randperm(len(images), generator=generator)
        for start in range(0, len(images) - batch + 1, batch):
            chosen = order[start:start + batch]
            loss = nn.functional.cross_entropy(model(shifted(images[chosen], generator)), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def top1(model, images, labels):
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    train_x, test_x, train_y, test_y = load_digits()
    images, labels = torch.from_numpy(train_x), torch.from_numpy(train_y)
    test_images, test_labels = torch.from_numpy(test_x), torch.from_numpy(test_y)
    model = train(images, labels)

    calib = images[:128]
    torch.export.save(exported(model, calib[:8].clone()), HERE / "digits.pt2")
    np.savez_compressed(HERE / "calib.npz", image=train_x[:128])
    np.savez_compressed(HERE / "test.npz", image=test_x, labels=test_y)

    float_top1 = top1(model, test_images, test_labels)
    int8_top1 = top1(quantized(model, calib), test_images, test_labels)
    size = sum((HERE / name).stat().st_size for name in ("digits.pt2", "calib.npz", "test.npz"))
    print(f"top-1 on {len(test_y)} held-out images: float {float_top1:.2%}, int8 (torch.ao) {int8_top1:.2%}; {size:,} bytes")
    return 0 if float_top1 >= 0.97 and int8_top1 >= float_top1 - 0.005 and size < 1_000_000 else 1


if __name__ == "__main__":
    import train_digits  # so that the exported classes are train_digits.DigitsNet, not __main__.DigitsNet

    sys.exit(train_digits.main())
