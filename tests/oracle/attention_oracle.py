# SPDX-License-Identifier: Apache-2.0
"""torch.ao's quantizable MultiheadAttention, which is eager: the FX pass observes its tuple and fails."""
import copy
import warnings

import torch
import torch.ao.quantization as tq
from torch import nn

PREPARE = {"float_to_observed_custom_module_class": {nn.MultiheadAttention: torch.ao.nn.quantizable.MultiheadAttention}}
CONVERT = {"observed_to_quantized_custom_module_class": {
    torch.ao.nn.quantizable.MultiheadAttention: torch.ao.nn.quantized.MultiheadAttention}}


class Stubbed(nn.Module):
    """The model between the stubs of eager quantization."""

    def __init__(self, model, inputs):
        super().__init__()
        self.quants, self.model, self.dequant = nn.ModuleList(tq.QuantStub() for _ in range(inputs)), model, tq.DeQuantStub()

    def forward(self, *inputs):
        return self.dequant(self.model(*(quant(x) for quant, x in zip(self.quants, inputs))))


def quantize(model, qconfig, calls):
    """The converted eager model after the calls."""
    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = "x86"
    stubbed = Stubbed(copy.deepcopy(model), len(calls[0])).eval()
    stubbed.qconfig = qconfig
    with torch.no_grad():
        prepared = tq.prepare(stubbed, prepare_custom_config_dict=PREPARE)
        for call in calls:
            prepared(*call)
        return tq.convert(prepared, convert_custom_config_dict=CONVERT)


def parameters(converted):
    """{"att.linear_Q": (scale, zero_point)} of everything that was quantized with numbers of its own."""
    found = {}
    for path, module in converted.model.named_modules():
        if isinstance(module, torch.ao.nn.quantized.Linear):
            found[path] = (float(module.scale), int(module.zero_point))
        elif isinstance(module, torch.ao.nn.quantized.Quantize):
            found[path] = (float(module.scale), int(module.zero_point))
    return found
