# SPDX-License-Identifier: Apache-2.0
"""The networks of the cure's benches as files, with their data: MiniLM with its own weights and sentences; Resemblyzer's recurrent speaker
encoder with its own weights and speech by espeak-ng; torchvision's, timm's and a U-Net with random weights, on pictures that have structure (smooth fields, edges and noise, as bright as they come)."""
import argparse
import operator
import os
import pathlib
import sys
import tempfile

import numpy
import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
SAMPLES = 128


def pictures(count, size, seed=3):
    """Smooth fields under an edge and noise, each picture with its own brightness and contrast."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(count, 3, 5, 5, generator=generator)
    smooth = nn.functional.interpolate(coarse, size=(size, size), mode="bilinear", align_corners=False)
    rows = torch.linspace(-1, 1, size)
    slope, offset = torch.randn(2, count, 1, 1, 1, generator=generator)
    edges = torch.where(rows[:, None] + slope * rows[None, :] > offset, 0.7, -0.7).reshape(count, 1, size, size)
    noise = 0.2 * torch.randn(count, 3, size, size, generator=generator)
    contrast = torch.exp(0.4 * torch.randn(count, 1, 1, 1, generator=generator))
    return contrast * (smooth + edges + noise) + 0.3 * torch.randn(count, 1, 1, 1, generator=generator)


def settled(network, data):
    """In evaluation, its batch norms with the statistics of the data."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None  # the mean over all batches
    network.train()
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    with torch.no_grad():
        for start in range(0, len(data), 32):
            network(data[start:start + 32])
    return network.eval()


def small_vit():
    import torchvision

    network = torchvision.models.VisionTransformer(image_size=64, patch_size=8, num_layers=6, num_heads=4, hidden_dim=128, mlp_dim=512,
                                                   num_classes=100)
    nn.init.normal_(network.heads.head.weight, std=0.1)  # zero as torchvision makes it: no signal
    return network


class UNet(nn.Module):
    """Three levels, skips that are joined by cat, up by transposed convolutions; as many channels out as `classes`."""

    def __init__(self, widths=(16, 32, 64), classes=4):
        super().__init__()
        self.down = nn.ModuleList(self.block(a, b) for a, b in zip((3, *widths), widths))
        self.deep = self.block(widths[-1], 2 * widths[-1])
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * width, width, 2, stride=2) for width in reversed(widths))
        self.join = nn.ModuleList(self.block(2 * width, width) for width in reversed(widths))
        self.head = nn.Conv2d(widths[0], classes, 1)

    @staticmethod
    def block(a, b):
        convolutions = [nn.Conv2d(a, b, 3, padding=1, bias=False), nn.Conv2d(b, b, 3, padding=1, bias=False)]
        return nn.Sequential(*(part for layer in convolutions for part in (layer, nn.BatchNorm2d(b), nn.ReLU())))

    def forward(self, x):
        kept = []
        for block in self.down:
            kept.append(block(x))
            x = nn.functional.max_pool2d(kept[-1], 2)
        x = self.deep(x)
        for up, join in zip(self.up, self.join):
            x = join(torch.cat((up(x), kept.pop()), 1))
        return self.head(x)


def of_timm(name):
    import timm

    return timm.create_model(name, pretrained=False)


def of_torchvision(name):
    import torchvision

    return operator.attrgetter(name)(torchvision.models)(weights=None)


MADE = {"vit": small_vit, "unet": UNet, "mobilevit_xxs": lambda: of_timm("mobilevit_xxs")}
SIZES = {"vit": 64, "mobilevit_xxs": 128}  # of pictures, where the network wants its own


def of_pictures(name, size, folder):
    torch.manual_seed(0)
    data = pictures(SAMPLES, SIZES.get(name, size))
    network = settled(MADE.get(name, lambda: of_torchvision(name))(), data)
    batch = torch.export.Dim("batch", min=2, max=1024)
    path = folder / f"{name}.pt2"
    torch.export.save(torch.export.export(network, (data[:8],), dynamic_shapes=({0: batch},)), path)
    numpy.savez(folder / f"{name}.npz", x=data.numpy())
    return path, folder / f"{name}.npz", network, [(data[start:start + 8],) for start in range(0, len(data), 8)]


class Flow(nn.Module):
    """RAFT's last flow after three updates."""

    def __init__(self):
        super().__init__()
        self.raft = of_torchvision("optical_flow.raft_small")

    def forward(self, first, second):
        return self.raft(first, second, num_flow_updates=3)[-1]


def raft_small(folder):
    """On pairs of pictures, the second moved and noisy; torch.export takes no open batch."""
    torch.manual_seed(0)
    network, first = Flow().eval(), pictures(SAMPLES, 128)
    second = torch.roll(first, (2, 3), (2, 3)) + 0.05 * torch.randn_like(first)
    calls = list(zip(first.split(8), second.split(8)))
    torch.export.save(torch.export.export(network, calls[0]), folder / "raft_small.pt2")
    torch.save(calls, folder / "raft_small.pt")
    return folder / "raft_small.pt2", folder / "raft_small.pt", network, calls


def sentences(texts):
    """Each text, and each two of them in a row: of many lengths, in an order that mixes them."""
    both = [*texts, *(f"{first} {second}" for first in texts for second in texts if first != second)]
    return [both[int(i)] for i in torch.randperm(len(both), generator=torch.Generator().manual_seed(5))[:SAMPLES]]


class Called(nn.Module):
    """A network whose inputs are given by position, in this order of their names."""

    def __init__(self, network, names):
        super().__init__()
        self.network, self.names = network, tuple(names)

    def forward(self, *values):
        return self.network(**dict(zip(self.names, values)))


def minilm(folder):
    import test_minilm

    with tempfile.TemporaryDirectory() as name:
        files = test_minilm.fetch(pathlib.Path(name))
        from transformers import AutoModel, AutoTokenizer

        model = AutoModel.from_pretrained(files, attn_implementation="sdpa").eval()
        test_minilm.TEXTS[:] = sentences(test_minilm.TEXTS)
        calls = test_minilm.calls(AutoTokenizer.from_pretrained(files))
        test_minilm.export(model, calls[2], folder, "minilm")
    torch.save([tuple(call.values()) for call in calls], folder / "minilm.pt")
    return folder / "minilm.pt2", folder / "minilm.pt", Called(model, calls[0]), [tuple(call.values()) for call in calls]


def opt(folder):
    """A small OPT decoder (pre-norm, learned positions, ReLU) with random weights, on random tokens; its last hidden state."""
    import test_minilm

    with tempfile.TemporaryDirectory() as name:
        test_minilm.fetch_code(pathlib.Path(name))
        from transformers import OPTConfig, OPTModel

        torch.manual_seed(0)
        config = OPTConfig(vocab_size=1000, hidden_size=128, word_embed_proj_dim=128, ffn_dim=512, num_hidden_layers=4, num_attention_heads=4,
                           max_position_embeddings=64, use_cache=False, attn_implementation="sdpa")
        model = OPTModel(config).eval()

        class Last(nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, ids):
                return self.model(input_ids=ids).last_hidden_state

        network, ids = Last(), torch.randint(4, 1000, (SAMPLES, 32))
        torch.export.save(torch.export.export(network, (ids[:8],), strict=False), folder / "opt.pt2")
    numpy.savez(folder / "opt.npz", ids=ids.numpy())
    return folder / "opt.pt2", folder / "opt.npz", network, [(part,) for part in ids.split(8)]


def lstm(folder):
    """The speaker encoder of the pip package Resemblyzer (three LSTM layers on 40 mels), with its own weights, on 64 utterances by espeak-ng."""
    os.environ.setdefault("QUANTSCOPE_SOURCE", str(pathlib.Path(__file__).resolve().parents[3]))
    import test_speaker

    with tempfile.TemporaryDirectory() as name:
        network = test_speaker.Encoder().eval()
        weights = test_speaker.weights(pathlib.Path(name))
        network.load_state_dict({key: value for key, value in weights.items() if key in network.state_dict()})
        data = test_speaker.utterances(pathlib.Path(name))
    data = data[torch.randperm(len(data), generator=torch.Generator().manual_seed(1))][:SAMPLES]
    torch.export.save(torch.export.export(network, (data[:8],)), folder / "lstm.pt2")
    calls = [(part,) for part in data.split(8) if len(part) == 8]
    torch.save(calls, folder / "lstm.pt")
    return folder / "lstm.pt2", folder / "lstm.pt", network, calls


def arguments(models):
    """What the benches of the cure take; `models`: the names that are run without --models."""
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--models", default=models)
    parser.add_argument("--size", type=int, default=96, help="of the pictures; vit, mobilevit_xxs and raft_small have their own")
    parser.add_argument("--files", default=str(pathlib.Path(tempfile.gettempdir()) / "quantscope-cure"))
    return parser


def run_each(options, bench):
    """Prints for each network the row of figures and the missed bars that bench(program, name, options) returns; 1 where one is missed."""
    program = f"{options.build}/bin/quantscope"
    os.environ.setdefault("QUANTSCOPE", program)  # the oracles that these networks import need it
    failed = False
    for name in options.models.split(","):
        row, missed = bench(program, name, options)
        print(f"{name:18}" + "  ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()), flush=True)
        for text in missed:
            failed = True
            print(f"{name:18}missed: {text}", flush=True)
    return 1 if failed else 0


def make(name, size, folder):
    """(path of the .pt2, path of the data, what computes it in PyTorch, its calls of one batch each)."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    torch.backends.mha.set_fastpath_enabled(False)
    own = {"minilm": minilm, "raft_small": raft_small, "opt": opt, "lstm": lstm}
    return own[name](folder) if name in own else of_pictures(name, size, folder)
