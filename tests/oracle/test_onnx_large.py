# SPDX-License-Identifier: Apache-2.0
"""A model of more than 2 GB: its tensors stand beside the file, ONNX Runtime maps them, and their loss or change is found."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import torch
from torch import nn

from onnx_parting import fed, session, sqnr

QUANTSCOPE = os.environ["QUANTSCOPE"]
ROWS, WIDTH = 70_000, 8192  # floats of 2.3 GB


def run(*words, code=0):
    done = subprocess.run([QUANTSCOPE, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr[-2000:]
    return done


def main():
    torch.manual_seed(6)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = nn.Sequential(nn.Embedding(ROWS, WIDTH), nn.Linear(WIDTH, 8)).eval()
        ids = torch.tensor([[0, 1, ROWS - 1], [7, ROWS // 2, 3]])
        with torch.no_grad():
            wanted = model(ids)
            torch.export.save(torch.export.export(model, (ids,)), folder / "model.pt2")
        del model
        torch.save(ids, folder / "ids.pt")
        out = folder / "out"
        run("quantize", folder / "model.pt2", "--data", folder / "ids.pt", "--out", out, "--export", "onnx", "--target", "ort-cpu")
        (folder / "model.pt2").rename(folder / "kept.pt2")
        size, beside = (out / "model.int8.onnx").stat().st_size, (out / "model.int8.onnx.data").stat().st_size
        assert size < 1_000_000 and beside > 2 ** 31, (size, beside)
        assert set(json.loads((out / "result.json").read_text())["exports_sha256"]) == {"model.int8.onnx", "model.int8.onnx.data"}
        onnx.checker.check_model(str(out / "model.int8.onnx"))
        got = torch.from_numpy(np.asarray(next(iter(fed(session(out / "model.int8.onnx"), (ids,)).values()))))
        agreement = sqnr(wanted, got)
        assert agreement > 20, f"{agreement:.1f} dB"
        (folder / "kept.pt2").rename(folder / "model.pt2")
        words = ("verify", out, "--data", folder / "ids.pt", "--python", sys.executable, "--runtime", "onnxruntime", "--json")
        assert json.loads(run(*words).stdout)["passed"]
        with open(out / "model.int8.onnx.data", "r+b") as file:
            file.seek(2 ** 31 + 12345)
            byte = file.read(1)
            file.seek(2 ** 31 + 12345)
            file.write(bytes([byte[0] ^ 1]))
        assert "model.int8.onnx.data" in run(*words, code=1).stdout
        (out / "model.int8.onnx.data").unlink()
        assert "model.int8.onnx.data" in run(*words, code=1).stdout
        print(f"{beside / 1e9:.2f} GB beside a file of {size / 1e3:.0f} kB, {agreement:.1f} dB against the float model; a changed byte and the missing file are found")


if __name__ == "__main__":
    main()
