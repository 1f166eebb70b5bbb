# SPDX-License-Identifier: Apache-2.0
"""The networks and data of the benches: torchvision's, with random weights and batch-norm statistics that differ per channel."""
import pathlib

import numpy as np
import torch
import torchvision

BATCH, BATCHES, SIZE = 8, 16, 224


def network(name):
    torch.manual_seed(0)
    net = getattr(torchvision.models, name)(weights=None)
    net.train()
    size = SIZE if name.startswith(("swin", "vit")) else 128  # transformers take one size
    with torch.no_grad():
        for _ in range(2):
            net(torch.randn(8, 3, size, size) * 1.5 + 0.3)
    return net.eval()


def images(batches=BATCHES):
    return torch.randn(BATCH * batches, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(1))


def files(name, folder):
    """Writes NAME.pt2 and images.npz into the folder, unless they are there; returns their paths."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model, data = folder / f"{name}.pt2", folder / "images.npz"
    if not model.exists():
        dynamic = ({0: torch.export.Dim("batch", min=2, max=1024)},)
        torch.export.save(torch.export.export(network(name), (images(1),), dynamic_shapes=dynamic), model)
    if not data.exists():
        np.savez(data, x=images().numpy())
    return str(model), str(data)
