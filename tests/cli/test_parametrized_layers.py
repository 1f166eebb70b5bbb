# SPDX-License-Identifier: Apache-2.0
"""Layers whose weights a parametrization computes (weight_norm, spectral_norm, orthogonal): matched as torch.ao matches them, and
quantized whole once they are folded. The oracle is torch.ao on the same model, and on the model after remove_parametrizations."""
import copy
import json
import warnings

import torch
import torch.ao.quantization as tq
from harness import ALL, by_name, export_model, main, run, run_good, run_json, sqnr, write_recipe
from torch import nn
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx
from torch.nn.utils import parametrizations as norms
from torch.nn.utils.parametrize import is_parametrized, remove_parametrizations

warnings.filterwarnings("ignore")
CONFIG = get_x86_backend_config()


class Vocoder(nn.Module):
    """A leaky relu between, a fixed range behind: what espnet#6326 and vocoders have."""

    def __init__(self):
        super().__init__()
        self.pre, self.post = norms.weight_norm(nn.Conv1d(8, 12, 5, padding=2)), norms.weight_norm(nn.Conv1d(12, 1, 5, padding=2))

    def forward(self, x):
        return torch.tanh(self.post(nn.functional.leaky_relu(self.pre(x), .1)))


def models():
    line, row = torch.randn(4, 8, 40), torch.randn(16, 12)
    yield "vocoder", Vocoder(), line
    yield "fused", nn.Sequential(norms.weight_norm(nn.Conv1d(8, 6, 3)), nn.ReLU(), norms.weight_norm(nn.Conv1d(6, 4, 3))), line
    yield "spectral", nn.Sequential(norms.spectral_norm(nn.Linear(12, 8)), nn.ReLU(), nn.Linear(8, 8), norms.spectral_norm(nn.Linear(8, 4))), row
    yield "orthogonal", nn.Sequential(norms.orthogonal(nn.Linear(12, 12)), nn.Linear(12, 4)), row
    yield "transposed", nn.Sequential(norms.weight_norm(nn.ConvTranspose1d(8, 4, 4, 2), dim=1), nn.Conv1d(4, 4, 3)), line
    yield "bare", norms.weight_norm(nn.Linear(12, 8)), row


def prepared(model, value, mapping=None):
    made = prepare_fx(copy.deepcopy(model), mapping or tq.get_default_qconfig_mapping("x86"), (value,), backend_config=CONFIG)
    made(value)
    return made


def observed(model):
    """(scale, zero point) of each observed value, in graph order, without the weights that the graph computes (per channel)."""
    modules = dict(model.named_modules(remove_duplicate=False))
    found = [modules[n.target].calculate_qparams() for n in model.graph.nodes
             if n.op == "call_module" and isinstance(modules[n.target], tq.ObserverBase)]
    return [(float(scale), float(zero_point)) for scale, zero_point in found if scale.numel() == 1]


def plain(model):
    """The same model without parametrizations, with the weights that they compute."""
    model = copy.deepcopy(model)
    for module in list(model.modules()):
        if is_parametrized(module):
            for name in list(module.parametrizations):
                remove_parametrizations(module, name)
    return model


def quantized(folder, name, *words):
    return run_json("quantize", folder / f"{name}.pt2", "--data", folder / f"{name}.pt", "--device", "cpu", "--out", folder / "out", *words)


def saved(folder, name, model, value):
    torch.save({"x": value}, folder / f"{name}.pt")
    export_model(model, (value,), folder / f"{name}.pt2", dynamic=False)
    write_recipe(folder, backend="x86")


def agrees(folder, name, model, value, result):
    """The observed values and the loss of torch.ao's model."""
    theirs = prepared(model, value)
    ours = [(node["output"]["scale"][0], node["output"]["zero_point"][0]) for node in result["nodes"]
            if node["output"] and not node["output"]["shared_with"]]
    wanted = observed(theirs)
    # A value that shares its observer is observed in torch.ao a second time.
    assert set(map(lambda q: round(q[0], 5), ours)) == set(map(lambda q: round(q[0], 5), wanted)), (name, ours, wanted)
    reference = convert_to_reference_fx(copy.deepcopy(theirs), backend_config=CONFIG)
    signal = model(value).detach()
    told = result["outputs"][0]["cumulative"]["sqnr_db"]
    oracle = sqnr(signal, reference(value).detach())
    assert abs(told - oracle) < 0.5, (name, told, oracle)
    lowered = sqnr(signal, torch.jit.load(str(folder / "out" / "model.int8.ts.pt"))(value))
    theirs_lowered = sqnr(signal, convert_fx(theirs, backend_config=CONFIG)(value).detach())
    # Per channel, torch.ao's transposed kernels are far off its own reference form on some processors (-1.7 dB).
    wanted_db = theirs_lowered if abs(theirs_lowered - oracle) < 3 else oracle
    assert abs(lowered - wanted_db) < 0.5, (name, lowered, theirs_lowered, oracle)
    return told


def test_as_torch_ao(folder):
    torch.manual_seed(3)
    for name, model, value in list(models())[: None if ALL else 4]:
        model.eval()
        saved(folder, name, model, value)
        told = agrees(folder, name, model, value, quantized(folder, name))
        # Folded, by the flag or by the edit: what torch.ao makes of the plain model, and every layer with int8 weights.
        whole = quantized(folder, name, "--fold")
        better = agrees(folder, name, plain(model), value, whole)
        layers = [node for node in whole["nodes"] if node["weight"]]
        assert len(layers) == sum(isinstance(m, (nn.Conv1d, nn.ConvTranspose1d, nn.Linear)) for m in model.modules()), (name, len(layers))
        print(f"{name}: {told:.1f} dB with float weights, {better:.1f} dB folded")


def test_the_vocoder_of_the_report(folder):
    """29.0 dB in torch.ao; 17.4 dB where the layers were leaves."""
    torch.manual_seed(3)
    model = Vocoder().eval()
    with torch.no_grad():
        model.post.parametrizations.weight.original0 *= 4
    value = torch.randn(4, 8, 40)
    saved(folder, "vocoder", model, value)
    assert agrees(folder, "vocoder", model, value, quantized(folder, "vocoder")) > 28


def test_the_older_hook(folder):
    """torch.nn.utils.weight_norm leaves the layer's class as it is: torch.ao takes the weight, and folds a batch norm into it."""
    torch.manual_seed(3)
    value = torch.randn(4, 8, 40)
    layers = lambda wrap: nn.Sequential(wrap(nn.Conv1d(8, 6, 3)), nn.BatchNorm1d(6), nn.ReLU(), wrap(nn.Conv1d(6, 4, 3)))
    older, wanted = layers(nn.utils.weight_norm), layers(lambda layer: layer)
    older[1].running_var.uniform_(.4, 2)
    older.eval()(value)
    wanted[1].load_state_dict(older[1].state_dict())
    for i in (0, 3):
        wanted[i].weight.data, wanted[i].bias.data = older[i].weight.detach().clone(), older[i].bias.detach().clone()
    saved(folder, "older", older, value)
    result = quantized(folder, "older")
    agrees(folder, "older", wanted.eval(), value, result)
    assert len([node for node in result["nodes"] if node["weight"]]) == 2 and result["residue"] == [], result["residue"]


def test_what_is_told(folder):
    """The layers whose weights stay float, the cure at each, and the edit that does it."""
    torch.manual_seed(3)
    saved(folder, "vocoder", Vocoder().eval(), torch.randn(2, 8, 20))
    done = run("plan", folder / "vocoder.pt2", "--json")
    nodes = by_name(json.loads(done.stdout))
    for name in ("conv1d", "conv1d_1"):
        assert nodes[name]["quantized"] and "--fold" in nodes[name]["suggestion"] and "weight stays float" in nodes[name]["note"], nodes[name]
    told = [line for line in done.stderr.splitlines() if "parametrization" in line]
    assert len(told) == 1 and "'pre', 'post'" in told[0] and "--fold" in told[0], done.stderr
    edits = [{"do": "fold", "within": "pre"}]
    done = run("plan", folder / "vocoder.pt2", "--recipe", write_recipe(folder, backend="x86", edits=edits), "--json")
    nodes = by_name(json.loads(done.stdout))
    assert "suggestion" not in nodes["conv1d"] and "--fold" in nodes["conv1d_1"]["suggestion"], done.stdout
    folded = run("plan", folder / "vocoder.pt2", "--fold", "--json")
    assert "parametrization" not in folded.stderr + folded.stdout, folded.stderr
    run_good("edit", folder / "vocoder.pt2", "--fold", "--out", folder / "plain.pt2")
    assert "parametrization" not in run("plan", folder / "plain.pt2").stderr


def test_rules_reach_them(folder):
    """By the class that they had, and by their module; a batch norm behind one is a layer of its own."""
    torch.manual_seed(3)
    model = nn.Sequential(norms.weight_norm(nn.Conv1d(8, 6, 3)), nn.BatchNorm1d(6), nn.Conv1d(6, 4, 3))
    saved(folder, "m", model.eval(), torch.randn(2, 8, 20))
    for mapping in ({"object_type": [["torch.nn.Conv1d", None]]}, {"module_name": [["0", None]]}):
        nodes = run_json("plan", folder / "m.pt2", "--recipe", write_recipe(folder, backend="x86", mapping={"global": "x86", **mapping}))["nodes"]
        assert not next(n for n in nodes if n["name"] == "conv1d")["quantized"], mapping
    nodes = by_name(run_json("plan", folder / "m.pt2"))
    assert nodes["conv1d"]["pattern"] == ["torch.nn.Conv1d"] and "not fused" in nodes["batch_norm"]["suggestion"], nodes["batch_norm"]
    nodes = by_name(run_json("plan", folder / "m.pt2", "--fold"))
    assert len(nodes["conv1d"]["pattern"]) == 2, nodes["conv1d"]


if __name__ == "__main__":
    main(__name__)
