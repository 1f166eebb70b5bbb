# SPDX-License-Identifier: Apache-2.0
"""Presets, default mappings and shipped backends against the pinned torch.ao, field by field."""
import importlib
import inspect
import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.ao.quantization as tq
from torch.ao.quantization import fake_quantize as fq
from torch.ao.quantization import observer as ob
from torch.ao.quantization import qconfig as qc
from torchao.quantization import (Int8DynamicActivationIntxWeightConfig, IntxWeightOnlyConfig, MappingType, PerAxis,
                                  PerGroup)
from torchao.quantization.quant_primitives import _DTYPE_TO_QVALUE_BOUNDS

sys.path.insert(0, os.path.join(os.environ["QUANTSCOPE_SOURCE"], "resources", "backends"))
import make_backends
import make_torch_names
import oracle_fields
from oracle_fields import ENGINES, FAKES, KINDS, compare, compare_observer, default_mappings, ours

# An argument of each constructor beside what the class is given anyway: one value that is not the default.
VALUES = {"dtype": torch.qint8, "reduce_range": True, "eps": 0.25, "is_dynamic": True, "ch_axis": 1, "bins": 64,
          "averaging_constant": 0.5, "scale": 0.5, "zero_point": 3, "custom_op_name": "op",
          "compute_dtype": torch.float16}


def arguments(cls):
    """Every constructor argument of the class with a value, and what has to stand beside it."""
    names = [n for n, p in inspect.signature(cls.__init__).parameters.items()
             if n != "self" and p.kind is p.POSITIONAL_OR_KEYWORD]
    if issubclass(cls, fq.FakeQuantize) and cls is not fq.FixedQParamsFakeQuantize:
        names += ["dtype", "qscheme", "eps", "averaging_constant"]
    base = {"scale": 0.25, "zero_point": 1} if cls is ob.FixedQParamsObserver else {}
    for name in names:
        if name in ("quant_min", "quant_max"):
            yield {**base, "quant_min": 0, "quant_max": 15}
        elif name == "qscheme":
            channel = "PerChannel" in cls.__name__
            yield {**base, name: torch.per_channel_symmetric if channel else torch.per_tensor_symmetric}
        elif name == "observer":
            for inner in INNER[cls]:
                yield {name: inner}
        elif name != "factory_kwargs":
            row = {**base, name: VALUES[name]}
            if cls in (fq.FusedMovingAvgObsFakeQuantize, ob.FixedQParamsObserver) and name == "dtype":
                row.update(quant_min=-128, quant_max=127)
            yield row
    yield base


FIXED = ob.FixedQParamsObserver.with_args(scale=0.5, zero_point=7)
INNER = {fq.FakeQuantize: [ob.MinMaxObserver, ob.HistogramObserver, ob.PerChannelMinMaxObserver, FIXED],
         fq.FixedQParamsFakeQuantize: [FIXED],
         fq.FusedMovingAvgObsFakeQuantize: [ob.MovingAverageMinMaxObserver, ob.MovingAveragePerChannelMinMaxObserver]}


def json_argument(value):
    if value is FIXED:
        return {"observer": "fixed_qparams", "scale": 0.5, "zero_point": 7}
    if isinstance(value, type):
        return KINDS[value]
    return str(value)[6:] if isinstance(value, (torch.dtype, torch.qscheme)) else value


def made(cls, row):
    try:
        return cls(**row)
    except NotImplementedError:
        return None


def name_of_kind(given):
    inner = given.get("inner", given["observer"])
    return "moving_average_minmax" if "fake" in inner else inner


def observers():
    """Every concrete class of observer.py and fake_quantize.py with every argument of its constructor."""
    classes = dict.fromkeys(c for m in (ob, fq) for c in vars(m).values()
                            if inspect.isclass(c) and issubclass(c, (ob.ObserverBase, fq.FakeQuantizeBase))
                            and c.__module__ == m.__name__ and not inspect.isabstract(c))
    known = {**KINDS, **FAKES}
    assert set(classes) | {torch.nn.Identity} == set(known), set(classes) ^ set(known)
    cases = []
    for cls in classes:
        for row in arguments(cls):
            if cls is fq.FixedQParamsFakeQuantize and not row:
                continue  # its observer is not optional
            mine = {"inner" if k == "observer" else k: json_argument(v) for k, v in row.items()}
            cases.append(({"observer": known[cls], **mine}, made(cls, row)))
    for (given, module), mine in zip(cases, ours("observers", text=json.dumps([c[0] for c in cases])), strict=True):
        if module is None:  # torch.ao's own class refuses it
            assert "error" in mine and name_of_kind(given) in mine["error"], (given, mine)
            continue
        assert "error" not in mine, (given, mine)
        assert mine["round_trip"], given
        compare_observer(str(given), mine, module)
        if "compute_dtype" in given:
            assert mine["compute_dtype"] == given["compute_dtype"]
    return len(classes), len(cases)


def refusals():
    wrong = {"fused_moving_avg_obs_fake_quantize": {"inner": "histogram"}, "fixed_qparams_fake_quantize": {"inner": "minmax"},
             "fake_quantize": {"inner": {"observer": "fake_quantize"}}, "noop": {"quant_min": 0}, "recording": {"qscheme": "x"},
             "minmax": {"factory_kwargs": {"device": "cuda"}}, "identity": {"dtype": "qint8"},
             "histogram": {"dtype": "quint8", "qscheme": "per_tensor_symmetric", "reduce_range": True},
             "fake_quantise": {}}
    for (name, _), mine in zip(wrong.items(), ours("observers", text=json.dumps(
            [{"observer": k, **v} for k, v in wrong.items()])), strict=True):
        assert "error" in mine and "\n" not in mine["error"], (name, mine)
    contradiction = {"observer": "fake_quantize", "dtype": "qint8", "inner": {"observer": "minmax", "dtype": "quint8"}}
    assert "give it once" in ours("observers", text=json.dumps([contradiction]))[0]["error"]


def presets():
    """Every public preset of torch.ao, those its functions make, TensorRT's, which its tests use, and those of 16-bit targets."""
    found = {name: tq.get_default_qconfig(name) for name in ENGINES}
    for name in ENGINES:
        found[name + "_qat"] = tq.get_default_qat_qconfig(name, version=1)
        found[name + "_qat_v0"] = tq.get_default_qat_qconfig(name, version=0)
    for name, value in vars(qc).items():
        if isinstance(value, qc.QConfig) and not name.startswith("_"):
            found[name.replace("_qconfig", "")] = value
    found["symmetric_qnnpack"] = qc.default_symmetric_qnnpack_qconfig
    found["symmetric_qnnpack_qat"] = qc.default_symmetric_qnnpack_qat_qconfig
    found["tensorrt"] = qc.QConfig(
        ob.HistogramObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric),
        ob.default_per_channel_weight_observer)
    for name, dtype, scheme in (("int16", torch.int16, torch.per_tensor_symmetric), ("uint16", torch.uint16, torch.per_tensor_affine)):
        found[f"{name}_activation_int8_weight"] = qc.QConfig(ob.MinMaxObserver.with_args(dtype=dtype, qscheme=scheme),
                                                             ob.default_per_channel_weight_observer)
    mine = ours("presets")
    of_torchao = torchao_weights()
    named = set(found) | set(of_torchao)
    assert set(mine) == named, f"presets differ: {sorted(set(mine) ^ named)}"
    for name, value in found.items():
        compare(name, mine[name], value)
    for name, weight in of_torchao.items():
        got = {key: mine[name]["weight"][key] for key in weight}
        assert got == weight, f"{name}: {got} is not {weight}"
        dynamic = name.startswith("int8_dynamic")
        assert mine[name]["activation"]["is_dynamic"] == dynamic, mine[name]["activation"]
        assert mine[name]["activation"]["dtype"] == ("quint8" if dynamic else "float32"), mine[name]["activation"]
    return len(named)


def torchao_weights():
    """What torchao's configs of linears that we name alike say of the weight, in our words."""
    dynamic = Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4)
    configs = {"int8_weight_only": IntxWeightOnlyConfig(),
               "int4_weight_only": IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=dynamic.weight_granularity),
               "int8_dynamic_activation_int4_weight": dynamic}
    found = {}
    for name, config in configs.items():
        granularity = getattr(config, "granularity", None) or config.weight_granularity
        mapping = getattr(config, "mapping_type", None) or config.weight_mapping_type
        assert mapping is MappingType.SYMMETRIC and isinstance(granularity, (PerAxis, PerGroup))
        found[name] = {"observer": "per_channel_minmax", "qscheme": "per_channel_symmetric", "ch_axis": 0,
                       "range": list(_DTYPE_TO_QVALUE_BOUNDS[config.weight_dtype]),
                       "group_size": getattr(granularity, "group_size", 0)}
    return found


def mappings():
    found = default_mappings()
    assert set(ours("mappings")) == set(found) | {"tensorrt"}
    for name, theirs in found.items():
        mine = ours("mapping", name)
        assert mine[0]["kind"] == "global"
        compare(f"{name}.global", mine[0]["qconfig"], theirs.global_qconfig)
        keys = [make_backends.type_name(k) for k in theirs.object_type_qconfigs]
        assert [r["key"] for r in mine[1:]] == keys, f"{name}: {keys}"
        for rule, value in zip(mine[1:], theirs.object_type_qconfigs.values(), strict=True):
            compare(f"{name}.{rule['key']}", rule["qconfig"], value)
    return len(found)


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


names_file = os.path.join(os.environ["QUANTSCOPE_SOURCE"], "resources", "backends", "torch_names.txt")
assert make_torch_names.text() == open(names_file).read(), "torch_names.txt is not what make_torch_names.py writes"
n_classes, n_cases = observers()
refusals()
n_presets = presets()
n_mappings = mappings()
n_entries = backends()
assert n_classes == 13 and n_presets >= 35 and n_entries > 1000 and oracle_fields.checked > 1000
print(f"{n_classes} observer classes in {n_cases} forms, {n_presets} presets, {n_mappings} mappings, {oracle_fields.checked} observer "
      f"fields, {n_entries} backend entries equal torch.ao {torch.__version__}")
