# SPDX-License-Identifier: Apache-2.0
"""Helps tests that compare a float model with PyTorch: exports it, lets `run_model` run every call, and reloads what it wrote
again. Everything must be equal to the bit."""
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch
from torch.utils import _pytree as pytree

ALL = "--all" in sys.argv  # everything, and not one of each kind
TOOL = str(pathlib.Path(os.environ["QUANTSCOPE"]).parents[1] / "tests" / "run_model")


def main():
    """unittest's own, which --all does not confuse."""
    unittest.main(argv=[word for word in sys.argv if word != "--all"])


def equal(got, wanted, where):
    got, wanted = pytree.tree_leaves(got), pytree.tree_leaves(wanted)
    assert len(got) == len(wanted), f"{where}: {len(got)} outputs instead of {len(wanted)}"
    for i, (a, b) in enumerate(zip(got, wanted)):
        if isinstance(b, torch.Tensor):
            assert isinstance(a, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape, f"{where}, output {i}: {a}"
            assert torch.equal(a, b), f"{where}, output {i}: differs by {(a.double() - b.double()).abs().max()}"
        else:
            assert a == b and type(a) is type(b), f"{where}, output {i}: {a!r} instead of {b!r}"


@functools.cache
def tool(threads):
    """A `run_model` that answers line by line, so that many models take one start of LibTorch, and what reads its notes."""
    notes = tempfile.NamedTemporaryFile("w")
    process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=notes, text=True,
                               env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    return process, open(notes.name, errors="replace")


def run_tool(*words):
    """What `run_model` says to these words, as a finished process. It has as many threads as PyTorch has here: they decide the last bits of a
    convolution."""
    process, notes = tool(torch.get_num_threads())
    process.stdin.write("\t".join(map(str, words)) + "\n")
    process.stdin.flush()
    said = []
    for line in process.stdout:
        if line == "done\n" or line.startswith("failed: "):
            failed = line.removeprefix("failed: ") if line != "done\n" else ""
            return subprocess.CompletedProcess(words, int(line != "done\n"), "".join(said), notes.read() + failed)
        said.append(line)
    raise AssertionError(f"run_model ended ({process.wait()}) at {words}: {notes.read()}")


def units(path):
    """The quantized units of the default plan: (module, call, pattern, qconfig)."""
    done = run_tool("units", path)
    assert done.returncode == 0, done.stderr
    return sorted({(module, call, str(pattern), qconfig) for module, call, pattern, qconfig in json.loads(done.stdout)})


def check_model(program, model, calls, folder, refused=(), fresh=None):
    """`calls` are tuples of tensors. `refused` names forms ("torchscript") that must refuse, each in one line. `fresh` makes the
    model anew where a call changes it; what was written again is then loaded anew as well."""
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
    loaders = {"pt2": lambda: torch.export.load(folder / "again.pt2").module(), "torchscript": lambda: torch.jit.load(folder / "again.ts.pt")}
    with torch.no_grad():
        for index, (call, (_, outputs)) in enumerate(zip(calls, expected)):
            runner = fresh() if fresh else model
            wanted = runner(*pytree.tree_map(lambda v: v.clone(), tuple(call)))
            equal(outputs, wanted, f"interpreter, call {index}")
            if fresh or not index:
                again = {form: load() for form, load in loaders.items() if form not in refused}
            for form, module in again.items():
                equal(module(*pytree.tree_map(lambda v: v.clone(), tuple(call))), wanted, f"written again as {form}, call {index}")
    return done
