# SPDX-License-Identifier: Apache-2.0
"""Small networks whose plans are compared with torch.ao's prepare_fx."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tutorial(nn.Module):
    def __init__(self, use_bn):
        super().__init__()
        self.linear = nn.Linear(10, 3)
        self.conv = nn.Conv2d(3, 3, 3)
        self.bn = nn.BatchNorm2d(3)
        self.relu = nn.ReLU()
        self.sigmoid = nn.Sigmoid()
        self.use_bn = use_bn

    def forward(self, x):
        x = self.conv(self.linear(x))
        if self.use_bn:
            x = self.bn(x)
        return self.sigmoid(self.relu(x))


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x
        return self.relu(y)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        self.block = Block(8)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.pool(self.block(self.stem(x)))
        x = F.adaptive_avg_pool2d(x, 1)
        return self.fc(self.drop(torch.flatten(x, 1)))


class CatPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.pool = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3), nn.AvgPool2d(2)

    def forward(self, x):
        return self.pool(torch.cat((self.a(x), self.b(x)), 1))


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 3, 3, 3) / 5)
        self.b = nn.Parameter(torch.randn(4))
        self.lw, self.scale = nn.Parameter(torch.randn(6, 4) / 3), nn.Parameter(torch.randn(4, 1, 1))

    def forward(self, x):
        y = F.relu(F.conv2d(x, self.w, self.b, padding=1))
        y = torch.add(y, self.scale)
        y = F.max_pool2d(y, 2).mean((2, 3))
        return F.linear(y, self.lw)


class FixedQParams(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.hs, self.sig = nn.Linear(6, 6), nn.Hardswish(), nn.Sigmoid()
        self.sm, self.tanh, self.hsg = nn.Softmax(1), nn.Tanh(), nn.Hardsigmoid()

    def forward(self, x):
        y = self.hs(self.fc(x))
        z = torch.sigmoid(y) * y
        return self.sm(z), self.tanh(z).tanh(), self.hsg(self.sig(x)), F.hardsigmoid(y)


class Shapes(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 4, 3), nn.Linear(4 * 36, 4)

    def forward(self, x):
        y = F.relu6(self.conv(x))
        n = y.size(0)
        z = y.permute(0, 2, 3, 1).contiguous().view(n, -1)
        return self.fc(z.unsqueeze(1).squeeze(1)).reshape(n, 2, 2).transpose(1, 2)


class Consumers(nn.Module):
    """One value with several kinds of readers, an add of a number, a value added to itself, chunks."""
    def __init__(self):
        super().__init__()
        self.conv, self.c1, self.c2 = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 1), nn.Conv2d(2, 4, 1)
        self.gelu, self.bn = nn.GELU(), nn.BatchNorm2d(4)

    def forward(self, x):
        y = self.conv(x)
        a = self.c1(y) + 3.0
        b = self.gelu(y)
        c, d = y.chunk(2, 1)
        e = self.c2(c) * self.c2(d)
        f = a + a
        g = F.relu(f + b)
        h = torch.relu(self.bn(g))
        return torch.cat([g, e, h], 1).clamp(0, 1), 2 * f, y


class LeadingReshape(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.act, self.l2 = nn.Linear(12, 8), nn.LeakyReLU(), nn.Linear(8, 4)

    def forward(self, x):
        y = self.act(self.l1(x.reshape(-1, 12)))
        return self.l2(F.dropout(F.gelu(y).reshape(-1, 2, 8), training=self.training))


class BlockedFusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()
        self.lin, self.bn1 = nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        y = self.conv(x)
        z = self.relu(self.bn(y)) + y
        return self.bn1(self.lin(z.mean((2, 3))))


class Transposed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.bn, self.norm = nn.ConvTranspose2d(3, 4, 2), nn.BatchNorm2d(4), nn.InstanceNorm2d(4)
        self.act = nn.PReLU()

    def forward(self, x):
        return self.act(self.norm(self.bn(self.up(x)))).flatten(1)


class Shared(nn.Module):
    """One module called twice. (torch.ao fuses in place: were one call not followed by relu, it would get one.)"""
    def __init__(self):
        super().__init__()
        self.conv, self.fc, self.relu = nn.Conv2d(3, 3, 3, padding=1), nn.Linear(3, 2), nn.ReLU()

    def forward(self, x):
        y = F.relu(self.conv(x))
        y = F.relu(self.conv(y))
        return self.fc(y.mean([2, 3])).relu(), torch.stack([y, y]).flatten(1)


def models():
    image = (torch.randn(2, 3, 8, 8),)
    yield "tutorial", Tutorial(False), (torch.randn(1, 3, 10, 10),)
    yield "tutorial_bn", Tutorial(True), (torch.randn(1, 3, 10, 10),)
    for model in (Residual(), CatPool(), Functional(), Consumers(), BlockedFusion(), Shared(), Shapes(), Transposed()):
        yield type(model).__name__, model, image
    yield "FixedQParams", FixedQParams(), (torch.randn(2, 6),)
    yield "LeadingReshape", LeadingReshape(), (torch.randn(4, 3, 4),)


def vision():
    import torchvision
    for name in ("resnet18", "mobilenet_v2", "shufflenet_v2_x1_0", "squeezenet1_1", "mobilenet_v3_small"):
        yield name, getattr(torchvision.models, name)(weights=None), (torch.randn(1, 3, 64, 64),)
