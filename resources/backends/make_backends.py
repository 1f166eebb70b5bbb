#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the shipped backend files from the pinned torch.ao: make_backends.py [FOLDER].

Types are spelled as users write them (torch.nn.Conv2d, torch.nn.functional.relu, operator.add); a tensor method is a
bare word, as in torch.ao. The order of entries is torch.ao's. `empty.json` is written by hand.
"""
import importlib
import json
import operator
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.ao.nn.quantized.reference
import torch.ao.quantization.backend_config.utils
from torch.ao.quantization.backend_config import BackendPatternConfig, DTypeWithConstraints, ObservationType
from torch.ao.quantization.utils import MatchAllNode

BACKENDS = {
    "x86": "int8 in PyTorch on x86 servers and PCs, by FBGEMM and oneDNN",
    "fbgemm": "int8 in PyTorch on x86 servers and PCs, by FBGEMM alone",
    "qnnpack": "int8 in PyTorch on ARM phones and boards, by QNNPACK and XNNPACK",
    "onednn": "int8 in PyTorch on x86 servers with VNNI or AMX, by oneDNN alone",
    "native": "all that PyTorch can quantize, for any engine",
    "executorch": "int8 in ExecuTorch on phones and embedded devices",
    "tensorrt": "int8 in TensorRT on NVIDIA GPUs (experimental)",
}
# Targets that compute with 16-bit activations and 8-bit weights, which torch.ao has no configuration of: the static patterns of
# `native` in their type.
WIDE = {
    "ethos_u": ("int16", "int16 activations, int8 weights on Arm Ethos-U, through ExecuTorch or TFLite's 16x8"),
    "qnn": ("uint16", "uint16 activations, int8 weights on Qualcomm Hexagon, through ONNX Runtime's QNN or ExecuTorch"),
}
# The preset that goes with a backend: what a recipe's "global" means when it says nothing.
PRESETS = {"x86": "x86", "fbgemm": "fbgemm", "qnnpack": "qnnpack", "onednn": "onednn", "native": "x86",
           "executorch": "symmetric_qnnpack", "tensorrt": "tensorrt"}
# Where a name is looked for, the one users write first. Several modules hold the same object.
MODULES = ["torch.nn", "torch.nn.functional", "torch", "operator", "builtins", "torch.ao.nn.intrinsic",
           "torch.ao.nn.intrinsic.qat", "torch.ao.nn.qat", "torch.ao.nn.qat.dynamic", "torch.ao.nn.quantized.reference",
           "torch.ao.quantization.fuser_method_mappings"]
OBSERVATION = {
    ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT: "output_use_different_observer_as_input",
    ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT: "output_share_observer_with_input",
    ObservationType.INPUT_OUTPUT_NOT_OBSERVED: "input_output_not_observed",
}
BOUNDS = ["quant_min_lower_bound", "quant_max_upper_bound", "scale_min_lower_bound", "scale_max_upper_bound",
          "scale_exact_match", "zero_point_exact_match"]


def name_table():
    table = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for key in sorted(vars(module)):
            value = getattr(module, key, None)
            if callable(value) and not key.startswith("__"):
                table.setdefault(id(value), f"{module_name}.{key}")
    return table


NAMES = name_table()


def type_name(obj):
    if isinstance(obj, str):
        return obj
    if obj is MatchAllNode:
        return "*"
    if id(obj) in NAMES:
        return NAMES[id(obj)]
    return f"{obj.__module__}.{obj.__qualname__}"


def pattern_json(pattern):
    if isinstance(pattern, (tuple, list)):
        return [pattern_json(p) for p in pattern]
    return type_name(pattern)


def dtype_json(dtype):
    return None if dtype is None else str(dtype).removeprefix("torch.")


def constrained_json(value: DTypeWithConstraints):
    bounds = {k: getattr(value, k) for k in BOUNDS if getattr(value, k) is not None}
    return {"dtype": dtype_json(value.dtype), **bounds} if bounds else dtype_json(value.dtype)


def dtype_config_json(config):
    out = {}
    for key, value in (("input_dtype", constrained_json(config.input_dtype_with_constraints)),
                       ("output_dtype", constrained_json(config.output_dtype_with_constraints)),
                       ("weight_dtype", constrained_json(config.weight_dtype_with_constraints)),
                       ("bias_dtype", dtype_json(config.bias_dtype))):
        if value is not None:
            out[key] = value
    if config.is_dynamic:
        out["is_dynamic"] = True
    return out


def entry_json(config: BackendPatternConfig):
    out = {}
    if config._pattern_complex_format is not None:
        out["pattern_complex_format"] = pattern_json(config._pattern_complex_format)
    else:
        pattern = config.pattern if isinstance(config.pattern, tuple) else (config.pattern,)
        out["pattern"] = pattern_json(pattern)
    if config.dtype_configs or config.observation_type != ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT:
        out["observation_type"] = OBSERVATION[config.observation_type]
    if config._num_tensor_args_to_observation_type:
        out["num_tensor_args_to_observation_type"] = {
            str(k): OBSERVATION[v] for k, v in config._num_tensor_args_to_observation_type.items()}
    if config._input_type_to_index:
        out["input_type_to_index"] = dict(config._input_type_to_index)
    for key, value in (("root_module", config.root_module), ("qat_module", config.qat_module),
                       ("reference_quantized_module", config.reference_quantized_module),
                       ("fused_module", config.fused_module), ("fuser_method", config.fuser_method)):
        if value is not None:
            out[key] = fuser_name(value, config) if key == "fuser_method" else type_name(value)
    if config.dtype_configs:
        out["dtype_configs"] = [dtype_config_json(c) for c in config.dtype_configs]
    return out


def fuser_name(fuser, config):
    """Many fusers are closures over the module they build: "sequential" plus `fused_module` says it all."""
    return "sequential" if "<locals>" in getattr(fuser, "__qualname__", "") else type_name(fuser)


def backend_json(name):
    module = importlib.import_module(f"torch.ao.quantization.backend_config.{name}")
    config = getattr(module, f"get_{name}_backend_config")()
    return {"format": "quantscope.backend", "version": 1, "name": name, "description": BACKENDS[name],
            "default_qconfig": PRESETS[name], "patterns": [entry_json(c) for c in config.configs]}


def wide_json(name):
    """The patterns of `native` that have a static configuration or none, with 16-bit activations."""
    dtype, description = WIDE[name]
    patterns = []
    for entry in backend_json("native")["patterns"]:
        static = [c for c in entry.get("dtype_configs", ()) if not c.get("is_dynamic") and "quint8" in json.dumps(c.get("input_dtype"))]
        if entry.get("dtype_configs") and not static:
            continue
        if static:
            weighted = any(c.get("weight_dtype") == "qint8" for c in static)
            entry["dtype_configs"] = [{"input_dtype": dtype, "output_dtype": dtype,
                                       **({"weight_dtype": "qint8", "bias_dtype": "float32"} if weighted else {})}]
        patterns.append(entry)
    return {"format": "quantscope.backend", "version": 1, "name": name, "description": description,
            "default_qconfig": f"{dtype}_activation_int8_weight", "patterns": patterns}


def dumps(document):
    """One entry a line block: short objects stay on one line, so that a diff reads well."""
    head = {k: v for k, v in document.items() if k != "patterns"}
    lines = ["{"] + [f"  {json.dumps(k)}: {json.dumps(v)}," for k, v in head.items()] + ['  "patterns": [']
    entries = []
    for entry in document["patterns"]:
        rows = []
        for key, value in entry.items():
            if key == "dtype_configs":
                rows.append(f'      "dtype_configs": [\n        ' + ",\n        ".join(map(json.dumps, value)) + "\n      ]")
            else:
                rows.append(f"      {json.dumps(key)}: {json.dumps(value)}")
        entries.append("    {\n" + ",\n".join(rows) + "\n    }")
    return "\n".join(lines) + "\n" + ",\n".join(entries) + "\n  ]\n}\n"


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name in BACKENDS:
        (folder / f"{name}.json").write_text(dumps(backend_json(name)))
    for name in WIDE:
        (folder / f"{name}.json").write_text(dumps(wide_json(name)))


if __name__ == "__main__":
    main()
