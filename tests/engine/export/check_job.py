# SPDX-License-Identifier: Apache-2.0
"""Runs the whole job on the sample, on torchvision models and on models with structured inputs and outputs, reloads every
export in Python and compares its outputs with those of our interpreter, bit for bit; structure and dynamic batch too.

usage: check_job.py EXPORT_JOB [MODEL ...]
"""
import collections
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch.utils import _pytree as pytree

SAMPLES = Path(__file__).resolve().parents[3] / "resources" / "samples"


class Structured(torch.nn.Module):
    """Two tensors, one of them by keyword; a mapping with a tuple in it comes back."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.relu = torch.nn.ReLU(inplace=True)
        self.fc = torch.nn.Linear(8, 6)
        self.register_buffer("offset", torch.randn(6), persistent=False)

    def forward(self, image, *, weight):
        x = self.relu(self.conv(image))
        x = x.mean((2, 3))
        x = self.fc(x.view(x.shape[0], -1)) + self.offset
        first, second = torch.split(x, [2, 4], 1)
        return {"first": first * weight, "rest": (second, None, image.shape[0])}


class Shared(torch.nn.Module):
    """Two branches over tied weights, a list as input, a list as output."""

    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(8, 8)
        self.b = torch.nn.Linear(8, 8)
        self.b.weight = self.a.weight

    def forward(self, pair):
        left, right = pair
        x = torch.nn.functional.relu(self.a(left)) + self.b(right)
        return [torch.cat([x, left], 1), x]


def warmed(model, example):
    model.train()
    with torch.no_grad():
        for _ in range(3):
            model(torch.randn_like(example))
    return model.eval()


def torchvision_model(name):
    import torchvision

    model = getattr(torchvision.models, name)(weights=None)
    example = torch.randn(4, 3, 64, 64)
    return warmed(model, example), (example,), {}, ({0: torch.export.Dim("batch")},)


def build(name, folder):
    """The path of the model file and a Python value like the model's output."""
    torch.manual_seed(7)
    batch = torch.export.Dim("batch")
    if name == "digits":
        return SAMPLES / "digits.pt2"
    if name == "structured":
        args, kwargs = (torch.randn(4, 3, 8, 8),), {"weight": torch.randn(1)}
        model, shapes = Structured().eval(), {"image": {0: batch}, "weight": None}
    elif name == "shared":
        args, kwargs = ([torch.randn(4, 8), torch.randn(4, 8)],), {}
        model, shapes = Shared().eval(), {"pair": [{0: batch}, {0: batch}]}
    else:
        model, args, kwargs, shapes = torchvision_model(name)
    path = Path(folder) / f"{name}.pt2"
    torch.export.save(torch.export.export(model, args, kwargs, dynamic_shapes=shapes), path)
    return path


def same(got, wanted, where):
    got, got_spec = pytree.tree_flatten(got)
    assert len(got) == len(wanted), f"{where}: {len(got)} outputs instead of {len(wanted)}"
    for i, (a, b) in enumerate(zip(got, wanted)):
        if isinstance(b, torch.Tensor):
            assert a.dtype == b.dtype and a.shape == b.shape, f"{where}, output {i}: {a.dtype}{list(a.shape)}"
            assert torch.equal(a, b), f"{where}, output {i}: differs by {(a.double() - b.double()).abs().max()}"
        else:
            assert a == b, f"{where}, output {i}: {a} instead of {b}"
    return got_spec


def resized(value, batch, new):
    if isinstance(value, torch.Tensor) and value.dim() > 1 and value.shape[0] == batch:
        return torch.cat([value] * (new // batch + 1))[:new].contiguous()
    return value


def check(name, tool, folder):
    source = build(name, folder)
    data = str(SAMPLES / "calib.npz") if name == "digits" else "sample"
    out = Path(folder) / "out"
    out.mkdir()
    subprocess.run([tool, str(source), data, str(out)], check=True, stdout=subprocess.DEVNULL)
    original = torch.export.load(source)
    in_spec, out_spec = original.call_spec.in_spec, original.call_spec.out_spec
    load = lambda file: torch.export.load(out / file).module()
    runtimes = {
        "model.int8.ts.pt": (torch.jit.load(out / "model.int8.ts.pt"), "lowered"),
        "model.reference.pt2": (load("model.reference.pt2"), "reference"),
        "model.int8.pt2": (load("model.int8.pt2"), "reference"),
    }
    reopened = torch.load(out / "reopened.expected.pt", weights_only=False)
    for file, (module, expected) in runtimes.items():
        calls = torch.load(out / f"{expected}.expected.pt", weights_only=False)
        assert calls, "nothing to compare"
        for index, (inputs, outputs) in enumerate(calls):
            args, kwargs = pytree.tree_unflatten(list(inputs), in_spec)
            with torch.no_grad():
                spec = same(module(*args, **kwargs), outputs, f"{name}, {file}, call {index}")
            assert spec == out_spec, f"{name}, {file}: returns {spec} instead of {out_spec}"
            if expected == "reference":
                same(tuple(reopened[index][1]), outputs, f"{name}, reopened here, call {index}")
        batch = calls[0][0][0].shape[0]
        for new in (1, 3, 7):
            values = [resized(v, batch, new) for v in calls[0][0]]
            args, kwargs = pytree.tree_unflatten(values, in_spec)
            with torch.no_grad():
                first = pytree.tree_leaves(module(*args, **kwargs))[0]
            assert first.shape[0] == new, f"{name}, {file}: a batch of {new} gives {first.shape[0]} rows"
    program = torch.export.load(out / "model.reference.pt2")
    assert program.range_constraints == original.range_constraints, "range constraints changed"
    stored = torch.export.load(out / "model.int8.pt2").state_dict
    kinds = collections.Counter(str(t.dtype) for t in stored.values())
    assert kinds["torch.int8"] > 0, f"{name}: no int8 weights in model.int8.pt2: {dict(kinds)}"
    print(f"{name}: three exports equal to the interpreter")


def main():
    tool = sys.argv[1]
    names = sys.argv[2:] or ["digits", "structured", "shared"]
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            check(name, tool, folder)


if __name__ == "__main__":
    main()
