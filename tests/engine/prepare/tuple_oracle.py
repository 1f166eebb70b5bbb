# SPDX-License-Identifier: Apache-2.0
"""Writes LSTM models, their float results and what torch.ao counts in them: tuple_oracle.py OUT."""
import operator
import sys
import warnings

import torch
from torch.ao.quantization import QConfigMapping, get_default_qconfig, observer, stubs
from torch.ao.quantization.backend_config import get_qnnpack_backend_config
from torch.ao.quantization.fx.custom_config import ConvertCustomConfig, PrepareCustomConfig
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx

warnings.simplefilter("ignore")
torch.manual_seed(3)


class Through(torch.nn.Module):
    """A module that takes whatever tuple it is given."""

    def forward(self, values):
        return values


class LinearPerLeaf(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(50, 50, 1)
        self.linear = torch.nn.ModuleList(torch.nn.Linear(50, 10) for _ in range(3))

    def forward(self, x, h, c):
        output, (h, c) = self.lstm(x, (h, c))
        return self.linear[0](output), self.linear[1](h), self.linear[2](c)


class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.after = torch.nn.LSTM(50, 50, 1), Through()

    def forward(self, x, h, c):
        return self.after(self.lstm(x, (h, c)))


class Hidden(Whole):
    def forward(self, x, h, c):
        return self.after(self.lstm(x, (h, c))[1])


class TwoChains(torch.nn.Module):
    """Reads the hidden states through two getitems of their own, where torch.ao's rerouting fails."""

    def __init__(self, layers):
        super().__init__()
        self.lstm = torch.nn.LSTM(8, 8, layers)
        self.f, self.g = torch.nn.Linear(8, 3), torch.nn.Linear(8, 3)

    def forward(self, x, h, c):
        x = self.lstm(x, (h, c))
        return self.f(x[1][0]), self.g(x[1][1])


def counts(model):
    modules = dict(model.named_modules())
    found = dict.fromkeys(("quantize", "dequantize", "getitem", "tuple", "stub", "observer"), 0)
    for node in model.graph.nodes:
        if node.target is torch.quantize_per_tensor:
            found["quantize"] += 1
        elif node.target == "dequantize":
            found["dequantize"] += 1
        elif node.target is operator.getitem:
            found["getitem"] += 1
        elif node.target is tuple:
            found["tuple"] += 1
        elif node.op == "call_module" and isinstance(modules[node.target], observer.ObserverBase):
            found["observer"] += 1
        elif node.op == "call_module" and isinstance(modules[node.target], stubs.DeQuantStub):
            found["stub"] += 1
    return found


def torch_ao(model, example):
    torch.backends.quantized.engine = "qnnpack"
    prepare = PrepareCustomConfig().set_float_to_observed_mapping(torch.nn.LSTM, torch.ao.nn.quantizable.LSTM)
    prepare.set_non_traceable_module_classes([Through])
    convert = ConvertCustomConfig().set_observed_to_quantized_mapping(
        torch.ao.nn.quantizable.LSTM, torch.ao.nn.quantized.LSTM)
    mapping = QConfigMapping().set_global(get_default_qconfig("qnnpack"))
    result = {}
    for name, conversion in (("reference", convert_to_reference_fx), ("lowered", convert_fx)):
        prepared = prepare_fx(model, mapping, example, prepare_custom_config=prepare,
                              backend_config=get_qnnpack_backend_config())
        result["prepared"] = counts(prepared)
        prepared(*example)
        result[name] = counts(conversion(prepared, convert, backend_config=get_qnnpack_backend_config()))
    return result


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (tuple, list)) else [value]


torch.set_grad_enabled(False)
cases = []
for name, model, size in (("linear_per_leaf", LinearPerLeaf(), 50), ("whole", Whole(), 50), ("hidden", Hidden(), 50),
                          ("two_chains_1", TwoChains(1), 8), ("two_chains_2", TwoChains(2), 8)):
    model = model.eval()
    layers = model.lstm.num_layers
    example = (torch.randn(5, 3, size), torch.randn(layers, 3, size), torch.randn(layers, 3, size))
    case = {"name": name, "inputs": list(example), "parameters": list(model.parameters()),
            "outputs": leaves(model(*example)), "counts": {}}
    if not name.startswith("two_chains"):
        case["counts"] = torch_ao(model, example)
    else:  # what the rule of our own is for: torch.ao loses the second chain
        try:
            prepared = prepare_fx(model, QConfigMapping().set_global(get_default_qconfig("qnnpack")), example,
                                  prepare_custom_config=PrepareCustomConfig().set_float_to_observed_mapping(
                                      torch.nn.LSTM, torch.ao.nn.quantizable.LSTM),
                                  backend_config=get_qnnpack_backend_config())
            shape = list(prepared(*example)[1].shape)
        except IndexError:
            shape = []
        case["torch_ao_shape"] = shape
    cases.append(case)
torch.save(cases, sys.argv[1])
if len(sys.argv) > 2:
    for case in cases:
        print(case["name"], case["counts"], case.get("torch_ao_shape"))
