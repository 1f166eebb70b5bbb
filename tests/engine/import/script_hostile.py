# SPDX-License-Identifier: Apache-2.0
"""TorchScript files that would do something when opened or run: opening them does nothing and says so in one line."""
import os
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import torch
from torch import Tensor, nn

QUANTSCOPE = os.environ["QUANTSCOPE"]
TARGET = "/tmp/quantscope-hostile-" + str(os.getpid())

BODIES = {
    "saves": f"torch.ops.aten.save(state[0], '{TARGET}')",
    "maps": f"self.training = torch.from_file('{TARGET}', True, 16).numel() > 3",
    "prints": "print('opened')",
    "loops": "x = 0\n        while True:\n            x += 1",
    "calls": "self.fc(state[0])",
}

TEMPLATE = '''
import torch
from torch import Tensor, nn
from typing import Tuple
class Hostile(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
    def forward(self, x):
        return x + 1
    @torch.jit.export
    def __getstate__(self):
        return (torch.zeros(2), self.training)
    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, bool]):
        self.training = state[1]
        {body}
'''


class Reader(nn.Module):
    def __init__(self, path: str):
        super().__init__()
        self.path = path
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = torch.from_file(self.path, True, 4)
        print("running")
        return self.fc(x) + y


def run(*args):
    start = time.time()
    done = subprocess.run([QUANTSCOPE, *args], capture_output=True, text=True, timeout=60)
    return done, time.time() - start


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.assertFalse(os.path.exists(TARGET))

    def tearDown(self):
        existed = os.path.exists(TARGET)
        if existed:
            os.remove(TARGET)
        self.assertFalse(existed, "a file was written")

    def test_opening_runs_nothing(self):
        for name, body in BODIES.items():
            with self.subTest(name):
                source = os.path.join(self.folder.name, name + ".py")
                with open(source, "w") as out:
                    out.write(TEMPLATE.format(body=body))
                import importlib.util

                spec = importlib.util.spec_from_file_location("hostile_" + name, source)
                module = importlib.util.module_from_spec(spec)
                sys.modules["hostile_" + name] = module
                spec.loader.exec_module(module)
                path = os.path.join(self.folder.name, name + ".pt")
                torch.jit.script(module.Hostile()).save(path)
                done, seconds = run("inspect", path)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(done.stdout, "")
                lines = done.stderr.strip().splitlines()
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertIn(path, lines[0])
                self.assertIn("__setstate__", lines[0])
                self.assertLess(seconds, 20)
                self.assertFalse(os.path.exists(TARGET))

    def test_running_never_touches_files(self):
        path = os.path.join(self.folder.name, "reader.pt")
        torch.jit.script(Reader(TARGET).eval()).save(path)
        done, _ = run("inspect", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("from_file", done.stdout)
        data = os.path.join(self.folder.name, "data.npz")
        np.savez(data, x=np.ones((4, 4), np.float32))
        done, _ = run("quantize", path, "--data", data, "--out", os.path.join(self.folder.name, "out"))
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("running", done.stdout)
        self.assertIn("never run", done.stderr.splitlines()[-1])
        self.assertFalse(os.path.exists(TARGET))

    def test_packed_weights_still_open(self):
        net = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2))).eval()
        packed = torch.ao.quantization.quantize_dynamic(net, {nn.Linear}, dtype=torch.qint8)
        path = os.path.join(self.folder.name, "packed.pt")
        torch.jit.script(packed).save(path)
        done, _ = run("inspect", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("linear_dynamic", done.stdout)


if __name__ == "__main__":
    unittest.main()
