# SPDX-License-Identifier: Apache-2.0
"""Calls whose arguments the export fixed, and models that keep state between calls: every figure is of the same calls, here and in every runtime."""

import copy
import json
import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import main, run, run_good, sqnr, write_recipe
from torch import nn

EAGER = ("--runtime", "torch.jit,torch.export")


class Optional(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x, mask=None, bias=None, scale=True, times=2):
        x = x if bias is None else x + bias
        return self.second(torch.relu(self.first(x * times if scale else x)))


class Nested(nn.Module):
    """None and a flag inside of containers."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, parts, *, more):
        first, none, second = parts
        return self.fc(first + second + more["x"]) if none is None and more["on"] else first


class Cache(nn.Module):
    """A key-value cache that each call writes one place of, with a running count."""

    def __init__(self):
        super().__init__()
        self.put, self.get = nn.Linear(16, 16), nn.Linear(16, 16)
        self.register_buffer("kept", torch.zeros(1, 8, 16))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x, at):
        self.kept.index_copy_(1, at, self.put(x))
        self.count.add_(1)
        return self.get(self.kept.sum(1)) + 0.1 * self.count


def result_of(folder, model, calls, *words, kwargs=None, example=None):
    with torch.no_grad():
        program = torch.export.export(copy.deepcopy(model), *(example or (calls[0],)))
    torch.export.save(program, folder / "m.pt2")
    torch.save(calls, folder / "d.pt")
    done = run("quantize", folder / "m.pt2", "--data", folder / "d.pt", "--device", "cpu", "--out", folder / "q", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def verified(folder, *words):
    done = run("verify", folder / "q", "--data", folder / "d.pt", "--python", sys.executable, "--json", *words)
    certificate = json.loads(done.stdout)
    return certificate, {(v["file"], v["runtime"]): v for v in certificate["verdicts"]}, done


def test_what_the_export_fixed_is_given_again(folder):
    torch.manual_seed(1)
    model = Optional().eval()
    for index, calls in enumerate(([(torch.randn(4, 8), None, torch.randn(4, 8)) for _ in range(3)],
                                   [(torch.randn(4, 8), torch.randn(3), None, False, 3) for _ in range(3)])):
        place = folder / str(index)
        place.mkdir()
        document, said = result_of(place, model, calls)
        assert "could not be checked" not in said, said  # both PyTorch files were read back
        loaded = torch.jit.load(place / "q" / "model.int8.ts.pt")
        with torch.no_grad():
            measured = sqnr(torch.cat([model(*c) for c in calls]), torch.cat([loaded(*c) for c in calls]))
        assert abs(document["outputs"][0]["lowered"]["sqnr_db"] - measured) < 0.05, measured
        certificate, verdicts, done = verified(place, "--runtime", "torch.jit,torch.export,onnxruntime")
        assert done.returncode == 0 and certificate["passed"], (done.stdout[-2000:], done.stderr)
        assert certificate["state"] is None
        for key in (("model.int8.ts.pt", "torch.jit"), ("model.int8.pt2", "torch.export"), ("model.int8.onnx", "onnxruntime")):
            assert verdicts[key]["outcome"] == "passed" and len(verdicts[key]["outputs"]) == 1, verdicts[key]


def test_none_inside_of_containers(folder):
    torch.manual_seed(2)
    model = Nested().eval()
    calls = [([torch.randn(4, 8), None, torch.randn(4, 8)], {"x": torch.randn(4, 8), "on": True}) for _ in range(3)]
    document, said = result_of(folder, model, calls, example=((calls[0][0],), {"more": calls[0][1]}))
    assert "could not be checked" not in said, said
    with torch.no_grad():
        loaded = torch.export.load(folder / "q" / "model.int8.pt2").module()
        measured = sqnr(torch.cat([model(c[0], more=c[1]) for c in calls]), torch.cat([loaded(c[0], more=c[1]) for c in calls]))
    assert abs(document["outputs"][0]["cumulative"]["sqnr_db"] - measured) < 0.05, measured
    certificate, _, done = verified(folder, "--runtime", "torch.export,onnxruntime")
    assert done.returncode == 0 and certificate["passed"], (done.stdout[-2000:], done.stderr)


def cache_calls(count=5):
    return [(torch.randn(1, 1, 16), torch.tensor([i % 8])) for i in range(count)]


def test_each_call_starts_from_the_saved_state(folder):
    torch.manual_seed(3)
    model, calls = Cache().eval(), cache_calls()
    document, said = result_of(folder, model, calls)
    assert "'b_kept'" in said or "'kept'" in said and "starts from the saved state" in said, said
    assert "left out: no onnx" in said, said  # chosen by default: a note
    path = folder / "q" / "model.int8.ts.pt"
    with torch.no_grad():
        measured = sqnr(torch.cat([copy.deepcopy(model)(*c) for c in calls]), torch.cat([torch.jit.load(path)(*c) for c in calls]))
    assert abs(document["outputs"][0]["lowered"]["sqnr_db"] - measured) < 0.05, measured
    certificate, verdicts, done = verified(folder, *EAGER)
    assert done.returncode == 0 and certificate["state"] == "saved", (done.stdout[-2000:], done.stderr)
    for verdict in verdicts.values():
        for output in verdict["outputs"]:
            assert output["agreement_db"] >= 60, verdict
    assert abs(verdicts[("model.int8.ts.pt", "torch.jit")]["outputs"][0]["float_db"] - measured) < 0.05
    text = run_good("verify", folder / "q", "--data", folder / "d.pt", "--python", sys.executable, *EAGER)
    assert "each call started from the state that the file holds" in text and '"sequence": true' in text, text
    run_good("report", folder / "q", "--html", folder / "report.html")
    assert "each call started from the state that the file holds" in (folder / "report.html").read_text()


def test_a_sequence_carries_its_state_on(folder):
    """Each call from what the call before left, on every side; the other way the outputs are others."""
    torch.manual_seed(4)
    model, calls = Cache().eval(), cache_calls()
    document, said = result_of(folder, model, calls, "--recipe", write_recipe(folder, backend="x86", calibration={"sequence": True}))
    assert "continues from the state of the previous call" in said, said
    one, other = copy.deepcopy(model), torch.jit.load(folder / "q" / "model.int8.ts.pt")
    with torch.no_grad():
        measured = sqnr(torch.cat([one(*c) for c in calls]), torch.cat([other(*c) for c in calls]))
    assert abs(document["outputs"][0]["lowered"]["sqnr_db"] - measured) < 0.05, measured
    certificate, verdicts, done = verified(folder, *EAGER)
    assert done.returncode == 0 and certificate["state"] == "sequence", (done.stdout[-2000:], done.stderr)
    for verdict in verdicts.values():
        for output in verdict["outputs"]:
            assert output["agreement_db"] >= 60, verdict
    assert abs(verdicts[("model.int8.ts.pt", "torch.jit")]["outputs"][0]["float_db"] - measured) < 0.05
    # Calls that were measured in a sequence and run from the saved state would not agree.
    recipe = json.loads((folder / "q" / "recipe.json").read_text())
    recipe["calibration"]["sequence"] = False
    (folder / "q" / "recipe.json").write_text(json.dumps(recipe))
    certificate, _, _ = verified(folder, *EAGER)
    assert certificate["state"] == "saved"


if __name__ == "__main__":
    main(__name__)
