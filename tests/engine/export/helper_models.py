# SPDX-License-Identifier: Apache-2.0
"""Models that the export helper is run on; the test looks its lines up by the comments that mark them."""
import numpy as np
import torch


class Block(torch.nn.Module):
    def __init__(self, extra):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.extra = extra

    def forward(self, x):
        x = self.fc(x)
        if self.extra:  # mark: extra
            x = x + 1
        if self.training:  # mark: training
            x = torch.nn.functional.dropout(x)
            if x.dim() == 7:
                x = x + 7
        return x * 2 if x.dim() == 2 else x * 3  # mark: inline


class Clean(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(False)
        self.second = Block(True)
        self.drop = torch.nn.Dropout()
        self.calls = 0
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        self.seen.add_(1)
        return self.drop(self.second(self.first(x)))


class Straight(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        return torch.relu(self.fc(x))


class FixedBatch(torch.nn.Module):
    """Its code holds the batch size."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x).reshape(2, 2) + 1


class Decides(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # mark: decides
            return x + 1
        return x - 1  # mark: early


class Wrapped(torch.nn.Module):
    """Holds the one that fails, so that its path is not the model's own."""

    def __init__(self, inner):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Softplus(), inner)

    def forward(self, x):
        return self.body(x)


class Loops(torch.nn.Module):
    def forward(self, x):
        for _ in range(int(x[0].item())):  # mark: loops
            x = x + 1
        return x


class Unpacks(torch.nn.Module):
    def forward(self, x):
        shape = (x[:2] * 0 + 1).long()
        return x[:1].view(*[int(n) if n > 0 else 2 for n in shape])  # mark: unpacks


class Spreads(torch.nn.Module):
    def forward(self, x):
        shape = [x.shape[0], 1]
        return x.view(*shape)  # mark: spreads


class Numpy(torch.nn.Module):
    def forward(self, x):
        return x * torch.from_numpy(np.sqrt(np.abs(x.detach().numpy())))  # mark: numpy


class NumpyLost(torch.nn.Module):
    def forward(self, x):
        return x + len(np.unique(x.detach().numpy()).tobytes())  # mark: lost


class NonStrict(torch.nn.Module):
    """Looks at the interpreter's frames, which only plain Python can."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x):
        import sys
        name = sys._getframe().f_code.co_name  # mark: frame
        return self.fc(x) * len(name)


class Broken(torch.nn.Module):
    def forward(self, x):
        raise ValueError("no such luck")  # mark: broken


class Stubs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.fc = torch.nn.Linear(4, 2)
        self.sum = torch.ao.nn.quantized.FloatFunctional()
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        y = self.fc(self.quant(x))
        return self.dequant(self.sum.add(y, y))


def make(name, *, size=4, train=False):
    """(model, example_args) of one of the above; what the command line calls."""
    torch.manual_seed(3)
    inner = {"decides": Decides, "loops": Loops, "unpacks": Unpacks, "numpy": Numpy, "lost": NumpyLost, "broken": Broken}
    if name in inner:
        return Wrapped(inner[name]()).train(train), (torch.ones(3),)
    if name == "non_strict":
        return NonStrict().train(train), (torch.ones(3),)
    model = {"clean": Clean, "straight": Straight, "stubs": Stubs, "spreads": Spreads}[name]()
    return model.train(train), (torch.ones(2) if name == "spreads" else torch.randn(2, size),)
