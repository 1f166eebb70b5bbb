# SPDX-License-Identifier: Apache-2.0
"""torch.ao's static LSTM: the custom-module maps, and what its cells hold."""
import copy
import warnings

import torch
import torch.ao.quantization as tq
from torch.ao.quantization.fx.custom_config import ConvertCustomConfig, PrepareCustomConfig
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx

CELL_VALUES = ("igates", "hgates", "gates", "fgate_cx", "igate_cgate", "fgate_cx_igate_cgate", "ogate_cy")
PREPARE = PrepareCustomConfig().set_float_to_observed_mapping(torch.nn.LSTM, torch.ao.nn.quantizable.LSTM)
CONVERT = ConvertCustomConfig().set_observed_to_quantized_mapping(torch.ao.nn.quantizable.LSTM, torch.ao.nn.quantized.LSTM)


def quantize(model, mapping, calls):
    """(prepared, reference, lowered) after the calls."""
    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = "x86"
    with torch.no_grad():
        prepared = prepare_fx(copy.deepcopy(model).eval(), mapping, calls[0], prepare_custom_config=PREPARE)
        for call in calls:
            prepared(*call)
        reference = convert_to_reference_fx(copy.deepcopy(prepared), convert_custom_config=CONVERT)
        lowered = convert_fx(copy.deepcopy(prepared), convert_custom_config=CONVERT)
    return prepared, reference, lowered


def interiors(lowered):
    """{"lstm": {"layers.0.layer_fw.cell.gates": (scale, zero_point)}} of a lowered model."""
    found = {}
    for path, module in lowered.named_modules():
        if not isinstance(module, torch.ao.nn.quantized.LSTM):
            continue
        found[path] = {name: (float(inner.scale), int(inner.zero_point)) for name, inner in module.named_modules()
                       if name.rsplit(".", 1)[-1] in CELL_VALUES}
    return found


def minmax_mapping():
    return tq.QConfigMapping().set_global(tq.QConfig(activation=tq.MinMaxObserver.with_args(reduce_range=True),
                                                     weight=tq.default_weight_observer))


def minmax_recipe():
    own = {"activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": True},
           "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}
    return {"qconfigs": {"own": own}, "mapping": {"global": "own"}}
