# SPDX-License-Identifier: Apache-2.0
"""Writes calls of torch's own quantized_decomposed operators with their results: decomposed_oracle.py OUT."""
import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401, registers the operators

ops = torch.ops.quantized_decomposed
CODE = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.float32: 6}
BOUNDS = {torch.uint8: (0, 255), torch.int8: (-128, 127), torch.int16: (-32768, 32767), torch.int32: (-2**31, 2**31 - 1)}
torch.manual_seed(3)
inputs = [torch.randn(1000) * 5, torch.randn(2, 3, 5, 7) * 100, torch.randn(4, 3, 1, 1).to(torch.float16),
          torch.zeros(0, 3), torch.arange(-40, 40).float() * 0.25,
          torch.tensor([0.0, -0.0, 1e-38, -1e-42, 3.4e38, -3.4e38, float("inf"), float("-inf"), 0.5, 1.5, 2.5]),
          torch.randn(6, 8).t(), torch.randn(2, 4, 6, 6).to(memory_format=torch.channels_last)]
cases = []


def add(name, overload, args, out):
    plain = [CODE[a] if isinstance(a, torch.dtype) else a for a in args]
    cases.append({"op": name, "overload": overload, "args": plain, "out": list(out) if isinstance(out, tuple) else [out]})


for x in inputs:
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32):
        low, high = BOUNDS[dtype]
        for scale, zero, qmin, qmax in [(0.03125, 0, low, high), (float(torch.tensor(0.0173)), 3, max(low, 0), min(high, 127)),
                                        (float(torch.tensor(1.7e-3)), -5 if low < 0 else 128, low, high)]:
            args = [x, scale, zero, qmin, qmax, dtype]
            q = ops.quantize_per_tensor(*args)
            add("quantize_per_tensor", "", args, q)
            back = [q] + args[1:]
            add("dequantize_per_tensor", "", back, ops.dequantize_per_tensor(*back))
            args = [x, torch.tensor([scale]), torch.tensor([zero]), qmin, qmax, dtype]
            add("quantize_per_tensor", "tensor", args, ops.quantize_per_tensor.tensor(*args))
            back = [q] + args[1:]
            add("dequantize_per_tensor", "tensor", back, ops.dequantize_per_tensor.tensor(*back))
        for axis in range(x.dim()):
            if x.size(axis) == 0 or dtype == torch.int32:
                continue
            scales = torch.rand(x.size(axis)) * 0.1 + 1e-4
            zeros = torch.randint(max(low, -5), 6, (x.size(axis),))
            args = [x, scales, zeros, axis, low, high, dtype]
            q = ops.quantize_per_channel(*args)
            add("quantize_per_channel", "", args, q)
            back = [q] + args[1:]
            add("dequantize_per_channel", "", back, ops.dequantize_per_channel(*back))
    if x.numel() and torch.isfinite(x).all():
        for dtype, qmin, qmax in [(torch.uint8, 0, 127), (torch.uint8, 0, 255), (torch.int8, -128, 127)]:
            args = [x.float(), qmin, qmax, 2**-12, dtype]
            add("choose_qparams", "tensor", args, ops.choose_qparams.tensor(*args))
            add("choose_qparams_symmetric", "tensor", args, ops.choose_qparams_symmetric.tensor(*args))
torch.save(cases, sys.argv[1])
