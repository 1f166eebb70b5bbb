# SPDX-License-Identifier: Apache-2.0
"""Every TorchScript model of tests/data/make_script_models.py through the whole job: what was exported loads in PyTorch, takes the
same arguments and computes nearly what the float model does, control flow and numbers exactly.

    python script_exports.py FOLDER_OF_MODELS
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import torch
import torch.utils._pytree as pytree

QUANTSCOPE = os.environ["QUANTSCOPE"]
MODELS = pathlib.Path(sys.argv[1])
# Cells: nothing that a static recipe quantizes; a trace holds their steps alone. Nested arguments: the .npz holds them flat.
DYNAMIC, STEPS, NESTED = ("cells",), "cells.traced.pt", ("structures",)


def flat_arguments(path):
    arrays = np.load(path.with_suffix(".npz"))
    found = [arrays[f"in{i}"] for i in range(sum(name.startswith("in") for name in arrays.files))]
    return [a.item() if a.ndim == 0 else torch.from_numpy(a) for a in found]


def varied(arguments, seed):
    generator = torch.Generator().manual_seed(seed)
    return tuple(a + 0.1 * torch.randn(a.shape, generator=generator) if isinstance(a, torch.Tensor) and a.is_floating_point() else a
                 for a in arguments)


def sqnr(want, have):
    noise = float(((want.double() - have.double()) ** 2).sum())
    return 200.0 if noise == 0 else 10 * math.log10(max(float((want.double() ** 2).sum()), 1e-30) / noise)


class Exports(unittest.TestCase):
    def check(self, path, folder):
        arguments = flat_arguments(path)
        calls = [varied(arguments, seed) for seed in range(4)]
        data, recipe, out = folder / "calls.pt", folder / "recipe.json", folder / "out"
        torch.save(calls, data)
        dynamic = path.name.startswith(DYNAMIC)
        mapping = {"global": "default_dynamic"} if dynamic else {"global": "x86"}
        recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": mapping}))
        done = subprocess.run([QUANTSCOPE, "quantize", path, "--recipe", recipe, "--data", data, "--out", out], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        loaded = torch.jit.load(str(out / "model.int8.ts.pt"))
        if path.name.startswith(NESTED):
            return
        script = torch.jit.load(str(path))
        with torch.no_grad():
            want, have = pytree.tree_leaves(script(*calls[0])), pytree.tree_leaves(loaded(*calls[0]))
        self.assertEqual(len(want), len(have))
        for a, b in zip(want, have):
            if isinstance(a, torch.Tensor) and a.is_floating_point():
                self.assertGreater(sqnr(a, b), 20)
            elif isinstance(a, torch.Tensor):
                self.assertTrue(torch.equal(a, b))
            else:
                self.assertEqual(a, b)

    def test_every_model(self):
        paths = [path for path in sorted(MODELS.glob("*.pt")) if path.name != STEPS]
        self.assertGreaterEqual(len(paths), 14)
        for path in paths:
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                self.check(path, pathlib.Path(folder))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
