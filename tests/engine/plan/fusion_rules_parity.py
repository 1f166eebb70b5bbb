# SPDX-License-Identifier: Apache-2.0
"""Rules for one member of a fusion, against torch.ao: `fusion_rules_parity.py PLAN_DUMP [--all]`.

A fusion takes the qconfig of its first operator, in torch.ao and here. Whatever rule another member has, the observed values and
their observers agree with torch.ao's, and the plan names the member whose rule has no effect; a rule for the first operator is
heeded and named by nobody. Quick: each fusion with one kind of rule; `--all`: every member with every rule.
"""
import operator

import torch
import torch.ao.quantization as tq
from torch import nn
from torch.ao.quantization import observer as ob
from torch.ao.quantization.backend_config import get_onednn_backend_config
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config

import plan_parity

SEVEN = {"activation": {"observer": "minmax", "dtype": "quint8", "quant_min": 0, "quant_max": 63},
         "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}
QCONFIG = tq.QConfig(activation=ob.MinMaxObserver.with_args(dtype=torch.quint8, quant_min=0, quant_max=63),
                     weight=ob.default_weight_observer)


class Chain(nn.Module):
    """Members of one fusion, called one after the other, before a layer that is not fused."""

    def __init__(self, members, last):
        super().__init__()
        self.fused = nn.ModuleDict(members)
        self.last = last

    def forward(self, x):
        for module in self.fused.values():
            x = module(x)
        return self.last(x)


class Added(nn.Module):
    def __init__(self, relu):
        super().__init__()
        self.fused = nn.ModuleDict({"conv": nn.Conv2d(3, 4, 3, padding=1), "bn": nn.BatchNorm2d(4)} | ({"relu": nn.ReLU()} if relu else {}))
        self.side, self.last, self.relu = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1), relu

    def forward(self, x):
        y = self.fused["bn"](self.fused["conv"](x)) + self.side(x)
        return self.last(self.fused["relu"](y) if self.relu else y)


def statistics(model):
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, .3)
            module.running_var.uniform_(.4, 2)
    return model.eval()


def fusions():
    image, line, row = torch.randn(2, 3, 8, 8), torch.randn(2, 3, 12), torch.randn(4, 6)
    conv, bn, relu = lambda: nn.Conv2d(3, 4, 3), lambda: nn.BatchNorm2d(4), nn.ReLU
    last = lambda: nn.Conv2d(4, 4, 1)
    yield "conv bn relu", Chain({"conv": conv(), "bn": bn(), "relu": relu()}, last()), image, "x86"
    yield "conv bn", Chain({"conv": conv(), "bn": bn()}, last()), image, "x86"
    yield "conv relu", Chain({"conv": conv(), "relu": relu()}, last()), image, "x86"
    yield "conv1d bn relu", Chain({"conv": nn.Conv1d(3, 4, 3), "bn": nn.BatchNorm1d(4), "relu": relu()}, nn.Conv1d(4, 4, 1)), line, "x86"
    yield "transposed bn", Chain({"conv": nn.ConvTranspose2d(3, 4, 3), "bn": bn()}, last()), image, "x86"
    yield "linear relu", Chain({"linear": nn.Linear(6, 4), "relu": relu()}, nn.Linear(4, 4)), row, "x86"
    yield "linear bn", Chain({"linear": nn.Linear(6, 4), "bn": nn.BatchNorm1d(4)}, nn.Linear(4, 4)), row, "x86"
    yield "bn relu", Chain({"bn": nn.BatchNorm2d(3), "relu": relu()}, nn.Conv2d(3, 4, 1)), image, "x86"
    yield "conv bn add", Added(False), image, "onednn"
    yield "conv bn add relu", Added(True), image, "onednn"


def rules(model, members):
    """(what it is about, torch.ao's setter, ours, whether the first operator has it)."""
    for name, module in members.items():
        path, kind = f"fused.{name}", type(module)
        first = name == next(iter(members))
        for label, theirs, ours in (("null", None, None), ("minmax", QCONFIG, "seven")):
            yield (f"{name} by name, {label}", lambda m, p=path, q=theirs: m.set_module_name(p, q), {"module_name": [[path, ours]]}, first)
            # By type of the first operator torch.ao raises LookupError, of a relu as well: see `by_type`.
            if not first and (issubclass(kind, nn.modules.batchnorm._BatchNorm) or theirs is None):
                yield (f"{name} by type, {label}", lambda m, k=kind, q=theirs: m.set_object_type(k, q),
                       {"object_type": [[f"torch.nn.{kind.__name__}", ours]]}, first)


def of_addition():
    """The addition that onednn fuses with a convolution has no module: rules for its type."""
    for label, theirs, ours in (("null", None, None), ("minmax", QCONFIG, "seven")):
        yield (f"add by type, {label}", lambda m, q=theirs: m.set_object_type(operator.add, q), {"object_type": [["operator.add", ours]]}, False)


def check(label, model, value, backend, rule):
    what, theirs, ours, first = rule
    mapping = tq.get_default_qconfig_mapping(backend)
    theirs(mapping)
    config = get_x86_backend_config() if backend == "x86" else get_onednn_backend_config()
    recipe = {**plan_parity.HEAD, "backend": backend, "qconfigs": {"seven": SEVEN}, "mapping": {"global": backend, **ours}}
    plan = plan_parity.compare(f"{label}: {what}", model, (value,), mapping, config, recipe, backend)
    told = [line for line in plan["warnings"] if "has no effect" in line]
    assert bool(told) != first, (label, what, plan["warnings"])
    assert first or any(f"'{node['name']}'" in told[0] for node in plan["nodes"]), told


def by_type(model, value):
    """Another qconfig for the type of a relu alone: torch.ao raises; here it is named."""
    mapping = tq.get_default_qconfig_mapping("x86").set_object_type(nn.ReLU, QCONFIG)
    try:
        plan_parity.theirs(model, (value,), mapping, get_x86_backend_config())
        raised = False
    except LookupError:
        raised = True
    recipe = {**plan_parity.DEFAULT, "qconfigs": {"seven": SEVEN}, "mapping": {"global": "x86", "object_type": [["torch.nn.ReLU", "seven"]]}}
    plan = plan_parity.ours(model, (value,), recipe, "x86")[2]
    assert raised and sum("has no effect" in line for line in plan["warnings"]) == 1, plan["warnings"]


def main():
    torch.manual_seed(5)
    count = 0
    for number, (label, model, value, backend) in enumerate(fusions()):
        model = statistics(model)
        found = [*rules(model, dict(model.fused.items())), *(of_addition() if isinstance(model, Added) else ())]
        # Each member once, and each kind of rule once for two fusions.
        wanted = found if plan_parity.ALL else [rule for i, rule in enumerate(found) if (i + number) % 3 == 0]
        for rule in wanted:
            check(label, model, value, backend, rule)
            count += 1
        if label == "conv relu":
            by_type(model, value)
    assert count >= (50 if plan_parity.ALL else 12), count
    print(f"{count} rules for members of fusions agree with torch.ao")


if __name__ == "__main__":
    main()
