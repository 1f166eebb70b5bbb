# SPDX-License-Identifier: Apache-2.0
"""What the tests of edits share."""

import torch
from torch import nn

from harness import run_json, write_recipe


class Block(nn.Module):
    """A transformer's block: attention, a feed-forward part, residuals."""

    def __init__(self, width=16):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.up, self.act, self.down = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)

    def forward(self, x):
        a = torch.nn.functional.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))
        x = self.norm(x + a)
        return x + self.down(self.act(self.up(x)))


def op(module, target, index=0):
    return {"module": module, "op": f"aten.{target}", **({"index": index} if index else {})}


def edited(folder, model, edits):
    """The float model that the edits make, loaded in Python."""
    out = folder / "edited.pt2"
    told = run_json("edit", model, "--recipe", write_recipe(folder, edits=edits), "--out", out, "--strict")
    assert all(edit["problem"] is None for edit in told["edits"]), told
    return torch.export.load(out).module(), told


def same(wanted, got):
    wanted, got = (value if isinstance(value, (tuple, list)) else [value] for value in (wanted, got))
    assert len(wanted) == len(got), (len(wanted), len(got))
    for a, b in zip(wanted, got):
        assert torch.equal(a, b), float((a - b).abs().max())


def block(folder):
    torch.manual_seed(3)
    model = Block().eval()
    x = torch.randn(4, 6, 16)
    path = folder / "block.pt2"
    batch = torch.export.Dim("batch", min=1, max=64)
    with torch.no_grad():
        torch.export.save(torch.export.export(model, (x,), dynamic_shapes=({0: batch},)), path)
    return model, path, x
