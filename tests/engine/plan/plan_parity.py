# SPDX-License-Identifier: Apache-2.0
"""Observed values and shared observers of our plan against torch.ao's prepare_fx.

Both sides are run on one input; the tensors that the observers see are compared one by one in graph order, so no names
have to be matched.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch
import torch.ao.quantization.backend_config.utils
from torch.ao.quantization import QConfig, QConfigMapping, get_default_qconfig_mapping
from torch.ao.quantization import observer as ob
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config
from torch.ao.quantization.quantize_fx import prepare_fx

import oracle_backend
import plan_models

DUMP, HERE = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
ALL = "--all" in sys.argv  # the networks of torchvision by both recipes
ONLY = next((word for word in sys.argv[2:] if not word.startswith("--")), "")
KIND = {ob.HistogramObserver: "histogram", ob.MinMaxObserver: "minmax", ob.FixedQParamsObserver: "fixed_qparams",
        ob.PerChannelMinMaxObserver: "per_channel_minmax", ob.PlaceholderObserver: "placeholder"}


def theirs(model, inputs, mapping, backend, custom=None):
    """(instance, kind, tensor, all readers?) of every observer call, in graph order; stored tensors apart."""
    prepared = prepare_fx(copy.deepcopy(model), mapping, inputs, prepare_custom_config=custom, backend_config=backend)
    modules = dict(prepared.named_modules(remove_duplicate=False))
    seen = {}

    class Spy(torch.fx.Interpreter):
        def run_node(self, n):
            if n.op == "call_module" and isinstance(modules[n.target], ob.ObserverBase):
                value = self.fetch_args_kwargs_from_env(n)[0][0]
                seen[n] = (id(modules[n.target]), KIND[type(modules[n.target])], value.detach().clone(), value)
                return value
            return super().run_node(n)

    Spy(prepared).run(*inputs)
    sites, stored, order = [], [], {node: i for i, node in enumerate(prepared.graph.nodes)}
    for node in prepared.graph.nodes:
        if node in seen:
            source = node.args[0]
            entry = seen[node][:3] + (set(source.users) == {node},)
            stored.append(entry) if source.op == "get_attr" else sites.append((order[source], *entry))
    # Several observers on one value: by kind, since torch.ao puts the later one first.
    return [s[1:] for s in sorted(sites, key=lambda s: (s[0], s[2]))], stored


def ours(model, inputs, recipe, backend):
    program = torch.export.export(model, inputs, strict=False)
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("model.pt2", "recipe.json")]
        torch.export.save(program, files[0])
        json.dump(recipe, open(files[1], "w"))
        done = subprocess.run([DUMP, *files, backend], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    values = {}

    class Record(torch.fx.Interpreter):
        def run_node(self, n):
            out = super().run_node(n)
            values[n.name] = out.detach().clone() if isinstance(out, torch.Tensor) else out
            return out

    runnable = program.module()
    Record(runnable).run(*inputs)
    order, kinds = {}, {}
    for i, n in enumerate(plan["nodes"]):
        for j, name in enumerate(n["values"]):
            order[name], kinds[name] = i + j / 1000, n["kind"]
    inputs_by_name = dict(zip([n["name"] for n in plan["nodes"] if n["kind"] == "input"], inputs))
    sites, stored = [], []
    module_ops = {n["name"]: n["module_class"] for n in plan["nodes"]}
    for observer in plan["observers"]:
        for edge in observer["edges"]:
            name = edge["value"]
            if observer["weight_of"] and module_ops[observer["weight_of"]].startswith("torch.nn."):
                continue  # prepare_fx leaves the weights of modules to convert_fx
            kind = kinds[name]
            if kind in ("parameter", "constant"):
                stored.append((order[name], observer["id"], observer["spec"]["observer"]))
                continue
            value = inputs_by_name[name] if kind == "input" else values[name]
            sites.append((order[name], observer["id"], observer["spec"]["observer"], value, not edge["readers"]))
    sites.sort(key=lambda s: (s[0], s[2]))
    return [s[1:] for s in sites], stored, plan


def partition(ids):
    """Which sites are one instance, whatever the instances are called."""
    first = {}
    return [first.setdefault(i, len(first)) for i in ids]


def same(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=1e-3, atol=1e-4)


def inputs_of(model, inputs, part):
    """What a submodule is given when the model runs."""
    seen = []
    handle = model.get_submodule(part).register_forward_pre_hook(lambda module, given: seen.append(given))
    with torch.no_grad():
        model(*inputs)
    handle.remove()
    return seen[0]


def compare(label, model, inputs, mapping, backend_config, recipe, backend, custom=None, part=None):
    """Of the whole model, or of one submodule that torch.ao prepares alone."""
    torch.manual_seed(0)
    model = model.eval()
    if part:
        their_sites, their_stored = theirs(model.get_submodule(part), inputs_of(model, inputs, part), mapping,
                                           backend_config, custom)
    else:
        their_sites, their_stored = theirs(model, inputs, mapping, backend_config, custom)
    our_sites, our_stored, plan = ours(model, inputs, recipe, backend)
    text = f"{label}: {len(their_sites)} observed values, {len(set(s[0] for s in their_sites))} observers"
    assert len(our_sites) == len(their_sites), f"{text}; ours {len(our_sites)}"
    for i, (a, b) in enumerate(zip(our_sites, their_sites)):
        assert a[1] == b[1], f"{label}: site {i}: {a[1]} is not {b[1]}"
        assert same(a[2], b[2]), f"{label}: site {i} ({a[1]}) is another value, {tuple(a[2].shape)} {tuple(b[2].shape)}"
        assert a[3] == b[3], f"{label}: site {i}: readers {a[3]} {b[3]}"
    assert partition([s[0] for s in our_sites]) == partition([s[0] for s in their_sites]), f"{label}: sharing differs"
    assert sorted(s[2] for s in our_stored) == sorted(s[1] for s in their_stored), f"{label}: stored tensors differ"
    for node in plan["nodes"]:
        if node["target"].startswith("aten.") and not node["quantized"]:
            assert node["reason"], f"{label}: {node['name']} has no reason"
    print(f"{text}, {plan['quantized']} of {plan['total']} operators quantized")
    return plan


def minmax_mapping():
    return QConfigMapping().set_global(QConfig(activation=ob.MinMaxObserver.with_args(dtype=torch.quint8),
                                               weight=ob.default_per_channel_weight_observer))


HEAD = {"format": "quantscope.recipe", "version": 1}
MINMAX = {**HEAD, "qconfigs": {"mm": {"activation": {"observer": "minmax", "dtype": "quint8"},
                                      "weight": {"observer": "per_channel_minmax", "dtype": "qint8",
                                                 "qscheme": "per_channel_symmetric"}}}, "mapping": {"global": "mm"}}
DEFAULT = {**HEAD, "mapping": {"global": "x86"}}


def tutorial_outcomes():
    """Requirements 1.10 and 1.11: quantized; conv, bn and relu float; nothing at all."""
    types = ["torch.nn.Linear", "torch.nn.Conv2d", "torch.nn.BatchNorm2d", "torch.nn.ReLU"]
    qconfig = QConfig(activation=ob.MinMaxObserver.with_args(quant_min=0, quant_max=127, eps=2**-12),
                      weight=ob.default_weight_observer)
    mapping = QConfigMapping()
    for kind in (torch.nn.Linear, torch.nn.Conv2d, torch.nn.BatchNorm2d, torch.nn.ReLU):
        mapping.set_object_type(kind, qconfig)
    recipe = {**HEAD, "qconfigs": {"q": {"activation": {"observer": "minmax", "quant_min": 0, "quant_max": 127,
                                                        "eps": 2**-12},
                                         "weight": {"observer": "minmax", "dtype": "qint8",
                                                    "qscheme": "per_tensor_symmetric"}}},
              "mapping": {"object_type": [[t, "q"] for t in types]}}
    file = os.path.join(HERE, "my_backend.json")
    backend, inputs = oracle_backend.my_backend(), (torch.randn(1, 3, 10, 10),)
    good = compare("1.10", plan_models.Tutorial(False), inputs, mapping, backend, recipe, file)
    assert good["quantized"] == 3 and len([o for o in good["observers"] if not o["weight_of"]]) == 3
    a = compare("1.11 A", plan_models.Tutorial(True), inputs, mapping, backend, recipe, file)
    reasons = {n["name"]: n["reason"] for n in a["nodes"]}
    assert a["quantized"] == 1
    for name in ("conv2d", "batch_norm", "relu"):
        assert "no pattern (torch.nn.Conv2d, torch.nn.BatchNorm2d, torch.nn.ReLU)" in reasons[name], reasons[name]
    for use_bn in (True, False):
        b = compare("1.11 B", plan_models.Tutorial(use_bn), inputs, get_default_qconfig_mapping("x86"), backend, DEFAULT,
                    file)
        reasons = {n["name"]: (n["verdict"], n["reason"]) for n in b["nodes"]}
        assert b["quantized"] == 0
        assert reasons["linear"][0] == "float by constraint" and "0.000244140625" in reasons["linear"][1]
        assert "1.1920929e-07" in reasons["linear"][1], reasons["linear"]


def main():
    torch.manual_seed(1)
    backend = get_x86_backend_config()
    tutorial_outcomes()
    vision = list(plan_models.vision())
    everything = list(plan_models.models()) + vision
    once = set() if ALL else {name for name, *_ in vision}
    failed = 0
    for name, model, inputs in everything:
        for label, mapping, recipe in (("x86", get_default_qconfig_mapping("x86"), DEFAULT),
                                       ("minmax", minmax_mapping(), MINMAX)):
            if ONLY and ONLY != name or label == "minmax" and name in {"Transposed", *once}:
                continue  # torch.ao refuses transposed convolutions with per-channel weights
            try:
                plan = compare(f"{name} {label}", model, inputs, mapping, backend, recipe, "x86")
            except AssertionError as problem:
                failed += 1
                print("FAILED", problem)
                continue
            if name == "CatPool":
                sites = [o for o in plan["observers"] if not o["weight_of"]]
                assert (sum(len(o["edges"]) for o in sites), len(sites)) == (5, 2)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
