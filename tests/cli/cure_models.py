# SPDX-License-Identifier: Apache-2.0
"""One network for each cause of noise that `quantscope why` names, and its healthy twin: what is wrong is in the network, its data or its recipe,
and nothing else is. Most faults are written so that both compute the same in floats: what one layer multiplies with a power of two the next
divides by."""

import dataclasses

import numpy
import torch
from harness import export_model, write_recipe
from torch import nn
from torch.nn import functional as F

WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}
EIGHT = {"activation": {"observer": "histogram", "dtype": "quint8"}, "weight": WEIGHT}


def observed(weight=WEIGHT, **activation):
    """A qconfig."""
    return {"activation": {"observer": "histogram", "dtype": "quint8", **activation}, "weight": weight}


def recipe(rules=None, **others):
    """8 bits for everything, but for what the rules name; `others` are further qconfigs and keys of the recipe."""
    keys = {key: others.pop(key) for key in ("prepare", "needless_outputs") if key in others}
    return {"qconfigs": {"eight": EIGHT, **others}, "mapping": {"global": "eight", **(rules or {})}, **keys}


@dataclasses.dataclass
class Case:
    """A network in evaluation, data to calibrate by, and a recipe."""

    network: nn.Module
    data: torch.Tensor
    keys: dict

    def write(self, folder):
        """The words that name it on a command line."""
        folder.mkdir(parents=True)
        export_model(self.network, (self.data[:2],), folder / "model.pt2")
        numpy.savez(folder / "data.npz", x=self.data.numpy())
        path = write_recipe(folder, backend="x86", calibration={"batch_size": 8, "batches": 0}, **self.keys)
        return [folder / "model.pt2", "--recipe", path, "--data", folder / "data.npz", "--device", "cpu"]


@dataclasses.dataclass
class Fault:
    """`sick` has what the cause names, at one of the nodes; `healthy` has not."""

    cause: str
    nodes: tuple
    sick: Case
    healthy: Case


def scale_rows(layer, rows, factor):
    """What the layer gives in these channels, times the factor."""
    with torch.no_grad():
        layer.weight[rows] *= factor
        if layer.bias is not None:
            layer.bias[rows] *= factor


def scale_columns(layer, columns, factor):
    with torch.no_grad():
        layer.weight[:, columns] *= factor


class Stream(nn.Module):
    """A block on a residual stream whose channel 5 is `factor` times as large as what reads it wants."""

    def __init__(self, factor):
        super().__init__()
        self.norm, self.up, self.down, self.head = nn.LayerNorm(24), nn.Linear(24, 32), nn.Linear(32, 24), nn.Linear(24, 8)
        with torch.no_grad():
            self.norm.weight[5] *= factor
        scale_columns(self.up, 5, 1 / factor)
        scale_rows(self.down, 5, factor)
        scale_columns(self.head, 5, 1 / factor)

    def forward(self, x):
        x = self.norm(x)
        return self.head(x + self.down(F.relu(self.up(x))))


class Post(nn.Module):
    """A layer, dropout, a residual and a float norm, as BERT has them; channel 5 of the layer's result is `factor` times as large."""

    def __init__(self, factor):
        super().__init__()
        self.dense, self.dropout, self.norm, self.head = nn.Linear(24, 24), nn.Dropout(0.1), nn.LayerNorm(24), nn.Linear(24, 8)
        scale_rows(self.dense, 5, factor)
        with torch.no_grad():
            self.norm.weight[5] /= factor

    def forward(self, x):
        return self.head(self.norm(x + self.dropout(self.dense(x))))


class Wide(nn.Module):
    """Two layers read a norm whose channel 5 is `factor` times as large as they want; both multiply it, nobody else reads it."""

    def __init__(self, factor):
        super().__init__()
        self.norm, self.left, self.right, self.head = nn.LayerNorm(24), nn.Linear(24, 32), nn.Linear(24, 32), nn.Linear(32, 8)
        with torch.no_grad():
            self.norm.weight[5] *= factor
        for layer in (self.left, self.right):
            scale_columns(layer, 5, 1 / factor)

    def forward(self, x):
        x = self.norm(x)
        return self.head(F.relu(self.left(x)) * self.right(x))


class Masked(nn.Module):
    """Attention over 12 places with a causal mask that is added to the scores."""

    def __init__(self, hidden):
        super().__init__()
        self.query, self.key, self.value, self.head = (nn.Linear(16, 16) for _ in range(4))
        self.register_buffer("mask", torch.triu(torch.full((12, 12), hidden), 1))

    def forward(self, x):
        scores = torch.matmul(self.query(x), self.key(x).transpose(1, 2)) / 4
        return self.head(torch.matmul(torch.softmax(scores + self.mask, -1), self.value(x)))


class Two(nn.Module):
    """Two linears with relu between; `offset` is on all results of the first and taken back by the second."""

    def __init__(self, offset=0.0, relu=True):
        super().__init__()
        self.first, self.second, self.relu = nn.Linear(16, 24), nn.Linear(24, 8), relu
        with torch.no_grad():
            self.first.bias += offset
            self.second.bias -= offset * self.second.weight.sum(1)

    def forward(self, x):
        x = self.first(x)
        return self.second(F.relu(x) if self.relu else x)


class Normed(nn.Module):
    """A linear, a layer norm, a linear; the norm takes the `offset` away that is on all results of the first."""

    def __init__(self, offset):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(16, 24), nn.LayerNorm(24), nn.Linear(24, 8)
        with torch.no_grad():
            self.first.bias += offset

    def forward(self, x):
        return self.second(self.norm(self.first(x)))


class Joined(nn.Module):
    """Two branches, the second `factor` times as large as the head wants, joined by cat."""

    def __init__(self, factor):
        super().__init__()
        self.small, self.large, self.head = nn.Linear(16, 12), nn.Linear(16, 12), nn.Linear(24, 8)
        scale_rows(self.large, slice(None), factor)
        scale_columns(self.head, slice(12, 24), 1 / factor)

    def forward(self, x):
        return self.head(torch.cat((self.small(x), self.large(x)), 1))


class Spread(nn.Module):
    """Two convolutions with relu between, whose channels are worth the same and differ in range up to 2^(2 octaves) times."""

    def __init__(self, octaves):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 8, 3, padding=1)
        for channel, octave in enumerate(torch.linspace(-octaves, octaves, 16).round().tolist()):
            scale_rows(self.first, channel, 2 ** octave)
            scale_columns(self.second, channel, 2 ** -octave)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


class SpreadLinears(nn.Module):
    """The same with two linears."""

    def __init__(self, octaves):
        super().__init__()
        self.first, self.second = nn.Linear(16, 24), nn.Linear(24, 8)
        for channel, octave in enumerate(torch.linspace(-octaves, octaves, 24).round().tolist()):
            scale_rows(self.first, channel, 2 ** octave)
            scale_columns(self.second, channel, 2 ** -octave)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


class Shifted(nn.Module):
    """One layer whose weights all lie at the same distance above a step of their grid, or on the steps; its inputs are above zero."""

    def __init__(self, above):
        super().__init__()
        self.first = nn.Linear(16, 24)
        with torch.no_grad():
            steps = torch.randint(-40, 41, self.first.weight.shape) + above
            steps[:, 0] = 127.5  # makes the scale 1/256; the input there is zero
            self.first.weight.copy_(steps / 256)
            self.first.bias.copy_(-2.5 * self.first.weight.sum(1))

    def forward(self, x):
        return self.first(x)


class Squashed(nn.Module):
    """What reads the input is flat below zero: how far down a value lies is all the same."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(16, 8)

    def forward(self, x):
        return self.head(F.elu(x))


class Recurrent(nn.Module):
    """An LSTM over 60 steps that forgets little, then a linear."""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 4)
        with torch.no_grad():
            self.lstm.bias_ih_l0[16:32] += 3.0  # the forget gates

    def forward(self, x):
        return self.head(self.lstm(x)[0])


class Places(nn.Module):
    """Every place is divided by what its values were multiplied with; without biases it is the same whatever that is. Then a head."""

    def __init__(self, factors):
        super().__init__()
        self.first, self.second = nn.Linear(16, 24, bias=False), nn.Linear(24, 8, bias=False)
        self.register_buffer("factors", factors)
        self.head = nn.Linear(8, 8)

    def forward(self, x):
        return self.head(self.second(F.relu(self.first(x))) / self.factors)


class Evened(nn.Sequential):
    """Two layers without biases, then a norm over all channels: how large a sample is does not matter to the head."""

    def __init__(self):
        super().__init__(nn.Linear(16, 24, bias=False), nn.ReLU(), nn.Linear(24, 8, bias=False), nn.LayerNorm(8), nn.Linear(8, 8))


def made(make, *arguments):
    torch.manual_seed(21)
    return make(*arguments).eval()


def values(*shape, seed=22):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def outlier_channel():
    data = values(64, 24)
    sick, healthy = (Case(made(Stream, factor), data, recipe()) for factor in (64.0, 1.0))
    return Fault("outlier_channel", ("layer_norm", "add"), sick, healthy)


def outlier_before_norm():
    """What reads the values is float; they are quantized for what makes them."""
    data, rules = values(64, 24), {"object_type": [["torch.nn.LayerNorm", None]]}
    sick, healthy = (Case(made(Post, factor), data, recipe(rules)) for factor in (64.0, 1.0))
    return Fault("outlier_channel", ("linear", "add"), sick, healthy)


def outlier_into_linears():
    sick, healthy = (Case(made(Wide, factor), values(64, 24), recipe()) for factor in (64.0, 1.0))
    return Fault("outlier_channel", ("layer_norm",), sick, healthy)


def outlier_position():
    factors = torch.ones(12, 1)
    factors[0] = 64.0
    sick, healthy = (Case(made(Places, by), values(64, 12, 16) * by, recipe()) for by in (factors, torch.ones(12, 1)))
    return Fault("outlier_position", ("x", "linear", "relu", "linear_1"), sick, healthy)


def mask_constant(hidden):
    sick, healthy = (Case(made(Masked, constant), values(32, 12, 16), recipe()) for constant in (hidden, -8.0))
    return Fault("mask_constant", ("add",), sick, healthy)


FIRST = {"node": [["linear", "other"], ["relu", "other"]]}  # the first layer of `Two`, fused with its relu
BETWEEN = {"edge": [["relu", "linear_1", 0, "other"]]}  # the value between its layers


def other_range(cause, **activation):
    """The value between the layers with a range of its own."""
    network, data = made(Two), values(64, 16)
    return Fault(cause, ("relu",), Case(network, data, recipe(BETWEEN, other=observed(**activation))), Case(network, data, recipe()))


def odd_sample():
    """One sample of 64 lies 200 times as far down as another would: a range of least squared error keeps it, an elu does not."""
    data, wide = values(64, 16), recipe({"edge": [["x", "elu", 0, "other"]]}, other=observed(observer="minmax"))
    data[41] = -data[41].abs() - 1
    odd = data.clone()
    odd[41] *= 200
    return Fault("range_wide", ("x",), Case(made(Squashed), odd, wide), Case(made(Squashed), data, wide))


def outlier_sample():
    """Four samples of 64 are 100 times as large, which a norm takes back: a range must hold them, and rounds the others."""
    factors = torch.ones(64, 1)
    factors[[3, 19, 40, 58]] = 100.0
    rules = {"object_type": [["torch.nn.LayerNorm", None]]}
    sick, healthy = (Case(made(Evened), values(64, 16) * by, recipe(rules)) for by in (factors, torch.ones(64, 1)))
    return Fault("outlier_sample", ("input", "linear", "relu", "linear_1"), sick, healthy)


def bits_unused():
    network, data = made(Two, 0.0, False), values(64, 16)
    seven = recipe({"node": [["linear", "seven"]]}, seven=observed(reduce_range=True))
    return Fault("bits_unused", ("linear",), Case(network, data, seven), Case(network, data, recipe()))


def needless_output(network, rules):
    data = values(64, 16)
    return Fault("needless_output", ("linear",), Case(network, data, recipe(rules)), Case(network, data, recipe(rules, needless_outputs="float")))


def shared_range():
    """The head stays float: what is lost is lost at the observer that both branches share."""
    rules = {"node": [["linear_2", None]]}
    sick, healthy = (Case(made(Joined, factor), values(64, 16), recipe(rules)) for factor in (64.0, 1.0))
    return Fault("shared_range", ("linear", "linear_1", "cat"), sick, healthy)


def channel_spread():
    sick, healthy = (Case(made(Spread, octaves), values(32, 3, 8, 8), recipe()) for octaves in (3, 0))
    return Fault("channel_spread", ("relu", "conv2d", "conv2d_1"), sick, healthy)


def channel_spread_of_linears():
    sick, healthy = (Case(made(SpreadLinears, octaves), values(64, 16), recipe()) for octaves in (3, 0))
    return Fault("channel_spread", ("relu", "linear", "linear_1"), sick, healthy)


def bias_shift():
    data = values(64, 16).abs() + 2
    data[:, 0] = 0
    sick, healthy = (Case(made(Shifted, above), data, recipe()) for above in (0.45, 0.0))
    return Fault("bias_shift", ("linear",), sick, healthy)


def weight_rounding():
    network, data = made(Two), values(64, 16)
    few = observed(weight={**WEIGHT, "quant_min": -8, "quant_max": 7})
    return Fault("weight_rounding", ("linear",), Case(network, data, recipe(FIRST, other=few)), Case(network, data, recipe()))


def recurrence():
    """Healthy: the LSTM stays float."""
    network, data = made(Recurrent), values(32, 60, 8)
    custom = {"prepare": {"custom_modules": ["torch.nn.LSTM"]}}
    kept = recipe({"object_type": [["torch.nn.LSTM", None]]})
    return Fault("recurrence", ("lstm",), Case(network, data, recipe(**custom)), Case(network, data, kept))


FAULTS = {
    "outlier channel": outlier_channel, "outlier before a norm": outlier_before_norm, "outlier into linears": outlier_into_linears,
    "outlier position": outlier_position,
    "finfo.min": lambda: mask_constant(torch.finfo(torch.float32).min), "mask of 1e9": lambda: mask_constant(-1e9),
    "90 percent": lambda: other_range("clipped", range="percentile", percentile=90),
    "narrow by hand": lambda: other_range("clipped", observer="fixed_qparams", scale=1 / 512, zero_point=0),
    "odd sample": odd_sample, "a few large samples": outlier_sample,
    "wide by hand": lambda: other_range("range_wide", observer="fixed_qparams", scale=1 / 4, zero_point=0),
    "7 bits": bits_unused,
    "float norm": lambda: needless_output(made(Normed, 30.0), {"object_type": [["torch.nn.LayerNorm", None]]}),
    "float linear": lambda: needless_output(made(Two, 30.0, False), {"node": [["linear_1", None]]}),
    "shared range": shared_range, "channel spread": channel_spread, "spread of linears": channel_spread_of_linears,
    "bias shift": bias_shift, "4 bits": weight_rounding,
    "recurrence": recurrence}
