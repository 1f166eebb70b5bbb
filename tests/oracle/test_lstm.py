# SPDX-License-Identifier: Apache-2.0
"""Static LSTMs of every form against torch.ao's quantized LSTM: parameters inside the cells, both exports, the counts of its own tests."""
import json
import pathlib
import sys

import torch
from torch import nn
import torch.ao.quantization as tq
from torch.ao.quantization.fx import _decomposed  # noqa: F401  (registers the operators of the reference form)

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import harness  # noqa: E402
import lstm_oracle  # noqa: E402
import oracle  # noqa: E402
from harness import run_good, run_json  # noqa: E402
from scenario_models import Leaves  # noqa: E402


class Apart(nn.Module):
    """The two states read through getitem chains of their own, which torch.ao wires wrongly."""

    def __init__(self, layers):
        super().__init__()
        self.lstm = nn.LSTM(8, 8, layers)
        self.first, self.second = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x, h, c):
        o = self.lstm(x, (h, c))
        return self.first(o[1][0]), self.second(o[1][1])


class Form(nn.Module):
    """One LSTM with a linear behind its sequence; the states leave as they are."""

    def __init__(self, **form):
        super().__init__()
        self.lstm = nn.LSTM(5, 7, **form)
        self.linear = nn.Linear(14 if form.get("bidirectional") else 7, 3)

    def forward(self, x, h, c):
        out, (hidden, cell) = self.lstm(x, (h, c))
        return self.linear(out), hidden, cell


class Stateless(nn.Module):
    def __init__(self, explicit=False):
        super().__init__()
        self.lstm, self.linear, self.explicit = nn.LSTM(5, 7, 2), nn.Linear(7, 3), explicit

    def forward(self, x, h=None, c=None):
        out, _ = self.lstm(x, (h, c)) if self.explicit else self.lstm(x)
        return self.linear(out)


class After(nn.Module):
    """A module that the tuple goes into whole, or the states of it."""

    def __init__(self, what):
        super().__init__()
        self.lstm, self.after, self.what = nn.LSTM(50, 50, 1), nn.Identity(), what

    def forward(self, x, h, c):
        out, (hidden, cell) = self.lstm(x, (h, c))
        whole = (out, (hidden, cell))
        return {"whole": lambda: self.after(whole), "hidden": lambda: self.after(whole[1]), "one": lambda: self.after(whole)[1][0]}[self.what]()


def states(layers, batch, size, scale=0.3):
    return torch.randn(layers, batch, size) * scale, torch.randn(layers, batch, size) * scale


def flat(outputs):
    return torch.cat([o.detach().float().reshape(-1) for o in (outputs if isinstance(outputs, (tuple, list)) else [outputs])]).numpy()


def ours(model, calls, folder, recipe=None, strict=False):
    """result.json, the TorchScript module and the reference form of our own run over the same calls."""
    torch.export.save(torch.export.export(model.eval(), calls[0], strict=strict), folder / "model.pt2")
    torch.save(list(calls), folder / "data.pt")
    document = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "calibration": {"batch_size": 8, "batches": len(calls)},
                **(recipe or {})}
    (folder / "recipe.json").write_text(json.dumps(document))
    run_good("quantize", folder / "model.pt2", "--recipe", folder / "recipe.json", "--data", folder / "data.pt", "--device", "cpu",
             "--export", "torchscript,pt2-reference", "--out", folder / "out")
    result = json.loads((folder / "out" / "result.json").read_text())
    return result, torch.jit.load(folder / "out" / "model.int8.ts.pt"), torch.export.load(folder / "out" / "model.reference.pt2").module()


def compare(name, model, calls, folder, mapping=None, recipe=None, strict=False):
    """Parameters equal to the bit where torch.ao names them, outputs of both exports to 60 dB."""
    folder = folder / name
    folder.mkdir()
    prepared, reference, lowered = lstm_oracle.quantize(model, mapping or tq.get_default_qconfig_mapping("x86"), calls)
    result, script, exported = ours(model, calls, folder, recipe, strict)
    node = next(n for n in result["nodes"] if n["op"] == "aten.lstm.input")
    inside = {entry["name"]: (entry["scale"][0], entry["zero_point"][0]) for entry in node["interior"]}
    wanted = lstm_oracle.interiors(lowered)["lstm"]
    assert list(inside) == [f"{cell}.{value}" for cell in dict.fromkeys(n.rsplit(".", 1)[0] for n in wanted)
                            for value in lstm_oracle.CELL_VALUES], f"{name}: {list(inside)}"
    different = {key: (inside[key], wanted[key]) for key in wanted if inside[key] != wanted[key]}
    assert not different, f"{name}: {different}"
    figures = []
    with torch.no_grad():
        for call in calls[:2]:
            theirs, named, made = flat(lowered(*call)), flat(reference(*call)), flat(script(*call))
            figures += [oracle.sqnr_db(theirs, made), oracle.sqnr_db(named, flat(exported(*call)))]
    assert min(figures) >= 60, f"{name}: {figures}"
    print(f"  {name}: {len(wanted)} values inside equal, exports {min(figures):.0f} dB from torch.ao's", flush=True)
    return node, result, script, lowered, prepared


FORMS = {
    "plain": {},
    "layers": {"num_layers": 3},
    "bidirectional": {"bidirectional": True},
    "layers_bidirectional": {"num_layers": 2, "bidirectional": True},
    "batch_first": {"batch_first": True, "num_layers": 2},
    "dropout": {"num_layers": 2, "dropout": 0.4},
    "no_bias": {"bias": False},
}


def test_forms(folder):
    torch.manual_seed(3)
    for name, form in FORMS.items():
        count = form.get("num_layers", 1) * (2 if form.get("bidirectional") else 1)
        calls = [(torch.randn(6, 3, 5) if not form.get("batch_first") else torch.randn(3, 6, 5), *states(count, 3, 7)) for _ in range(4)]
        compare(name, Form(**form), calls, folder)
    calls = [(torch.randn(6, 3, 5), *states(2, 3, 7)) for _ in range(4)]
    compare("minmax", Form(num_layers=2), calls, folder, lstm_oracle.minmax_mapping(), lstm_oracle.minmax_recipe())
    compare("strict", Form(num_layers=2), calls, folder, strict=True)


def test_leaves_and_counts(folder):
    torch.manual_seed(4)
    calls = [(torch.randn(5, 3, 50), *states(1, 3, 50, 1)) for _ in range(3)]
    node, result, script, lowered, prepared = compare("leaves", Leaves(), calls, folder)
    kinds = [str(n.target) for n in lowered.graph.nodes]
    text = str(script.inlined_graph)
    for op, wanted in (("quantize_per_tensor", sum("quantize_per_tensor" in k for k in kinds)), ("dequantize", sum(k == "dequantize" for k in kinds))):
        assert text.count(f"aten::{op}(") == wanted == 3, f"{op}: {text.count(f'aten::{op}(')}, torch.ao {wanted}"
    assert "quantized::linear(" in text and "aten::lstm" not in text and "prim::Loop" in text
    # Six observers outside the LSTM, as torch.ao: three inputs, three linear outputs.
    outside = {(n["name"], i) for n in result["nodes"] for i, q in enumerate([n["output"]]) if q and n["op"] != "aten.lstm.input"}
    assert len(outside) == 6, outside
    assert sum(name.startswith("activation_post_process") for name, _ in prepared.named_children()) == 6
    again = run_json("compare", folder / "leaves" / "model.pt2", "--result", folder / "leaves" / "out", "--data", folder / "leaves" / "data.pt",
                     "--device", "cpu")
    assert again["outputs"] == result["outputs"], "compare does not find the same again"
    assert all(entry["error"]["sqnr_db"] > 10 for entry in node["interior"]), node["interior"]


def test_tuples_that_others_read(folder):
    """torch.ao's test_static_lstm_consume_tuple and its rerouted getitems: a dequantize for each leaf that something reads, and no other node."""
    torch.manual_seed(8)
    calls = [(torch.randn(5, 3, 50), *states(1, 3, 50, 1)) for _ in range(2)]
    for what, leaves in (("whole", 3), ("hidden", 2), ("one", 1)):
        place = folder / what
        place.mkdir()
        model = After(what).eval()
        result, script, exported = ours(model, calls, place)
        text = str(script.inlined_graph)
        assert (text.count("aten::quantize_per_tensor("), text.count("aten::dequantize(")) == (3, leaves), (what, text)
        observed = [n["name"] for n in result["nodes"] if n["output"] and n["op"] != "aten.lstm.input"]
        assert len(observed) == 3, (what, observed)
        with torch.no_grad():
            for made in (script(*calls[0]), exported(*calls[0])):
                assert oracle.sqnr_db(flat(nested(model(*calls[0]))), flat(nested(made))) > 20, what


def nested(outputs):
    """The leaves of nested tuples."""
    return [leaf for part in outputs for leaf in nested(part)] if isinstance(outputs, (tuple, list)) else [outputs]


def test_states_read_apart(folder):
    """torch.ao rewires the second chain to the wrong value: the float model is the judge."""
    torch.manual_seed(5)
    for layers in (1, 2):
        place = folder / str(layers)
        place.mkdir()
        model = Apart(layers).eval()
        calls = [(torch.randn(4, 3, 8), *states(layers, 3, 8)) for _ in range(3)]
        result, script, exported = ours(model, calls, place)
        with torch.no_grad():
            for wanted, made, other in zip(model(*calls[0]), script(*calls[0]), exported(*calls[0])):
                assert made.shape == other.shape == wanted.shape == (layers, 3, 4)
                assert oracle.sqnr_db(flat(wanted), flat(made)) > 20 and oracle.sqnr_db(flat(wanted), flat(other)) > 20
        assert result["coverage"]["quantized"] == 3


def test_without_states(folder):
    """Zeros are named, and the numbers are torch.ao's with zeros handed over."""
    torch.manual_seed(6)
    model, explicit = Stateless().eval(), Stateless(explicit=True).eval()
    explicit.load_state_dict(model.state_dict())
    zeros = torch.zeros(2, 3, 7)
    calls = [(torch.randn(6, 3, 5),) for _ in range(3)]
    result, script, _ = ours(model, calls, folder)
    _, _, lowered = lstm_oracle.quantize(explicit, tq.get_default_qconfig_mapping("x86"), [(*c, zeros, zeros) for c in calls])
    node = next(n for n in result["nodes"] if n["op"] == "aten.lstm.input")
    assert "zeros" in node["note"], node
    with torch.no_grad():
        assert oracle.sqnr_db(flat(lowered(*calls[0], zeros, zeros)), flat(script(*calls[0]))) >= 60


def test_refused_forms_and_rules(folder):
    class Projected(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.linear = nn.LSTM(5, 7, proj_size=3), nn.Linear(3, 2)

        def forward(self, x):
            return self.linear(self.lstm(x)[0])

    torch.manual_seed(7)
    example = (torch.randn(4, 2, 5),)
    for name, model in (("projected", Projected()), ("plain", Stateless())):
        torch.export.save(torch.export.export(model.eval(), example), folder / f"{name}.pt2")
    plan = {n["op"]: n for n in run_json("plan", folder / "projected.pt2")["nodes"]}
    lstm = plan["aten.lstm.input"]
    assert not lstm["quantized"] and "proj_size" in lstm["reason"], lstm["reason"]
    maps = {"prepare": {"float_to_observed_custom_module_class": {"static": {"torch.nn.LSTM": "torch.ao.nn.quantizable.LSTM"}}},
            "convert": {"observed_to_quantized_custom_module_class": {"static": {"torch.ao.nn.quantizable.LSTM": "torch.ao.nn.quantized.LSTM"}}}}
    for label, extra, quantized in (("null", {"mapping": {"global": "x86", "object_type": [["torch.nn.LSTM", None]]}}, False),
                                    ("maps", maps, True)):
        recipe = folder / f"{label}.json"
        recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", **extra}))
        document = run_json("plan", folder / "plain.pt2", "--recipe", recipe)
        node = next(n for n in document["nodes"] if n["op"] == "aten.lstm.input")
        assert node["quantized"] == quantized, (label, node)
        assert not document.get("warnings"), (label, document["warnings"])


if __name__ == "__main__":
    harness.main(__name__)
