# SPDX-License-Identifier: Apache-2.0
"""torch.ao's observers, qconfigs and default mappings in the words of configure_dump, field by field."""
import json
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.ao.quantization as tq
from torch.ao.quantization import fake_quantize as fq
from torch.ao.quantization import observer as ob
from torch.ao.quantization import qconfig_mapping as qm

DUMP = sys.argv[1]
KINDS = {ob.MinMaxObserver: "minmax", ob.MovingAverageMinMaxObserver: "moving_average_minmax",
         ob.PerChannelMinMaxObserver: "per_channel_minmax",
         ob.MovingAveragePerChannelMinMaxObserver: "moving_average_per_channel_minmax",
         ob.HistogramObserver: "histogram", ob.FixedQParamsObserver: "fixed_qparams",
         ob.PlaceholderObserver: "placeholder", ob.ReuseInputObserver: "reuse_input", ob.NoopObserver: "noop",
         ob.RecordingObserver: "recording", torch.nn.Identity: "identity"}
FAKES = {fq.FakeQuantize: "fake_quantize", fq.FixedQParamsFakeQuantize: "fixed_qparams_fake_quantize",
         fq.FusedMovingAvgObsFakeQuantize: "fused_moving_avg_obs_fake_quantize"}
SILENT = (ob.ReuseInputObserver, ob.NoopObserver, ob.RecordingObserver)
ENGINES = ("x86", "fbgemm", "qnnpack", "onednn")
checked = 0  # fields compared so far


def ours(*words, text=None):
    return json.loads(subprocess.run([DUMP, *words], check=True, capture_output=True, text=True, input=text).stdout)


def fields(module):
    """What torch.ao's instance says, under our names; only what the class has."""
    if type(module) in FAKES:
        out = fields(module.activation_post_process)
        out["fake_quantize"] = FAKES[type(module)]
        return out
    out = {"observer": KINDS[type(module)], "fake_quantize": ""}
    if isinstance(module, torch.nn.Identity):
        return out
    out["dtype"], out["is_dynamic"] = str(module.dtype)[6:], bool(module.is_dynamic)
    if hasattr(module, "custom_op"):
        out["custom_op_name"] = module.custom_op
    if isinstance(module, SILENT):
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


def compare_observer(where, mine, module):
    global checked
    for key, value in fields(module).items():
        checked += 1
        assert mine[key] == value, f"{where}.{key}: {mine[key]} is not {value}"


def compare(where, mine, qconfig):
    for part in ("activation", "weight"):
        compare_observer(f"{where}.{part}", mine[part], getattr(qconfig, part)())


def default_mappings():
    """Every default mapping of torch.ao by the name of its preset."""
    found = {}
    for backend in ENGINES:
        found[backend] = tq.get_default_qconfig_mapping(backend)
        found[backend + "_qat"] = tq.get_default_qat_qconfig_mapping(backend)
        found[backend + "_qat_v0"] = tq.get_default_qat_qconfig_mapping(backend, version=0)
    found["symmetric_qnnpack"] = qm._get_symmetric_qnnpack_qconfig_mapping()
    found["symmetric_qnnpack_qat"] = qm._get_symmetric_qnnpack_qat_qconfig_mapping()
    return found
