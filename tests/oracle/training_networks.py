# SPDX-License-Identifier: Apache-2.0
"""Small networks to train with simulated quantization: for each what torch.ao's prepare_qat_fx treats differently."""
import torch
from torch import nn
from torch.nn import functional as F

import families
from test_trained import Words


class Plain(nn.Module):
    """Conv+BN+ReLU and Conv+BN, a linear layer."""

    def __init__(self, first_bias, second_bias):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 8, 3, padding=1, bias=first_bias), nn.BatchNorm2d(8), nn.ReLU()
        self.conv2, self.bn2 = nn.Conv2d(8, 6, 3, stride=2, bias=second_bias), nn.BatchNorm2d(6)
        self.fc = nn.Linear(6, 5)

    def forward(self, x):
        return self.fc(self.bn2(self.conv2(self.relu(self.bn(self.conv(x))))).mean([2, 3]))


class Separable(nn.Module):
    """Depthwise and pointwise convolutions with batch norms and relu6."""

    def __init__(self):
        super().__init__()
        self.stem, self.stem_bn, self.act = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()
        self.depth, self.depth_bn = nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), nn.BatchNorm2d(8)
        self.point, self.point_bn = nn.Conv2d(8, 12, 1, bias=False), nn.BatchNorm2d(12)
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(12, 4)

    def forward(self, x):
        x = self.act(self.stem_bn(self.stem(x)))
        x = F.relu6(self.depth_bn(self.depth(x)))
        return self.fc(torch.flatten(self.pool(self.point_bn(self.point(x))), 1))


class Residual(nn.Module):
    """An add with and one without relu; a batch norm that follows no convolution."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv2, self.conv3 = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.alone, self.relu, self.last = nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 1)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x)))
        x = torch.relu(self.conv2(x) + x)
        x = self.conv3(x) + x
        return self.last(self.relu(self.alone(x)))


class Twice(nn.Module):
    """A convolution that is called twice: one fake quantizer of its weight sees two values a step."""

    def __init__(self):
        super().__init__()
        self.conv, self.last = nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 4, 1)

    def forward(self, x):
        return self.last(self.conv(torch.relu(self.conv(x))))


class Branches(nn.Module):
    """Branches that meet in a cat; two outputs, of different sizes."""

    def __init__(self):
        super().__init__()
        self.a, self.relu = nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.ReLU()
        self.b, self.norm = nn.Conv2d(3, 6, 1, stride=2, groups=3), nn.BatchNorm2d(6)
        self.last = nn.Conv2d(12, 4, 1)

    def forward(self, x):
        left, right = self.relu(self.a(x)), self.norm(self.b(x))
        return self.last(torch.cat([left, right], 1)), right.mean([2, 3])


class Dense(nn.Module):
    """Linear layers with relu, with a batch norm, bias or not; a sigmoid, whose range is fixed. No relu after the batch norm: prepare_qat_fx puts a
    fake quantizer between the two, since it has no LinearBn1d with relu, while conversion fuses all three."""

    def __init__(self, bias):
        super().__init__()
        self.one, self.act = nn.Linear(12, 16), nn.ReLU()
        self.two, self.norm = nn.Linear(16, 16, bias=bias), nn.BatchNorm1d(16)
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        return torch.sigmoid(self.last(self.norm(self.two(self.act(self.one(x))))))


class Attention(nn.Module):
    """A transformer's block: layer norms, softmax, gelu, products of two activations."""

    def __init__(self, width=16):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.act, self.down = nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width)

    def forward(self, x):
        y = self.norm(x)
        scores = torch.matmul(self.q(y), self.k(y).transpose(1, 2)) * 0.25
        x = x + self.out(torch.matmul(torch.softmax(scores, -1), self.v(y)))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Pools(nn.Module):
    """Maximum and average pooling, hardswish, a function whose weight is a parameter."""

    def __init__(self):
        super().__init__()
        self.conv, self.act, self.most = nn.Conv2d(3, 8, 3, padding=1), nn.Hardswish(), nn.MaxPool2d(2)
        self.conv2, self.mean = nn.Conv2d(8, 8, 3, padding=1), nn.AvgPool2d(2)
        self.weight = nn.Parameter(0.2 * torch.randn(5, 8))

    def forward(self, x):
        x = self.mean(F.relu(self.conv2(self.most(self.act(self.conv(x))))))
        return F.linear(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1), self.weight)


class Line(nn.Module):
    """Convolutions of one dimension with batch norms."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv1d(4, 8, 3, padding=1), nn.BatchNorm1d(8), nn.ReLU()
        self.conv2, self.bn2 = nn.Conv1d(8, 8, 3, padding=2, dilation=2, bias=False), nn.BatchNorm1d(8)
        self.last = nn.Conv1d(8, 2, 1)

    def forward(self, x):
        return self.last(self.bn2(self.conv2(self.relu(self.bn(self.conv(x))))))


class Volume(nn.Module):
    """Convolutions of three dimensions with batch norms."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv3d(2, 6, 3, padding=1), nn.BatchNorm3d(6), nn.ReLU()
        self.last, self.bn2 = nn.Conv3d(6, 3, 1, bias=False), nn.BatchNorm3d(3)

    def forward(self, x):
        return self.bn2(self.last(self.relu(self.bn(self.conv(x)))))


def words(count):
    return torch.randint(0, 20, (count, 5))


def floats(*shape):
    return lambda count: torch.randn(count, *shape)


IMAGE = (3, 8, 8)
# name: (network, inputs)
NETWORKS = {
    "plain": (lambda: Plain(True, True), floats(*IMAGE)),
    "no_bias": (lambda: Plain(False, False), floats(*IMAGE)),
    "separable": (Separable, floats(*IMAGE)),
    "residual": (Residual, floats(*IMAGE)),
    "branches": (Branches, floats(*IMAGE)),
    "twice": (Twice, floats(*IMAGE)),
    "dense": (lambda: Dense(True), floats(12)),
    "dense_no_bias": (lambda: Dense(False), floats(12)),
    "attention": (Attention, floats(6, 16)),
    "words": (Words, words),
    "pools": (Pools, floats(*IMAGE)),
    "line": (Line, floats(4, 16)),
    "volume": (Volume, floats(2, 4, 6, 6)),
}


def make(name, count):
    """(the network in eval mode, its batch norms warmed up; data for it), the same each time."""
    network, inputs = NETWORKS[name]
    torch.manual_seed(len(name))
    model, data = network(), inputs(count)
    return (families.warm(model, data) if data.is_floating_point() else model.eval()), data
