# SPDX-License-Identifier: Apache-2.0
"""The networks of the cure's benches as files, with their data: MiniLM with its own weights and sentences; torchvision's with random weights,
on pictures that have structure (smooth fields, edges and noise, as bright as they come)."""
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


def of_torchvision(name, size, folder):
    import torchvision

    torch.manual_seed(0)
    data = pictures(SAMPLES, 64 if name == "vit" else size)
    network = settled(small_vit() if name == "vit" else getattr(torchvision.models, name)(weights=None), data)
    batch = torch.export.Dim("batch", min=2, max=1024)
    path = folder / f"{name}.pt2"
    torch.export.save(torch.export.export(network, (data[:8],), dynamic_shapes=({0: batch},)), path)
    numpy.savez(folder / f"{name}.npz", x=data.numpy())
    return path, folder / f"{name}.npz", network, [(data[start:start + 8],) for start in range(0, len(data), 8)]


def sentences(texts):
    """Each text, and each two of them in a row: of many lengths, in an order that mixes them."""
    both = [*texts, *(f"{first} {second}" for first in texts for second in texts if first != second)]
    return [both[int(i)] for i in torch.randperm(len(both), generator=torch.Generator().manual_seed(5))[:SAMPLES]]


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
    return folder / "minilm.pt2", folder / "minilm.pt", lambda *values: model(**dict(zip(calls[0], values))), [tuple(call.values()) for call in calls]


def make(name, size, folder):
    """(path of the .pt2, path of the data, what computes it in PyTorch, its calls of one batch each)."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    torch.backends.mha.set_fastpath_enabled(False)
    return minilm(folder) if name == "minilm" else of_torchvision(name, size, folder)
