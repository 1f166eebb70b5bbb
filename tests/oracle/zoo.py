# SPDX-License-Identifier: Apache-2.0
"""More networks on which to agree: each leans on operators that the others do not have."""
import functools

import torch
from torch import nn
from torch.nn import functional as F

import models


class Functional(nn.Module):
    """Weights handed to functions rather than held by modules."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(6, 3, 3, 3) * 0.2)
        self.bias = nn.Parameter(torch.randn(6) * 0.1)
        self.matrix = nn.Parameter(torch.randn(5, 6) * 0.4)

    def forward(self, x):
        x = F.relu(F.conv2d(x, self.kernel, self.bias, (1, 1), (1, 1), (1, 1), 1))
        x = F.avg_pool2d(x, 2).mean([2, 3])
        return F.linear(x, self.matrix)


class Sequence(nn.Module):
    """One-dimensional convolutions, layer norm, GELU, softmax, a transposed linear path.

    Its length is odd: the mean of an even number of values on a grid, put back on that grid, can lie in the middle of two
    steps, where the last bit decides. That bit is the order of the sum, hence of the strides, which aten::quantize_per_tensor
    changes and quantized_decomposed::quantize_per_tensor keeps."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 12, 3, padding=1)
        self.bn = nn.BatchNorm1d(12)
        self.relu = nn.ReLU()
        self.norm = nn.LayerNorm(12)
        self.wide = nn.Linear(12, 24)
        self.narrow = nn.Linear(24, 12)
        self.act = nn.GELU()
        self.head = nn.Linear(12, 5)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        x = self.relu(self.bn(self.conv(x))).transpose(1, 2)
        x = x + self.narrow(self.act(self.wide(self.norm(x))))
        return self.softmax(self.head(x.mean(dim=1)))


class Activations(nn.Module):
    """Every activation with its own rule: fixed parameters, shared observers, none."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(6 if i else 3, 6, 3, padding=1) for i in range(7))
        self.acts = nn.ModuleList([nn.Hardswish(), nn.ELU(), nn.LeakyReLU(0.1), nn.Hardsigmoid(), nn.Tanh(), nn.Sigmoid(),
                                   nn.Hardtanh(-0.7, 0.9)])

    def forward(self, x):
        for conv, act in zip(self.convs, self.acts):
            x = act(conv(x)) * 2.0 + 0.1
        return x.clamp(-3, 3).reshape(x.shape[0], -1)


class Twice(nn.Module):
    """One convolution called twice: its weight is shared, its outputs are not."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.twice = nn.Conv2d(8, 8, 3, padding=1)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.twice(self.twice(self.act(self.stem(x)))).mean([2, 3])


class Skips(nn.Module):
    """Adds whose operands come in every order: with a constant, with itself, chained, relu as a method."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, padding=1)
        self.b = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.c = nn.Conv2d(8, 8, 1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.head = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        x = self.a(x).relu()
        y = torch.add(self.bn(self.b(x)), x)
        z = torch.relu(self.c(y) + y + x)
        z = z + z
        z = F.interpolate(z, scale_factor=0.5, mode="nearest")
        return self.head(self.up(z)), z.flatten(1).sum(1)


class Parts(nn.Module):
    """Parts cut out of values, one of them changed in place."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, padding=1)
        self.b = nn.Conv2d(6, 6, 3, padding=1)
        self.c = nn.Conv2d(6, 4, 1)

    def forward(self, x):
        y = self.a(x)[:, 2:, :, :]
        z = (self.b(y) + y)[:, :, ::2]
        z += 1.0
        return self.c(z)


class Paths(nn.Module):
    """Paths as in timm's selective kernels: parts that are joined share the first one's observer, which then is another than that
    of what the other's relu reads. Such a relu is read elsewhere as well, and by what keeps its parameters too."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(4, 8, 3, padding=1) for _ in range(3))
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("variance", torch.full((8,), 0.5))
        self.select = nn.Conv2d(8, 16, 1)
        self.d, self.e = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 1)

    def path(self, conv, x):
        return F.relu(F.batch_norm(conv(x), self.mean, self.variance))

    def forward(self, x):
        parts = torch.split(x, 4, 1)
        a, b, c = self.path(self.a, parts[0]), self.path(self.b, parts[1]), self.path(self.c, parts[2])
        whole = torch.stack([a, b], dim=1)
        weights = self.select(whole.sum(1).mean((2, 3), keepdim=True)).reshape(-1, 2, 8, 1, 1)
        y = (whole * torch.softmax(weights, dim=1)).sum(1)
        return torch.cat([self.d(y), c, self.e(b)], 1), b.transpose(1, 2).flatten(1)


def small(name, network, shape, seed):
    torch.manual_seed(seed)
    data = models.images(40, shape, seed) if len(shape) == 3 else \
        torch.randn(40, *shape, generator=torch.Generator().manual_seed(seed)).numpy()
    model = models.warmed(network(), data[:32])
    return models.Case(name, model, data[:32], data[32:])


CASES = {
    "twice": lambda: small("twice", Twice, (3, 16, 16), 23),
    "functional": lambda: small("functional", Functional, (3, 16, 16), 11),
    "sequence": lambda: small("sequence", Sequence, (4, 21), 13),
    "activations": lambda: small("activations", Activations, (3, 16, 16), 17),
    "skips": lambda: small("skips", Skips, (3, 16, 16), 19),
    "parts": lambda: small("parts", Parts, (3, 16, 16), 29),
    "paths": lambda: small("paths", Paths, (12, 16, 16), 31),
    "squeezenet1_1": lambda: models.from_torchvision("squeezenet1_1", 2),
    "mobilenet_v3_small": lambda: models.from_torchvision("mobilenet_v3_small", 2),
    "shufflenet_v2_x0_5": lambda: models.from_torchvision("shufflenet_v2_x0_5", 2),
    "densenet121": lambda: models.from_torchvision("densenet121", 1),
    "vgg11_bn": lambda: models.from_torchvision("vgg11_bn", 1),
    "efficientnet_b0": lambda: models.from_torchvision("efficientnet_b0", 1),
    "googlenet": lambda: models.from_torchvision("googlenet", 1),
    "regnet_y_400mf": lambda: models.from_torchvision("regnet_y_400mf", 1),
    **{name: functools.partial(models.from_family, name) for name in (
        "torchvision.resnext50_32x4d", "torchvision.convnext_tiny",
        "timm.resnet10t", "timm.mobilenetv3_small_050", "timm.lcnet_050", "timm.tinynet_e", "timm.ghostnet_050", "timm.repvgg_a0",
        "timm.hrnet_w18_small", "timm.dla34", "timm.poolformer_s12", "timm.convnext_atto", "timm.skresnet18", "timm.selecsls42")},
}

# Where our lowered form differs on purpose from torch.ao's: see "Deliberate differences" in engine/README.md. It must still be
# no worse against float than torch.ao's.
LOWERED_DIFFERS = {
    "activations/x86": "kernels more than a step away from the reference form are not used",
    "activations/minmax": "kernels more than a step away from the reference form are not used",
    "twice/x86": "each call keeps its own output parameters",
    "twice/minmax": "each call keeps its own output parameters",
    "skips/x86": "a transposed convolution whose kernel is wrong stays in reference form",
    "skips/minmax": "a transposed convolution whose kernel is wrong stays in reference form",
}
