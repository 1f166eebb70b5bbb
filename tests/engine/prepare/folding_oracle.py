# SPDX-License-Identifier: Apache-2.0
"""Writes batch norms folded by torch.nn.utils.fusion: folding_oracle.py OUT."""
import sys

import torch
from torch.nn.utils.fusion import fuse_conv_bn_weights, fuse_linear_bn_weights

torch.manual_seed(7)
cases = []
for kind, shape in [("conv1d", (6, 4, 3)), ("conv2d", (6, 4, 3, 3)), ("conv3d", (6, 4, 2, 2, 2)),
                    ("conv_transpose1d", (4, 6, 3)), ("conv_transpose2d", (4, 6, 3, 3)),
                    ("conv_transpose3d", (4, 6, 2, 2, 2)), ("linear", (6, 4)), ("conv2d", (67, 33, 3, 3))]:
    for bias in (True, False):
        for affine in (True, False):
            transpose = kind.startswith("conv_transpose")
            out = shape[1] if transpose else shape[0]
            if kind == "linear" and not affine:
                continue  # torch's own function wants both
            w, b = torch.randn(shape), torch.randn(out) if bias else None
            rm, rv = torch.randn(out), torch.rand(out) * 3 + 1e-4
            bw, bb = (torch.randn(out), torch.randn(out)) if affine else (None, None)
            if kind == "linear":
                fw, fb = fuse_linear_bn_weights(w, b, rm, rv, 1e-5, bw, bb)
            else:
                fw, fb = fuse_conv_bn_weights(w, b, rm, rv, 1e-5, bw, bb, transpose)
            cases.append({"kind": kind, "w": w, "b": b, "rm": rm, "rv": rv, "bw": bw, "bb": bb,
                          "fw": fw.detach(), "fb": fb.detach()})
torch.save(cases, sys.argv[1])
