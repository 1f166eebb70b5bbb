# SPDX-License-Identifier: Apache-2.0
"""The CUDA kernels of resources/extensions/sparse_conv give the bits of those on the CPU; through the program with a device."""

import json
import subprocess
import sys
from pathlib import Path

import torch

from harness import PROGRAM, SOURCE, main, run_good, write_recipe

PACK = Path(PROGRAM).parent.parent / "extensions" / "sparse_conv"
if not torch.cuda.is_available():
    print("skipped: no CUDA device")
    sys.exit(77)
if not (PACK / "libsparse_conv_cuda.so").exists():
    print("skipped: this build has no CUDA part")
    sys.exit(77)
torch.ops.load_library(str(PACK / "libsparse_conv.so"))
torch.ops.load_library(str(PACK / "libsparse_conv_cuda.so"))


def sites(count, side, images):
    """As many places, each once."""
    places = torch.randperm(images * side * side)[:count].sort().values
    return torch.stack([places // (side * side), places // side % side, places % side], 1)


def test_the_same_bits(folder):
    torch.manual_seed(1)
    for count, side, kernel, stride, padding in ((1, 8, 3, 1, 1), (57, 8, 3, 1, 1), (300, 16, 3, 2, 1), (1025, 32, 5, 1, 2), (64, 8, 1, 1, 0)):
        indices = sites(count, side, 4)
        out = sites(max(1, count // 2), (side - 1) // stride + 1, 4)
        x, weight, bias = torch.randn(count, 7), torch.randn(9, 7, kernel, kernel), torch.randn(9)
        for added in (bias, None):
            call = [x, weight, added, indices, out, stride, padding]
            on_device = [value.cuda() if isinstance(value, torch.Tensor) else value for value in call]
            assert torch.equal(torch.ops.sparse_conv.conv2d(*call), torch.ops.sparse_conv.conv2d(*on_device).cpu())
            scales, zeros = weight.abs().amax((1, 2, 3)) / 127, torch.zeros(9, dtype=torch.int64)
            packed = torch.ops.sparse_conv.conv2d_prepack(torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8), added)
            for dtype, zero in ((torch.qint8, 0), (torch.quint8, 77)):
                quantized = torch.quantize_per_tensor(x, 0.03, zero, dtype)
                rest = [stride, padding, 0.05, zero]
                wanted = torch.ops.sparse_conv.conv2d_relu_int8(quantized, packed, indices, out, *rest)
                made = torch.ops.sparse_conv.conv2d_relu_int8(quantized.cuda(), packed, indices.cuda(), out.cuda(), *rest)
                assert made.is_cuda and torch.equal(wanted.int_repr(), made.int_repr().cpu()), (count, dtype)


def test_the_whole_way(folder):
    script = SOURCE / "resources" / "extensions" / "sparse_conv" / "sparse_conv.py"
    subprocess.run([sys.executable, script, PACK / "libsparse_conv.so", folder], check=True, timeout=300)
    recipe = write_recipe(folder, backend="tensorrt", mapping={"global": "tensorrt"}, extensions=["sparse_conv"])
    out = folder / "out"
    run_good("quantize", folder / "sparse.pt2", "--data", folder / "data.pt", "--out", out, "--device", "cuda", "--recipe", recipe,
             "--extension", PACK)
    kernels = [node["kernel"] for node in json.loads((out / "result.json").read_text())["nodes"] if node.get("kernel")]
    assert sum(kernel["name"] == "sparse_conv.conv2d_relu_int8.default" and kernel["passed"] for kernel in kernels) == 5, kernels


if __name__ == "__main__":
    main(__name__)
