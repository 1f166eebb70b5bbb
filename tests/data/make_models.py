# SPDX-License-Identifier: Apache-2.0
"""Writes the models the tests open into a folder: NAME.pt2 and NAME.npz beside it, with the inputs
(in0, in1, ...) and the float outputs PyTorch computes for them (out0, out1, ...), both flat.

    python make_models.py FOLDER [NAME ...]

What exists is kept. Add a model by adding a function with the @model decorator that returns
(module, args, kwargs, dynamic_shapes, extra_inputs); extra_inputs is one more (args, kwargs) for the
expected outputs, or None to use the example itself.
"""
import os
import sys

import numpy as np
import torch
import torch.utils._pytree as pytree
from torch import nn
from torch.export import Dim

from networks import (Branch, Constants, InPlace, Lists, Loop, Mixed, NoGrad, Shapes, Slices, Structured, ThroughViews,
                      Tied, Train, TwiceCalled)

MODELS = {}
THREADS = 1


def model(function):
    MODELS[function.__name__] = function
    return function


def warmed(net, *shape):
    """Batch-norm statistics that differ per channel, as in a trained network."""
    torch.manual_seed(1)
    net.train()
    with torch.no_grad():
        for _ in range(3):
            net(torch.randn(*shape) * 1.5 + 0.3)
    return net.eval()


def torchvision_model(name, batch):
    import torchvision

    torch.manual_seed(0)
    return warmed(getattr(torchvision.models, name)(weights=None), batch, 3, 96, 96)


def image(n, size=96):
    torch.manual_seed(2)
    return torch.randn(n, 3, size, size)


@model
def resnet18():
    return torchvision_model("resnet18", 4), (image(2),), {}, ({0: Dim("batch", min=1, max=1024)},), ((image(5),), {})


@model
def resnet18_static():
    return torchvision_model("resnet18", 4), (image(2),), {}, None, None


@model
def mobilenet_v2():
    net = torchvision_model("mobilenet_v2", 4)
    return net, (image(2),), {}, ({0: Dim("batch", min=1, max=1024)},), ((image(3),), {})


@model
def mobilenet_v2_static():
    return torchvision_model("mobilenet_v2", 4), (image(2),), {}, None, None


@model
def lists():
    return Lists().eval(), (image(2, 8),), {}, ({0: Dim("batch")},), ((image(4, 8),), {})


@model
def shapes():
    x = torch.arange(2 * 6 * 4 * 4, dtype=torch.float32).reshape(2, 6, 4, 4) / 7
    more = torch.randn(5, 6, 4, 4, generator=torch.Generator().manual_seed(3))
    return Shapes(), (x,), {}, ({0: Dim("batch", min=2)},), ((more,), {})


@model
def constants():
    return Constants().eval(), (image(2, 8),), {}, None, None


@model
def structured():
    g = torch.Generator().manual_seed(4)

    def r(*shape):
        return torch.randn(*shape, generator=g)

    torch.manual_seed(0)
    args = (r(2, 4), (r(2, 3), r(2, 3)), {"factor": r(3)})
    return Structured().eval(), args, {"bias": r(3), "scale": 1.5}, None, None


@model
def no_grad():
    torch.manual_seed(0)
    x = torch.randn(3, 8)
    return NoGrad().eval(), (x,), {}, ({0: Dim("batch")},), ((torch.randn(6, 8),), {})


@model
def in_place():
    torch.manual_seed(0)
    return InPlace().eval(), (image(2, 8),), {}, None, None


@model
def through_views():
    torch.manual_seed(0)
    return ThroughViews().eval(), (torch.randn(2, 4),), {}, None, None


@model
def tied():
    torch.manual_seed(0)
    return Tied().eval(), (torch.tensor([[1, 2, 3], [4, 5, 9]]),), {}, None, None


@model
def twice_called():
    torch.manual_seed(0)
    return warmed(TwiceCalled(), 4, 3, 8, 8), (image(2, 8),), {}, ({0: Dim("batch")},), ((image(3, 8),), {})


@model
def mixed():
    return Mixed(), (image(2, 8),), {}, None, None


@model
def branch():
    return Branch(), (torch.ones(3),), {}, None, None


@model
def loop():
    torch.manual_seed(0)
    return Loop().eval(), (torch.randn(2, 4),), {}, None, None


@model
def slices():
    torch.manual_seed(0)
    return Slices().eval(), (image(2, 8), torch.tensor([True, False])), {}, None, None


@model
def train():
    return Train().train(), (image(4, 8),), {}, None, None


@model
def attention():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    return layer.eval(), (torch.randn(2, 5, 16),), {}, ({0: Dim("batch"), 1: Dim("time")},), ((torch.randn(3, 7, 16),), {})


# The core-ATen form of models above.
CORE_ATEN = {"resnet18_core": "resnet18", "in_place_core": "in_place", "shapes_core": "shapes"}


def flat_numpy(tree):
    out = []
    for leaf in pytree.tree_leaves(tree):
        out.append(leaf.detach().numpy() if isinstance(leaf, torch.Tensor) else np.asarray(leaf))
    return out


def make(folder, name):
    path = os.path.join(folder, name + ".pt2")
    if os.path.exists(path) and os.path.exists(path[:-4] + ".npz"):
        return
    net, args, kwargs, dynamic, extra = MODELS[CORE_ATEN.get(name, name)]()
    use_args, use_kwargs = extra or (args, kwargs)
    # In the order of the file's own inputs, which follows the signature of forward. Copies: forward may
    # write to its inputs.
    flat_in = [a.copy() for a in flat_numpy((use_args, {k: use_kwargs[k] for k in kwargs}))]
    with torch.no_grad():
        program = torch.export.export(net, args, kwargs, dynamic_shapes=dynamic)
        if name in CORE_ATEN:
            program = program.run_decompositions()
        expected = program.module()(*use_args, **use_kwargs) if name in CORE_ATEN else net(*use_args, **use_kwargs)
    arrays = {f"in{i}": a for i, a in enumerate(flat_in)}
    arrays.update({f"out{i}": a for i, a in enumerate(flat_numpy(expected))})
    np.savez(path[:-4] + ".npz", **arrays)
    part = os.path.join(folder, "part")
    os.makedirs(part, exist_ok=True)
    torch.export.save(program, os.path.join(part, name + ".pt2"))
    os.replace(os.path.join(part, name + ".pt2"), path)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(THREADS)
    # The fused transformer kernels of eager mode are not what a file holds; they round differently.
    torch.backends.mha.set_fastpath_enabled(False)
    for name in sys.argv[2:] or [*MODELS, *CORE_ATEN]:
        make(folder, name)


if __name__ == "__main__":
    main()
