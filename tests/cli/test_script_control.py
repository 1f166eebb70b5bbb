# SPDX-License-Identifier: Apache-2.0
"""TorchScript models whose data decide: shown with their place, quantized around the branches, exported and run again."""
import json
import sys
from pathlib import Path
from typing import Dict, List, Optional

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parent))
import harness  # noqa: E402
from harness import expect_bad, run, run_good, run_json, sqnr, write_recipe  # noqa: E402


class Decides(nn.Module):
    """Which layer runs, how often, and what is gathered, the data tell; a list, a dict and None travel through branches."""

    def __init__(self):
        super().__init__()
        self.front, self.yes, self.no, self.last = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        y = torch.relu(self.front(x))
        extra: Optional[Tensor] = None
        if bool(x[0, 0] > 0):
            y = self.yes(y)
            extra = y.sum(1, keepdim=True)
        else:
            y = self.no(y) * 2
        rounds = 0
        while bool(y.abs().max() > 1.0):
            y = y * 0.5
            rounds += 1
        rows: List[Tensor] = []
        for i in range(x.size(0)):
            row = y[i]
            if bool(row.sum() > 0):
                row = row + 1
            rows.append(row)
        named: Dict[str, Tensor] = {"rows": torch.stack(rows)}
        if bool(x.sum() > 1000):
            raise ValueError("too large")
        z = self.last(named["rows"])
        if extra is not None:
            z = z + extra
        return z, rounds


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        if bool(x.mean() > 0):
            return self.inner(x)
        return x


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.gate, self.second = nn.Linear(8, 8), Gate(), nn.Linear(8, 4)

    def forward(self, x):
        return self.second(self.gate(torch.relu(self.first(x))))


class Routed(nn.Module):
    """One mean does nothing but choose the branch; the other is also added."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.score = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(8, 1)

    def forward(self, x):
        y = torch.relu(self.first(x))
        y = torch.cond(self.score(y).mean() > 0, lambda y: y * 2, lambda y: y - 1, (y,))
        middle = y.mean(1, keepdim=True)
        y = torch.cond(middle.max() > 0, lambda y: y + 1, lambda y: y - 1, (y,))
        return self.second(y + middle)


class FirstParts(nn.Module):
    """Lists of which only the first tensors are read."""

    def __init__(self):
        super().__init__()
        self.wide, self.last = nn.Linear(8, 16), nn.Linear(4, 4)

    def forward(self, x):
        y = torch.relu(self.wide(x))
        parts = torch.split(y, 4, -1)
        rows = torch.unbind(y.view(-1, 2, 8), 1)
        return self.last(parts[0] + parts[1] - parts[2]), rows[0], y.chunk(4, -1)[1]


class Checks(nn.Module):
    """Norms that look at ranks and sizes before they compute: `dim() != 2 and dim() != 3`, a product of sizes in a loop."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.act = nn.Conv1d(8, 6, 3), nn.BatchNorm1d(6), nn.ReLU()
        self.wide, self.groups = nn.Conv1d(6, 4, 3), nn.GroupNorm(2, 4)

    def forward(self, x):
        y = self.act(self.norm(self.conv(x.unsqueeze(-1).expand(-1, -1, 9))))
        return self.groups(self.wide(y)).mean(-1)


def scripted(net, folder):
    torch.manual_seed(0)
    path = folder / "model.pt"
    script = torch.jit.script(net().eval())
    script.save(str(path))
    return script, path


def data(folder, count=64, batch=4):
    torch.manual_seed(1)
    x = torch.randn(count, 8)
    path = folder / "data.npz"
    np.savez(path, x=x.numpy())
    return x, path, write_recipe(folder, calibration={"batch_size": batch, "batches": 16})


def test_branches_and_loops_are_exported(folder):
    script, path = scripted(Decides, folder)
    x, samples, recipe = data(folder)
    out = folder / "out"
    run_good("quantize", path, "--recipe", recipe, "--data", samples, "--out", out, "--export", "torchscript")
    result = json.loads((out / "result.json").read_text())
    assert sum(n["quantized"] for n in result["nodes"]) >= 2, "front and last should be quantized"
    loaded = torch.jit.load(str(out / "model.int8.ts.pt"))
    ways = set()
    wanted, found = [], []
    with torch.no_grad():
        for batch in list(x.split(4)) + [torch.randn(7, 8), -torch.rand(2, 8)]:
            (want, rounds), (have, again) = script(batch), loaded(batch)
            assert rounds == again, (rounds, again)
            ways.add((bool(batch[0, 0] > 0), rounds > 0))
            wanted.append(want)
            found.append(have)
    assert {way[0] for way in ways} == {True, False}, ways
    assert sqnr(torch.cat(wanted), torch.cat(found)) > 25
    # What the engine measured is what the file computes.
    told = result["outputs"][0]["lowered"]["sqnr_db"]
    assert abs(told - sqnr(torch.cat(wanted[:16]), torch.cat(found[:16]))) < 0.05, told
    try:
        loaded(torch.full((4, 8), 100.0))
        raise AssertionError("the model's own error is gone")
    except torch.jit.Error as error:
        assert "too large" in str(error), error


def test_default_export_leaves_out_what_cannot_hold_the_model(folder):
    _, path = scripted(Decides, folder)
    _, samples, recipe = data(folder)
    words = ["quantize", path, "--recipe", recipe, "--data", samples, "--out", folder / "out"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    for form in ("pt2", "onnx"):
        assert f"note: left out: no {form}: " in done.stderr, done.stderr
        expect_bad(*words[:-1], folder / "named", "--export", form, out=folder / "named")
    assert {path.name for path in (folder / "out").glob("model*")} == {"model.int8.ts.pt"}


def test_what_only_decides_a_branch_stays_float(folder):
    """Nothing is observed for it, and each operator says so; a value that is also computed with is quantized."""
    script, path = scripted(Gated, folder)
    exported = folder / "model.pt2"
    torch.manual_seed(0)
    torch.export.save(torch.export.export(Routed().eval(), (torch.randn(4, 8),)), exported)
    _, samples, recipe = data(folder)
    for model, deciding in ((path, {"mean"}), (exported, {"linear_1", "mean"})):
        document = run_json("quantize", model, "--recipe", recipe, "--data", samples, "--out", folder / "out", "--export", "torchscript")
        for node in document["nodes"]:
            if node["name"] in deciding:
                assert not node["quantized"] and "its result only decides which way" in node["reason"], node
                assert node["output"] is None and node["weight"] is None, node
            elif node["op"].startswith(("aten.linear", "aten.mean")):
                assert node["quantized"], node


def test_bodies_say_what_they_are(folder):
    _, path = scripted(Decides, folder)
    nodes = run_json("inspect", path)["nodes"]
    titles = {(n["op"], *(body["title"] for body in n["bodies"])) for n in nodes if "bodies" in n}
    assert titles == {("prim.If.default", "if true", "otherwise"), ("prim.Loop.default", "do")}, titles


def test_a_branch_is_located_left_alone_and_the_rest_quantized(folder):
    script, path = scripted(Gated, folder)
    x, samples, _ = data(folder)
    found = [n for n in run_json("inspect", path)["nodes"] if n["op"] == "prim.If.default"]
    assert len(found) == 1 and found[0]["module"] == "gate", found
    source = found[0]["source"]
    assert Path(source["file"]).name == Path(__file__).name and "x.mean() > 0" in source["code"], source
    recipe = write_recipe(folder, calibration={"batch_size": 4, "batches": 16},
                          prepare={"non_traceable_module_name": ["gate"]})
    out = folder / "out"
    run_good("quantize", path, "--recipe", recipe, "--data", samples, "--out", out, "--export", "torchscript")
    result = json.loads((out / "result.json").read_text())
    linears = {n["module"]: n["quantized"] for n in result["nodes"] if n["op"] == "aten.linear.default"}
    assert linears == {"first": True, "second": True}, linears
    loaded = torch.jit.load(str(out / "model.int8.ts.pt"))
    kept = [value for value in loaded.state_dict().values() if value.shape == (8, 8) and not value.is_quantized]
    assert any(torch.equal(value, script.gate.inner.weight) for value in kept), "the inner layer was changed"
    with torch.no_grad():
        assert sqnr(script(x), loaded(x)) > 25


def test_lists_read_in_part_run_again(folder):
    script, path = scripted(FirstParts, folder)
    x, samples, recipe = data(folder)
    run_good("quantize", path, "--recipe", recipe, "--data", samples, "--export", "torchscript,pt2-reference", "--out", folder / "out")
    for name in ("model.int8.ts.pt", "model.reference.pt2"):
        with torch.no_grad():
            file = folder / "out" / name
            loaded = torch.export.load(file).module() if name.endswith("pt2") else torch.jit.load(str(file))
            for want, have in zip(script(x[:4]), loaded(x[:4]), strict=True):
                assert want.shape == have.shape and sqnr(want, have) > 20, (name, want.shape, sqnr(want, have))


def test_checks_of_ranks_and_sizes_leave_nothing_behind(folder):
    """They only raise: what is wrong with a shape the operators say themselves, and the layers around them fuse as ever."""
    script, path = scripted(Checks, folder)
    x, samples, recipe = data(folder)
    nodes = run_json("plan", path, "--recipe", recipe)["nodes"]
    assert not [n["name"] for n in nodes if n["op"].startswith("prim.")], nodes
    fused = {n["module"]: n["pattern"] for n in nodes if n["module"] in ("conv", "norm", "act")}
    assert len(fused) == 3 and all(len(pattern) == 3 for pattern in fused.values()), fused
    out = folder / "out"
    run_good("quantize", path, "--recipe", recipe, "--data", samples, "--export", "torchscript,pt2-reference", "--out", out)
    told = json.loads((out / "result.json").read_text())["outputs"][0]["lowered"]["sqnr_db"]
    with torch.no_grad():
        measured = sqnr(script(x), torch.jit.load(str(out / "model.int8.ts.pt"))(x))
    assert measured > 10 and abs(measured - told) < 0.1, (measured, told)
    assert (out / "model.reference.pt2").exists(), "a branch was left"


if __name__ == "__main__":
    harness.main(__name__)
