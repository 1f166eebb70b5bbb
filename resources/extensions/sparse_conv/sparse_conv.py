# SPDX-License-Identifier: Apache-2.0
"""A network of sparse convolutions for the sample's digits, whose operators come from the extension pack beside this file.

    python sparse_conv.py LIBRARY FOLDER [--epochs N]

trains it on two thirds of the sample's labelled images, and writes sparse.pt2 (features and indices of the sites are its inputs, 24 images
a call) and data.pt, the calls of the other third, with their labels in labels.pt.
"""
import argparse
import pathlib
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
IMAGES, SIDE = 24, 8


class SparseConvTensor(NamedTuple):
    """Features at sites. Only they are ever quantized; torch.export takes the tuple apart."""

    features: torch.Tensor
    indices: torch.Tensor
    spatial_shape: tuple
    batch_size: int

    def replace_feature(self, features):
        return self._replace(features=features)

    def dense(self):
        return torch.ops.sparse_conv.dense(self.features, self.indices, list(self.spatial_shape), self.batch_size)


class SparseConv2d(nn.Module):
    """A convolution whose result has its input's sites; `whole`: one site an image, all of whose sites flow into it."""

    def __init__(self, channels_in, channels_out, kernel_size, whole=False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels_out, channels_in, kernel_size, kernel_size))
        self.bias = nn.Parameter(torch.zeros(channels_out))
        self.stride, self.padding = (kernel_size, 0) if whole else (1, kernel_size // 2)
        nn.init.kaiming_uniform_(self.weight, a=2)
        sites = torch.zeros(IMAGES, 3, dtype=torch.int64)
        sites[:, 0] = torch.arange(IMAGES)
        self.register_buffer("sites", sites if whole else None)

    def forward(self, x):
        out = x.indices if self.sites is None else self.sites
        shape = x.spatial_shape if self.sites is None else (1, 1)
        if self.training:  # the operator has no gradient: the same by a convolution of images
            features = train_conv(x, self.weight, self.bias, out, self.stride, self.padding)
        else:
            features = torch.ops.sparse_conv.conv2d(x.features, self.weight, self.bias, x.indices, out, self.stride, self.padding)
        return SparseConvTensor(features, out, shape, x.batch_size)


def train_dense(x):
    images = torch.zeros(x.batch_size, *x.spatial_shape, x.features.shape[1])
    return images.index_put(tuple(x.indices.unbind(1)), x.features).permute(0, 3, 1, 2)


def train_conv(x, weight, bias, out, stride, padding):
    made = nn.functional.conv2d(train_dense(x), weight, bias, stride, padding).permute(0, 2, 3, 1)
    return made[out[:, 0], out[:, 1], out[:, 2]]


class SparseSequential(nn.Sequential):
    """PyTorch's own modules see the features alone."""

    def forward(self, x):
        for module in self:
            x = module(x) if isinstance(module, SparseConv2d) else x.replace_feature(module(x.features))
        return x


class SparseNet(nn.Module):
    """Six sparse convolutions, five with ReLU; dense, flatten, log_softmax."""

    def __init__(self):
        super().__init__()
        layers, channels = [], [1, 8, 16, 16, 16, 16]
        for wide, narrow in zip(channels, channels[1:]):
            layers += [SparseConv2d(wide, narrow, 3), nn.ReLU()]
        self.net = SparseSequential(*layers, SparseConv2d(16, 10, SIDE, whole=True))

    def forward(self, features, indices):
        x = self.net(SparseConvTensor(features, indices, (SIDE, SIDE), IMAGES))
        return torch.log_softmax(torch.flatten(train_dense(x) if self.training else x.dense(), 1), 1)


def sites_of(images):
    """Features and indices of the pixels that are not background."""
    indices = (images[:, 0] > images.min() + 0.1).nonzero()
    return images[indices[:, 0], 0, indices[:, 1], indices[:, 2]].unsqueeze(1), indices


def calls(images):
    return [sites_of(images[start:start + IMAGES]) for start in range(0, len(images) - IMAGES + 1, IMAGES)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=40)
    options = parser.parse_args()
    torch.ops.load_library(str(pathlib.Path(options.library).resolve()))
    options.folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)  # nothing here is large
    data = np.load(SAMPLES / "test.npz")
    images, labels = torch.from_numpy(data["image"]), torch.from_numpy(data["labels"])
    train = 2 * len(images) // 3 // IMAGES * IMAGES
    net = SparseNet()
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    for _ in range(options.epochs):
        order = torch.randperm(train)
        for batch in order.split(IMAGES):
            loss = nn.functional.nll_loss(net(*sites_of(images[batch])), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    net.eval()
    held = calls(images[train:])
    labels = labels[train:train + IMAGES * len(held)]
    with torch.no_grad():
        right = (torch.cat([net(*call) for call in held]).argmax(1) == labels).float().mean()
    print(f"float top-1 {100 * right:.1f} % of {len(labels)} images")
    sites = torch.export.Dim("sites", min=2, max=IMAGES * SIDE * SIDE)
    torch.export.save(torch.export.export(net, held[0], dynamic_shapes=({0: sites}, {0: sites}), strict=True), options.folder / "sparse.pt2")
    torch.save(held, options.folder / "data.pt")
    torch.save(labels, options.folder / "labels.pt")


if __name__ == "__main__":
    import sparse_conv  # as a module, so that its classes are called what the pack's patterns call them

    sparse_conv.main()
