# SPDX-License-Identifier: Apache-2.0
"""The cure `smooth` at values whose producer cannot be scaled: one float multiplication divides the channels before the quantizer, and the
weights of the layers that read them are multiplied. Of a model's input that linears, convolutions and recurrent layers read, and of a value
that an addition reads too: the float model stays the same, a planted spread is undone as predicted, and files compute what is reported."""
import json
import math

import numpy
import onnxruntime
import torch
from torch import nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401, registers the operators of the files

from harness import expect_bad, export_model, main, run_good, run_json, sqnr, write_recipe

CPU = ("--device", "cpu")
FACTORS = 2 ** torch.linspace(0, 6, 16)
AT_INPUT = {"input": "x"}
DYNAMIC_GRU = {"global": "x86", "object_type": [["torch.nn.GRU", "default_dynamic"]]}  # x86 has no static one
NEAR_DB = 3  # of a prediction


class Entry(nn.Module):
    """One layer on the model's input, and a head."""

    def __init__(self, first):
        super().__init__()
        self.first, self.head = first, nn.Linear(48, 8)

    def forward(self, x):
        y = self.first(x)
        if isinstance(self.first, (nn.LSTM, nn.GRU)):
            y = y[0][:, -1]
        elif isinstance(self.first, nn.Conv1d):
            y = torch.relu(y).mean(2)
        return self.head(y)


class Memory(nn.Module):
    """An LSTM whose cell state adds up small steps: eight bits lose them."""

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 8)
        with torch.no_grad():
            self.lstm.bias_ih_l0[:16] -= 3
            self.lstm.bias_ih_l0[16:32] += 5

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class Shared(nn.Module):
    """Two linears read the input, and an addition reads it as it is."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        return torch.relu(self.one(x)) + torch.tanh(self.two(x)) + x


# layer, sample, axis of the channels in a batch, the weights that read them
KINDS = {
    "linear": (lambda: nn.Linear(16, 48), (16,), 1, ["weight"]),
    "conv": (lambda: nn.Conv1d(16, 48, 3), (16, 7), 1, ["weight"]),
    "lstm": (lambda: nn.LSTM(16, 48, batch_first=True), (6, 16), 2, ["weight_ih_l0"]),
    "both ways": (lambda: nn.LSTM(16, 24, 2, batch_first=True, bidirectional=True), (6, 16), 2, ["weight_ih_l0", "weight_ih_l0_reverse"]),
    "gru": (lambda: nn.GRU(16, 48, batch_first=True), (6, 16), 2, ["weight_ih_l0"]),
}


def along(factors, rank, axis):
    return factors.reshape([-1 if i == axis else 1 for i in range(rank)])


def planted(folder, kind, factors=FACTORS):
    """(model, data, network, x): channels of the input times the factors, and the weights that read them divided: the same outputs."""
    make, sample, axis, names = KINDS[kind]
    torch.manual_seed(3)
    network, x = Entry(make()).eval(), torch.randn(32, *sample)
    weights = dict(network.first.named_parameters())
    with torch.no_grad():
        for name in names:
            weights[name].div_(along(factors, weights[name].dim(), 1))
    x = x * along(factors, x.dim(), axis)
    return (*given(folder, network, x), network, x)


def given(folder, network, x):
    folder.mkdir()
    export_model(network, (x[:2],), folder / "model.pt2")
    numpy.savez(folder / "data.npz", x=x.numpy())
    return folder / "model.pt2", folder / "data.npz"


def smooth(at=AT_INPUT, scales=FACTORS):
    return {"cure": "smooth", "at": at, "scales": [float(scale) for scale in scales]}


def edited(folder, model, cure, **keys):
    recipe = write_recipe(folder, backend="x86", cures=[cure], **keys)
    run_good("plan", model, "--recipe", recipe, "--strict")
    run_good("edit", model, "--recipe", recipe, "--out", folder / "edited.pt2")
    return torch.export.load(folder / "edited.pt2")


def products(program):
    return [node for node in program.graph.nodes if str(node.target) == "aten.mul.Tensor"]


def near(a, b, tolerance=2e-5):
    return (a - b).abs().max() <= tolerance * b.abs().max()


def test_the_float_model_stays(folder):
    for kind, (_, _, _, names) in KINDS.items():
        model, _, network, x = planted(folder / kind, kind)
        program = edited(folder / kind, model, smooth(), **({"mapping": DYNAMIC_GRU} if kind == "gru" else {}))
        with torch.no_grad():
            assert near(program.module()(x), network(x)), kind
        assert len(products(program)) == 1, kind
        for name, weight in network.first.named_parameters():
            scaled = weight * along(FACTORS, weight.dim(), 1) if name in names else weight
            assert torch.equal(program.state_dict[f"first.{name}"], scaled), (kind, name)


def test_other_readers_keep_the_value(folder):
    network = Shared().eval()
    x = torch.randn(32, 16)
    model, _ = given(folder / "shared", network, x)
    program = edited(folder, model, smooth())
    with torch.no_grad():
        assert near(program.module()(x), network(x))
    (product,) = products(program)
    assert sorted(node.name for node in product.users) == ["linear", "linear_1"], product.users
    recipe = write_recipe(folder, backend="x86", cures=[smooth()])
    plan = {node["name"]: node for node in run_json("plan", model, "--recipe", recipe)["nodes"]}
    assert plan["x_scaled"]["verdict"] == "float by rule" and plan["linear"]["verdict"] == "quantized", plan


def decibels(folder, model, data, *cures):
    """Of each form in the report, with files of three formats in folder / "result"."""
    recipe = write_recipe(folder, backend="x86", cures=list(cures))
    run_good("quantize", model, "--recipe", recipe, "--data", data, *CPU, "--export", "pt2,torchscript,onnx", "--out", folder / "result", "--strict")
    output = json.loads((folder / "result" / "result.json").read_text())["outputs"][0]
    return output["cumulative"]["sqnr_db"], output["lowered"]["sqnr_db"]


def test_a_planted_spread_is_undone(folder):
    """`why` proposes the multiplication for the input and predicts its gain, `tune` takes it, and files compute what is reported."""
    for kind in ("linear", "conv", "lstm"):
        model, data, _, _ = planted(folder / f"{kind} healthy", kind, torch.ones(16))
        good, _ = decibels(folder, model, data)
        assert not [cause for cause in run_json("why", model, "--data", data, *CPU)["causes"] if cause["cause"] == "channel_spread"]
        model, data, network, x = planted(folder / f"{kind} sick", kind)
        bad, _ = decibels(folder, model, data)
        found = run_json("why", model, "--data", data, *CPU)
        (cause,) = [cause for cause in found["causes"] if cause["cause"] == "channel_spread"]
        cure = cause["cures"][0]
        assert (cure["cure"], cure["at"], len(cure["scales"])) == ("smooth", AT_INPUT, 16), cause
        mended, lowered = decibels(folder, model, data, cure)
        shrinks = float(cause["evidence"][-1].rsplit(" ", 2)[1])
        share = sum(site["part"] for site in found["sites"] if site["node"] == "x" or site["kind"] == "weight" and site["module"] == "first")
        predicted = bad - 10 * math.log10(1 - share * (1 - 10 ** (-shrinks / 10)))
        print(f"{kind}: healthy {good:.1f} dB, spread {bad:.1f}, smooth {mended:.1f}, predicted {predicted:.1f}", flush=True)
        assert good - bad > 5 and mended > good - 0.1 * (good - bad) - 0.3, (kind, good, bad, mended)
        assert mended > predicted - NEAR_DB, (kind, predicted, mended)
        # The weights of a static LSTM belong to the noise inside it: the prediction leaves them out.
        assert kind == "lstm" or mended < predicted + NEAR_DB, (kind, predicted, mended)
        files_are_as_reported(folder / "result", network, x, mended, lowered)
        out = folder / "tuned.json"
        run_good("tune", model, "--data", data, *CPU, "--goal", f"sqnr {(mended + bad) / 2:.1f}", "--keep-int8", 100, "--out", out, "--no-guard")
        taken = [one for one in json.loads(out.read_text())["cures"] if one["cure"] == "smooth"]
        assert [one["at"] for one in taken] == [AT_INPUT], out.read_text()


def files_are_as_reported(result, network, x, reference, lowered):
    with torch.no_grad():
        wanted = network(x)
        made = {"model.int8.pt2": torch.export.load(result / "model.int8.pt2").module()(x), "model.int8.ts.pt": torch.jit.load(result / "model.int8.ts.pt")(x)}
    session = onnxruntime.InferenceSession(result / "model.int8.onnx")
    made["model.int8.onnx"] = torch.tensor(session.run(None, {session.get_inputs()[0].name: x.numpy()})[0])
    for name, got in made.items():
        db = sqnr(wanted, got)
        assert min(abs(db - reference), abs(db - lowered)) < 0.1, (name, db, reference, lowered)


def test_a_range_of_the_scaled_value(folder):
    """The multiplication has an address: its value can have a range of its own."""
    model, data, _, _ = planted(folder / "linear", "linear")
    fixed = {"activation": {"observer": "fixed_qparams", "dtype": "quint8", "scale": 0.125, "zero_point": 100},
             "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}
    recipe = write_recipe(folder, backend="x86", qconfigs={"own": fixed},
                          cures=[smooth(), {"cure": "range", "at": {"added": "x_scaled"}, "qconfig": "own"}])
    run_good("quantize", model, "--recipe", recipe, "--data", data, *CPU, "--export", "pt2", "--out", folder / "result", "--strict")
    steps = [node for node in torch.export.load(folder / "result" / "model.int8.pt2").graph.nodes if "quantize_per_tensor" in str(node.target)]
    assert steps[0].args[0].name == "x_scaled" and steps[0].args[1:3] == (0.125, 100), steps[0].args


def test_a_state_that_adds_up_stays_float(folder):
    """Noise inside a recurrent layer: `why` proposes weights and inputs in int8 with float states before all in float, and `tune` takes that."""
    torch.manual_seed(3)
    model, data = given(folder / "memory", Memory().eval(), torch.randn(32, 64, 8))
    bad, _ = decibels(folder, model, data)
    (cause,) = [cause for cause in run_json("why", model, "--data", data, *CPU)["causes"] if cause["cause"] == "recurrence"]
    assert [cure["cure"] for cure in cause["cures"]] == ["dynamic", "float"] and cause["share"] > 0.9, cause
    mended, _ = decibels(folder, model, data, cause["cures"][0])
    print(f"memory: static {bad:.1f} dB, dynamic {mended:.1f}", flush=True)
    assert mended > bad + 15, (bad, mended)
    out = folder / "tuned.json"
    run_good("tune", model, "--data", data, *CPU, "--goal", f"sqnr {mended - 3:.1f}", "--keep-int8", 100, "--out", out, "--no-guard")
    assert "dynamic" in {cure["cure"] for cure in json.loads(out.read_text())["cures"]}, out.read_text()


def test_bad_input(folder):
    model, _ = given(folder / "shared", Shared().eval(), torch.randn(32, 16))
    for cure, *contains in ((smooth({"input": "y"}), "no input 'y'"), (smooth(scales=[1, 2]), "16 channels", "2 scales"),
                            (smooth({"module": "", "op": "aten.tanh.default"}), "no convolution, linear or recurrent layer reads 'tanh'")):
        expect_bad("plan", model, "--recipe", write_recipe(folder, backend="x86", cures=[cure]), "--strict", contains=contains)


if __name__ == "__main__":
    main(__name__)
