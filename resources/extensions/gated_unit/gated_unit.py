# SPDX-License-Identifier: Apache-2.0
"""A custom module as a pack: `GatedUnit` is several operators in float and one on eight bits.

    python gated_unit.py DIR    # writes the pack's TorchScript into DIR, and a model with two units and its data
"""
import re
import shutil
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F


class GatedUnit(nn.Module):
    """One half of a linear layer's results lets the other through."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, 2 * outputs)

    def forward(self, x):
        value, gate = self.linear(x).chunk(2, -1)
        return value * torch.sigmoid(gate)


class Operators(nn.Module):
    """What takes the unit's place, a method a mode; the weight arrives quantized."""

    def unit(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        value, gate = F.linear(x, weight.dequantize(), bias).chunk(2, -1)
        return value * torch.sigmoid(gate)

    @torch.jit.export
    def unit_int8(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, output_scale: float, output_zero_point: int) -> torch.Tensor:
        y = self.unit(x.dequantize(), weight, bias)
        return torch.quantize_per_tensor(y, output_scale, output_zero_point, x.dtype)

    @torch.jit.export
    def unit_dynamic(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return self.unit(torch.quantize_per_tensor_dynamic(x, torch.quint8, False).dequantize(), weight, bias)

    @torch.jit.export
    def unit_weight_only(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return self.unit(x, weight, bias)


class Network(nn.Module):
    """linear - custom - linear"""

    def __init__(self):
        super().__init__()
        self.first, self.unit, self.last = nn.Linear(16, 12), GatedUnit(12, 10), nn.Linear(10, 4)

    def forward(self, x):
        return self.last(self.unit(self.first(x)))


def register(file):
    """Lets this Python know the operators of the file, as an exported model needs before torch.jit.load."""
    script = torch.jit.load(str(file))
    for name in ("unit_int8", "unit_dynamic", "unit_weight_only"):
        method = getattr(script, name)
        schema = re.sub(r"^[^(]*\([^ ]+ self, ", "(", str(method.schema))
        torch.library.define(f"gated::{name}", schema)
        torch.library.impl(f"gated::{name}", "CompositeExplicitAutograd", method)


def main(folder):
    sys.modules.setdefault("gated_unit", sys.modules[__name__])
    for cls in (GatedUnit, Network):
        cls.__module__ = "gated_unit"
    folder.mkdir(parents=True, exist_ok=True)
    torch.jit.script(Operators()).save(str(folder / "gated_unit.pt"))
    shutil.copy(Path(__file__).parent / "extension.json", folder)
    torch.manual_seed(5)
    torch.export.save(torch.export.export(Network().eval(), (torch.randn(8, 16),)), folder / "network.pt2")
    torch.save([(torch.randn(8, 16),) for _ in range(6)], folder / "data.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
