# SPDX-License-Identifier: Apache-2.0
"""Files that record a wrong shape: the calibration's data correct it, once and everywhere."""

import json
from pathlib import Path

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers the operators of the exports
from torch import nn

from harness import PROGRAM, by_name, export_model, main, run, run_good, run_json, with_record

PACK = Path(PROGRAM).parent.parent / "extensions" / "rules"
torch.ops.load_library(str(PACK / "librules.so"))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.relu, self.last = nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)

    def forward(self, x):
        x = self.relu(self.first(x))
        return self.last(x.transpose(0, 1)), x.cos()


class Opaque(Net):
    """Its operator's rule in Python is wrong, as that of several layers of LSTMs was; what follows it is recorded wrong too."""

    def forward(self, x):
        x = torch.ops.rules.damped(self.relu(self.first(x)))
        return self.last(x), x.cos()


torch.library.register_fake("rules::damped", lambda x, factor=0.5: x.new_empty(2, 1, *x.shape[1:]))


def made(folder, net, shape=(2, 3, 8), **options):
    """The model's file and data."""
    torch.manual_seed(3)
    export_model(net, (torch.randn(*shape),), folder / "m.pt2", **options)
    np.savez(folder / "data.npz", x=np.random.default_rng(1).standard_normal((24, *shape[1:])).astype(np.float32))
    return folder / "m.pt2", folder / "data.npz"


def recording(file, **wrong):
    """A copy of the file that records these sizes of values."""

    def change(content):
        program = json.loads(content)
        for name, sizes in wrong.items():
            value = program["graph_module"]["graph"]["tensor_values"][name]
            value["sizes"] = [{"as_int": size} for size in sizes]
            value["strides"] = [{"as_int": int(np.prod(sizes[i + 1:]))} for i in range(len(sizes))]
        return json.dumps(program).encode()

    return with_record(file, file.with_name("wrong.pt2"), "models/model.json", change)


def shapes(*words):
    """The recorded shapes of all results, by node."""
    return {node["name"]: [value.get("shape") for value in node["outputs"]] for node in run_json("inspect", *words)["nodes"]}


def quantized(folder, model, data, *more):
    """The result folder, its document and what is said of shapes."""
    out = folder / f"out_{model.stem}"
    done = run("quantize", model, "--data", data, "--device", "cpu", "--out", out, *more)
    assert done.returncode == 0, done.stderr
    return out, json.loads((out / "result.json").read_text()), [line for line in done.stderr.splitlines() if "wrong shape" in line]


def test_a_wrong_record_is_corrected_and_noted_once(folder):
    for options in ({"dynamic": False}, {"dynamic": True}):
        model, data = made(folder, Net(), **options)
        right = shapes(model)
        bad = recording(model, relu=(2, 1, 3, 8), transpose=(5, 2), linear_1=(3, 2, 2))
        assert shapes(bad)["relu"] == [[2, 1, 3, 8]]
        out, document, notes = quantized(folder, bad, data)
        assert len(notes) == 1 and "'first + relu' (relu) float32[2, 1, 3, 8] instead of" in notes[0] and "with 2 more values" in notes[0], notes
        assert {entry["node"]: entry["observed"] for entry in document["corrected_shapes"]} == {name: right[name][0] for name in ("relu", "transpose", "linear_1")}
        assert [entry["recorded"] for entry in document["corrected_shapes"]][0] == [2, 1, 3, 8]
        assert shapes(out) == right, options
        for words in (("compare", bad, "--result", out, "--data", data), ("inspect", out, "--form", "lowered", "--code"), ("inspect", out, "--code")):
            assert "wrong shape" not in run(*words).stderr, words
        # Every export, reopened, records them as the export of the file without the error does.
        sound, plain, none = quantized(folder, model, data)
        assert none == [] and "corrected_shapes" not in plain
        for form in ("reference", "lowered"):
            assert run_good("inspect", out, "--form", form, "--code") == run_good("inspect", sound, "--form", form, "--code")
        assert shapes(next(out.glob("*.pt2"))) == shapes(next(sound.glob("*.pt2")))
        for name, node in by_name(document).items():
            assert node.get("shape") == by_name(plain)[name].get("shape") and node["output"] == by_name(plain)[name]["output"], name
        torch.export.load(next(out.glob("*.pt2"))).module()


def test_an_operator_whose_rule_is_wrong(folder):
    model, data = made(folder, Opaque(), dynamic=False)
    recorded = shapes(model, "--extension", PACK)
    assert recorded["damped"] == [[2, 1, 3, 8]] and recorded["cos"] == [[2, 1, 3, 8]], recorded
    out, document, notes = quantized(folder, model, data, "--extension", PACK)
    assert len(notes) == 1 and "'damped' float32[2, 1, 3, 8] instead of float32[2, 3, 8]" in notes[0], notes
    seen = shapes(out, "--extension", PACK)
    assert seen["damped"] == [[2, 3, 8]] and seen["cos"] == [[2, 3, 8]] and seen["linear_1"] == [[2, 3, 4]], seen
    assert len(document["corrected_shapes"]) == 3


def test_what_varies_with_the_data_is_left(folder):
    class Picks(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 4)

        def forward(self, x):
            x = torch.relu(self.first(x))
            return self.last(x), x[x[:, 0] > 0]

    model, data = made(folder, Picks(), (4, 8), dynamic=False)
    open_ones = [name for name, values in shapes(model).items() if values[0] and isinstance(values[0][0], str)]
    assert open_ones, shapes(model)
    for bad in (model, recording(model, **{name: (3, 8) if name.startswith("index") else (3, 1) for name in open_ones})):
        before = shapes(bad)
        out, document, notes = quantized(folder, bad, data, "--export", "none")
        assert notes == [] and "corrected_shapes" not in document and shapes(out) == before, notes


def test_a_damaged_list_of_them(folder):
    model, data = made(folder, Net(), dynamic=False)
    bad = recording(model, relu=(2, 1, 3, 8))
    out, document, _ = quantized(folder, bad, data, "--export", "none")
    entry = document["corrected_shapes"][0]
    for damaged in ({**entry, "node": "nobody"}, {**entry, "output": 7}, {**entry, "observed": [-1, 1e300]}, {**entry, "observed": ["s9"]}):
        (out / "result.json").write_text(json.dumps({**document, "corrected_shapes": [damaged]}))
        assert shapes(out)["relu"] == [[2, 1, 3, 8]], damaged
    for damaged in (3, [3], [{**entry, "node": 3}], [{"node": "relu"}]):
        (out / "result.json").write_text(json.dumps({**document, "corrected_shapes": damaged}))
        done = run("inspect", out)
        assert done.returncode == 1 and "result.json" in done.stderr and len(done.stderr.splitlines()) == 1, (damaged, done.stderr)


if __name__ == "__main__":
    main(__name__)
