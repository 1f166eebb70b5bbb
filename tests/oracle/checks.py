# SPDX-License-Identifier: Apache-2.0
"""What checks against torch.ao share: a folder and a line for each check, training steps, the program on a model, figures that agree."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch

# With VNNI kernels add up products of bytes exactly; without, sums of two saturate in 16 bits, unless one has 7 bits.
EIGHT_BITS = torch.cpu._is_vnni_supported()


def near(a, b):
    """Equal to a millionth."""
    return len(a) == len(b) and bool(np.all(np.abs(np.subtract(a, b, dtype=np.float64)) <= 1e-6 * np.abs(b)))


def train(prepared, data, steps):
    """A few steps towards 0.3: ranges move and batch norms learn."""
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.05)
    for _ in range(steps):
        loss = (prepared(data()) - 0.3).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def quantize(program, model, data, folder, *words):
    """(error or "", stderr, result.json or None); results go into the folder's out."""
    out = folder / "out"
    run = subprocess.run([program, "quantize", model, "--data", data, "--device", "cpu", "--out", out, *map(str, words)],
                         capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip()[-400:], run.stderr, None
    return "", run.stderr, json.loads((out / "result.json").read_text())


def main(checks):
    """Runs the checks, {name: function(program, folder) -> problems}, or those that the command line names: whole, or up to a slash."""
    torch.set_num_threads(2)
    torch.backends.quantized.engine = "x86"
    program, wanted, failed = os.environ["QUANTSCOPE"], sys.argv[1:], 0
    for name, check in checks.items():
        if wanted and name not in wanted and name.partition("/")[0] not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for problem in check(program, pathlib.Path(folder)):
                failed += 1
                print(f"FAILED {name}: {problem}")
    sys.exit(1 if failed else 0)
