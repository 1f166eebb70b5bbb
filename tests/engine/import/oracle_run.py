# SPDX-License-Identifier: Apache-2.0
"""Helps tests that compare a float model with PyTorch: exports it, lets `run_model` run every call, and reloads what it wrote
again. Everything must be equal to the bit."""
import os
import pathlib
import subprocess

import torch
from torch.utils import _pytree as pytree

TOOL = str(pathlib.Path(os.environ["QUANTSCOPE"]).parents[1] / "tests" / "run_model")


def equal(got, wanted, where):
    got, wanted = pytree.tree_leaves(got), pytree.tree_leaves(wanted)
    assert len(got) == len(wanted), f"{where}: {len(got)} outputs instead of {len(wanted)}"
    for i, (a, b) in enumerate(zip(got, wanted)):
        if isinstance(b, torch.Tensor):
            assert isinstance(a, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape, f"{where}, output {i}: {a}"
            assert torch.equal(a, b), f"{where}, output {i}: differs by {(a.double() - b.double()).abs().max()}"
        else:
            assert a == b and type(a) is type(b), f"{where}, output {i}: {a!r} instead of {b!r}"


def run_tool(path, data, folder, *more):
    """With as many threads as PyTorch has here: they decide the last bits of a convolution."""
    threads = dict(os.environ, OMP_NUM_THREADS=str(torch.get_num_threads()))
    return subprocess.run([TOOL, str(path), str(data), str(folder), *more], capture_output=True, text=True, env=threads)


def check_model(program, model, calls, folder, refused=(), fresh=None):
    """`calls` are tuples of tensors. `refused` names forms ("torchscript") that must refuse, each in one line. `fresh` makes the
    model anew where a call changes it."""
    path = folder / "model.pt2"
    torch.export.save(program, path)
    torch.save([tuple(call) for call in calls], folder / "data.pt")
    done = run_tool(path, folder / "data.pt", folder)
    assert done.returncode == 0, done.stderr
    for form in ("pt2", "torchscript"):
        told = [line for line in done.stdout.splitlines() if line.startswith(form + ":")]
        assert (form in refused) == bool(told), f"{form}: {told}"
    expected = torch.load(folder / "float.expected.pt", weights_only=False)
    assert len(expected) == len(calls), f"{len(expected)} calls instead of {len(calls)}"
    with torch.no_grad():
        for index, (call, (_, outputs)) in enumerate(zip(calls, expected)):
            runner = fresh() if fresh else model
            wanted = runner(*pytree.tree_map(lambda v: v.clone(), tuple(call)))
            equal(outputs, wanted, f"interpreter, call {index}")
            if "pt2" not in refused:
                again = torch.export.load(folder / "again.pt2").module()
                equal(again(*pytree.tree_map(lambda v: v.clone(), tuple(call))), wanted, f"again.pt2, call {index}")
            if "torchscript" not in refused:
                again = torch.jit.load(folder / "again.ts.pt")
                equal(again(*pytree.tree_map(lambda v: v.clone(), tuple(call))), wanted, f"again.ts.pt, call {index}")
    return done
