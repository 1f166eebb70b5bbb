# SPDX-License-Identifier: Apache-2.0
"""Presets, default mappings and shipped backends against the pinned torch.ao, field by field."""
import importlib
import json
import os
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.ao.quantization as tq
from torch.ao.quantization import observer as ob
from torch.ao.quantization import qconfig as qc

sys.path.insert(0, os.path.join(os.environ["QUANTSCOPE_SOURCE"], "resources", "backends"))
import make_backends

DUMP = sys.argv[1]
KINDS = {ob.MinMaxObserver: "minmax", ob.MovingAverageMinMaxObserver: "moving_average_minmax",
         ob.PerChannelMinMaxObserver: "per_channel_minmax",
         ob.MovingAveragePerChannelMinMaxObserver: "moving_average_per_channel_minmax",
         ob.HistogramObserver: "histogram", ob.FixedQParamsObserver: "fixed_qparams",
         ob.PlaceholderObserver: "placeholder", ob.ReuseInputObserver: "reuse_input", ob.NoopObserver: "placeholder"}
checked = 0


def ours(*words):
    return json.loads(subprocess.run([DUMP, *words], check=True, capture_output=True, text=True).stdout)


def fields(module):
    """What torch.ao's instance says, under our names; only what the class has."""
    out = {"observer": KINDS[type(module)], "dtype": str(module.dtype)[6:], "is_dynamic": bool(module.is_dynamic)}
    if isinstance(module, (ob.ReuseInputObserver, ob.NoopObserver)):
        return out
    out["qscheme"] = str(module.qscheme)[6:]
    if isinstance(module, ob.PlaceholderObserver):
        out["quant_min"], out["quant_max"], out["eps"] = module.quant_min, module.quant_max, float(module.eps)
        return out
    out["range"] = [int(module.quant_min), int(module.quant_max)]
    if isinstance(module, ob.FixedQParamsObserver):
        out["scale"], out["zero_point"] = float(module.scale), int(module.zero_point)
        return out
    out["eps"], out["reduce_range"] = float(module.eps), module.reduce_range
    for ours_name, theirs in (("ch_axis", "ch_axis"), ("averaging_constant", "averaging_constant"), ("bins", "bins")):
        if hasattr(module, theirs):
            out[ours_name] = getattr(module, theirs)
    return out


def compare(where, mine, qconfig):
    global checked
    for part in ("activation", "weight"):
        for key, value in fields(getattr(qconfig, part)()).items():
            checked += 1
            assert mine[part][key] == value, f"{where}.{part}.{key}: {mine[part][key]} is not {value}"


def presets():
    """Every preset of torch.ao that is made of the observers we know."""
    found = {name: tq.get_default_qconfig(name) for name in ("fbgemm", "qnnpack", "onednn", "x86")}
    for name, value in vars(qc).items():
        if isinstance(value, qc.QConfig) and not name.startswith("_"):
            try:
                if all(type(p()) in KINDS for p in value):
                    found[name.replace("_qconfig", "")] = value
            except (TypeError, AssertionError):
                pass
    mine = ours("presets")
    assert set(mine) == set(found), f"presets differ: {sorted(set(mine) ^ set(found))}"
    for name, value in found.items():
        compare(name, mine[name], value)
    return len(found)


def mappings():
    for backend in ("fbgemm", "qnnpack", "onednn", "x86"):
        theirs = tq.get_default_qconfig_mapping(backend)
        mine = ours("mapping", backend)
        assert mine[0]["kind"] == "global"
        compare(f"{backend}.global", mine[0]["qconfig"], theirs.global_qconfig)
        keys = [make_backends.type_name(k) for k in theirs.object_type_qconfigs]
        assert [r["key"] for r in mine[1:]] == keys, f"{backend}: {keys}"
        for rule, value in zip(mine[1:], theirs.object_type_qconfigs.values()):
            compare(f"{backend}.{rule['key']}", rule["qconfig"], value)


def constrained(theirs, mine):
    mine = mine if isinstance(mine, dict) else {"dtype": mine}
    for key, value in vars(theirs).items():
        value = str(value)[6:] if isinstance(value, torch.dtype) else value
        assert mine.get(key) == value, f"{key}: {mine.get(key)} is not {value}"


def backends():
    count = 0
    observations = ["output_use_different_observer_as_input", "output_share_observer_with_input",
                    "input_output_not_observed"]
    for name in make_backends.BACKENDS:
        module = importlib.import_module(f"torch.ao.quantization.backend_config.{name}")
        theirs = getattr(module, f"get_{name}_backend_config")().configs
        mine = ours("backend", name)["patterns"]
        assert len(mine) == len(theirs)
        for entry, config in zip(mine, theirs):
            count += 1
            if config._pattern_complex_format is None:
                pattern = config.pattern if isinstance(config.pattern, tuple) else (config.pattern,)
                assert entry["pattern"] == [make_backends.type_name(p) for p in pattern]
                for word, target in zip(entry["pattern"], pattern):
                    check_name(word, target)
            type_word = entry.get("observation_type", observations[0])
            assert type_word == config.observation_type.name.lower(), type_word
            counts = {str(k): v.name.lower() for k, v in config._num_tensor_args_to_observation_type.items()}
            assert entry.get("num_tensor_args_to_observation_type", {}) == counts
            assert entry.get("input_type_to_index", {}) == config._input_type_to_index
            for key in ("root_module", "qat_module", "reference_quantized_module", "fused_module"):
                value = getattr(config, key)
                assert entry.get(key) == (value and make_backends.type_name(value)), (entry, key)
                if value:
                    check_name(entry[key], value)
            assert ("fuser_method" in entry) == (config.fuser_method is not None)
            assert len(entry.get("dtype_configs", [])) == len(config.dtype_configs)
            for a, b in zip(entry.get("dtype_configs", []), config.dtype_configs):
                constrained(b.input_dtype_with_constraints, a.get("input_dtype"))
                constrained(b.output_dtype_with_constraints, a.get("output_dtype"))
                constrained(b.weight_dtype_with_constraints, a.get("weight_dtype"))
                assert a.get("bias_dtype") == (b.bias_dtype and str(b.bias_dtype)[6:])
                assert a.get("is_dynamic", False) == bool(b.is_dynamic)
        fresh = make_backends.dumps(make_backends.backend_json(name))
        shipped = open(os.path.join(os.environ["QUANTSCOPE_SOURCE"], "resources", "backends", name + ".json")).read()
        assert fresh == shipped, f"{name}.json is not what make_backends.py writes"
    return count


def check_name(word, target):
    """The word, looked up as a user would write it, is torch.ao's own object."""
    if isinstance(target, str):
        assert word == target
        return
    module, _, attribute = word.rpartition(".")
    assert getattr(importlib.import_module(module), attribute) is target, word


n_presets = presets()
mappings()
n_entries = backends()
assert n_presets >= 16 and n_entries > 1000 and checked > 500
print(f"{n_presets} presets, {checked} observer fields, {n_entries} backend entries equal torch.ao {torch.__version__}")
