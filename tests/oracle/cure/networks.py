# SPDX-License-Identifier: Apache-2.0
"""Small networks that the blame of quantizers is held to, with data; everything from fixed seeds."""
import torch
from torch import nn
from torch.nn import functional as F


class Chain(nn.Module):
    """Linears alone, of several widths."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(12, 24), nn.Linear(24, 20), nn.Linear(20, 10))

    def forward(self, x):
        return self.layers(x)


class Convolutions(nn.Module):
    """Convolutions without activations, the second with a stride and in groups, then a linear."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.second = nn.Conv2d(6, 6, 3, stride=2, groups=2)
        self.head = nn.Linear(6 * 3 * 3, 9)

    def forward(self, x):
        return self.head(torch.flatten(self.second(self.first(x)), 1))


class Branches(nn.Module):
    """Two branches that are added, and what they came from added again; pooled by the mean."""

    def __init__(self):
        super().__init__()
        self.stem, self.left, self.right = nn.Conv2d(3, 5, 1), nn.Conv2d(5, 5, 3, padding=1), nn.Conv2d(5, 5, 1)
        self.head = nn.Linear(5 * 3 * 3, 9)

    def forward(self, x):
        y = self.stem(x)
        y = self.left(y) + self.right(y) + y
        return self.head(torch.flatten(F.avg_pool2d(y, 2), 1))


LINEAR = {"chain": (Chain, (12,)), "convolutions": (Convolutions, (3, 7, 7)), "branches": (Branches, (3, 6, 6))}


class Pictures(nn.Module):
    """Convolutions with batch norm and relu, a pooling that shares its observer, a residual, a float operator."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv2, self.conv3 = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 6, 3)
        self.fc = nn.Linear(6 * 3 * 3, 5)

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.bn(self.conv1(x))), 2)
        y = self.conv3(y + self.conv2(y))
        return torch.tanh(self.fc(torch.flatten(y, 1)))


class Residual(nn.Module):
    """Two blocks of an MLP with a residual stream and norms, as transformers have them."""

    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Linear(10, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.up = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(2))
        self.down = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(2))
        self.head = nn.Linear(width, 7)

    def forward(self, x):
        x = self.embed(x)
        for norm, up, down in zip(self.norms, self.up, self.down):
            x = x + down(F.gelu(up(norm(x))))
        return self.head(x)


class Scaled(nn.Module):
    """Two layers with relu between: by how much the first is scaled, the second takes back."""

    def __init__(self, factor=1.0):
        super().__init__()
        self.first, self.second, self.head = nn.Linear(10, 14), nn.Linear(14, 12), nn.Linear(12, 6)
        self.factor = factor

    def scaled(self):
        with torch.no_grad():
            self.first.weight *= self.factor
            self.first.bias *= self.factor
            self.second.weight /= self.factor
        return self

    def forward(self, x):
        return self.head(F.relu(self.second(F.relu(self.first(x)))))


class Outputs(nn.Module):
    """Two outputs of floats, the second `factor` times as large as it would be, and one of integers."""

    def __init__(self, factor=1.0):
        super().__init__()
        self.stem, self.small, self.large = nn.Linear(10, 14), nn.Linear(14, 6), nn.Linear(14, 3)
        self.factor = factor

    def scaled(self):
        with torch.no_grad():
            self.large.weight *= self.factor
            self.large.bias *= self.factor
        return self

    def forward(self, x):
        x = torch.tanh(self.stem(x))
        small = self.small(x)
        return small, self.large(x), small.argmax(1)


class Blocked(nn.Module):
    """What comes before `round` reaches the output through it alone: autograd's derivative is zero everywhere."""

    def __init__(self):
        super().__init__()
        self.before, self.after = nn.Linear(10, 8), nn.Linear(8, 5)

    def forward(self, x):
        return self.after(torch.round(4 * self.before(x)) / 4)


class Chosen(nn.Module):
    """A row of a table by argmax of one branch: no derivative leads back into it."""

    def __init__(self):
        super().__init__()
        self.chooser, self.table, self.other = nn.Linear(10, 6), nn.Embedding(6, 5), nn.Linear(10, 5)

    def forward(self, x):
        return self.table(self.chooser(x).argmax(1)) + self.other(x)


class Recurrent(nn.Module):
    """An LSTM, then a linear."""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 12, batch_first=True), nn.Linear(12, 4)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


def seeded(make, shape, samples=16, seed=11):
    """(network in evaluation, its data): the same for the same seed. Norms that have seen data."""
    torch.manual_seed(seed)
    network = make()
    data = torch.randn(samples, *shape)
    if any(isinstance(module, nn.BatchNorm2d) for module in network.modules()):
        network.train()
        with torch.no_grad():
            network(data)
    return network.eval(), data
