# SPDX-License-Identifier: Apache-2.0
"""TorchScript files that pip packages ship, with PyTorch's answers beside them."""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import torch
import torch.utils._pytree as pytree
from torch import Tensor


FUSED = "_transformer_encoder_layer_fwd", "_native_multi_head_attention"


def save_answers(path, args):
    """The .npz beside the file: what torch.jit.load computes for the arguments.

    Without gradients, as we run it (recurrent layers choose other kernels with them), except where attention
    would leave its module for a fused operator then."""
    # Copies: forward may write to its inputs.
    inputs = [np.array(leaf) for leaf in pytree.tree_leaves(args)]
    loaded = torch.jit.load(path)
    with torch.set_grad_enabled(any(name in str(loaded.inlined_graph) for name in FUSED)):
        outputs = pytree.tree_leaves(loaded(*args))
    arrays = {f"in{i}": a for i, a in enumerate(inputs)}
    for i, leaf in enumerate(outputs):
        if leaf is not None:
            arrays[f"out{i}"] = leaf.detach().numpy() if isinstance(leaf, Tensor) else np.asarray(leaf)
    np.savez(path[:-3] + ".npz", **arrays)


# Files that pip packages ship: package, file inside, arguments.
SHIPPED = {"silero_vad": ("silero-vad==6.2.3", "silero_vad/data/silero_vad.jit", lambda: (0.1 * torch.randn(1, 512, generator=torch.Generator().manual_seed(3)), 16000))}


def write_one(folder, name, package, inside, args):
    path = os.path.join(folder, name + ".shipped.pt")
    if os.path.exists(path[:-3] + ".npz"):
        return
    with tempfile.TemporaryDirectory() as wheels:
        done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels, package], capture_output=True)
        if done.returncode:
            print(f"pip has no {package} here: its model is not tested")
            return
        with zipfile.ZipFile(next(pathlib.Path(wheels).glob("*.whl"))) as archive, open(path, "wb") as file:
            file.write(archive.read(inside))
    save_answers(path, args())


def write_shipped(folder):
    """NAME.shipped.pt and its .npz, where pip can have the package."""
    for name, (package, inside, args) in SHIPPED.items():
        write_one(folder, name, package, inside, args)
