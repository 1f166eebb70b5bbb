# SPDX-License-Identifier: Apache-2.0
"""The code view against torch.fx's print of torch.ao's graphs: names of nodes and attributes, what reads what, and order.

Two differences are deliberate: dropout, which does nothing when a model is used, has no kernel in our lowered form; and a
`cat` of what a kernel with parameters of its own made (a sum with a number) is `quantized::cat`, which has a scale of its own:
no network here joins such a value (tests/engine/convert, tst_kernel_check, does).
"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import torch
from torch import nn
from torch.ao.quantization import QConfigMapping, get_default_qat_qconfig_mapping, get_default_qconfig_mapping
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx, prepare_qat_fx
from torch.nn import functional as F

import models

QUANTSCOPE = os.environ["QUANTSCOPE"]


class TwoInputs(nn.Module):
    """Two inputs, the second read late and twice; a float layer feeds a quantized one; a module within two levels; a
    module called twice; functions at the root and inside a module."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.kept = nn.Sequential(nn.Conv2d(8, 8, 1, groups=2, bias=False), nn.BatchNorm2d(8))
        self.block = nn.ModuleDict({"inner": nn.Sequential(nn.Conv2d(8, 8, 3, stride=2), nn.ReLU())})
        self.twice = nn.Conv2d(8, 8, 3, padding=1)
        self.fc = nn.Linear(16, 4)

    def forward(self, x, y):
        a = self.kept(self.first(x))
        b = self.block["inner"](a)
        c = self.twice(F.relu(self.twice(b)))
        d = torch.cat([c, F.relu(c)], 1) + 1.5
        e = torch.flatten(F.adaptive_avg_pool2d(d, 1), 1)
        return self.fc(e) + y, torch.sigmoid(self.fc(y.repeat(1, 4)) * y)


class Weights(nn.Module):
    """Weights handed to functions, at the root and inside a module."""

    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(6, 12) / 4)

        def forward(self, x):
            return F.relu(F.linear(x, self.weight))

    def __init__(self):
        super().__init__()
        self.inner = self.Inner()
        self.gain = nn.Parameter(torch.randn(6))
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        return self.norm(self.inner(x) * self.gain) - x.mean(1, keepdim=True)


def made(model, *shapes):
    torch.manual_seed(11)
    return model.eval(), tuple(torch.randn(*shape) for shape in shapes), None


def known(name):
    case = models.CASES[name]()
    return case.model, (torch.from_numpy(case.calib[:8].copy()),), case.pt2


NETWORKS = {name: (lambda name=name: known(name)) for name in ("tutorial", "tutorial_bn", "digits", "mixed", "mobilenet_v2")}
NETWORKS["two_inputs"] = lambda: made(TwoInputs(), (2, 3, 12, 12), (2, 4))
NETWORKS["weights"] = lambda: made(Weights(), (5, 12))
# Modules kept float, by network.
KEPT = {"two_inputs": ["kept", "kept.0", "kept.1"], "mobilenet_v2": ["features.3.conv.0.0"]}


def mapping(network) -> QConfigMapping:
    out = get_default_qconfig_mapping("x86")
    for module in KEPT.get(network, []):
        out.set_module_name(module, None)
    return out


def without_dropout(module):
    graph = copy.deepcopy(module.graph)
    modules = dict(module.named_modules())
    for node in graph.nodes:
        called = modules.get(node.target) if node.op == "call_module" else node.target
        if isinstance(called, nn.Dropout) or "dropout" in getattr(called, "__name__", ""):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    for node in reversed(graph.nodes):
        if node.op == "get_attr" and not node.users:
            graph.erase_node(node)
    return graph.python_code("self").src


def statements(code):
    """One tuple a line: the name made, what is called, the names read. Functions are only told apart by what they make."""
    rows, names = [], set()
    head = re.search(r"def forward\(self, (.*?)\)", code)
    names.update(part.split(":")[0].strip() for part in head.group(1).split(","))
    for line in code[head.end():].splitlines():
        line = line.strip()
        if line.startswith("return"):
            rows.append(("return", tuple(word for word in re.findall(r"\w+", line) if word in names)))
            continue
        found = re.match(r"(\w+(?:, \w+)*) = (.*?)(;  .*)?$", line)
        if not found:
            continue
        made, right = found.group(1).split(", "), found.group(2)
        name = made[0]
        call, parenthesis, given = right.partition("(")
        if not parenthesis:  # an operator between two values
            call, given = "", right
        method = "" if call.startswith(("torch.", "self.", "getattr")) else call.split(".")[0] + " "
        reads = tuple(word for word in re.findall(r"\w+", method + re.sub(r"\w+ = ", "", given)) if word in names)
        own = right.startswith(("self.", "getattr(self", "torch.quantize_per")) or right.endswith(".dequantize()")
        rows.append((name, right if own else "function", reads))
        names.update(made)
    return rows


def modules(text):
    """The lines of the module list, without what observers saw or take, and without scales."""
    lines = [line for line in text.split("def forward")[0].splitlines() if line.strip() and "activation_post_process" not in line]
    return [re.sub(r", (scale|zero_point|qscheme)=[^,)]*", "", line) for line in lines]


def printed(pt2, form, recipe):
    done = subprocess.run([QUANTSCOPE, "inspect", str(pt2), "--code", "--form", form, "--recipe", recipe],
                          capture_output=True, text=True, check=True)
    return done.stdout


def check(network, folder):
    model, example, pt2 = NETWORKS[network]()
    if pt2 is None:
        pt2 = os.path.join(folder, "model.pt2")
        torch.export.save(torch.export.export(model, example), pt2)
    recipe = os.path.join(folder, "recipe.json")
    with open(recipe, "w", encoding="utf-8") as file:
        json.dump({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                   "mapping": {"global": "x86", "module_name": [[name, None] for name in KEPT.get(network, [])]}}, file)
    backend = get_x86_backend_config()
    prepared = prepare_fx(copy.deepcopy(model), mapping(network), example, backend_config=backend)
    seen = copy.deepcopy(prepared)
    seen(*example)
    expected = {"float": None, "prepared": prepared.code, "reference": convert_to_reference_fx(copy.deepcopy(seen), backend_config=backend).code,
                "lowered": without_dropout(convert_fx(copy.deepcopy(seen), backend_config=backend))}
    failed = 0
    for form, code in expected.items():
        ours = statements(printed(pt2, form, recipe))
        theirs = statements(code) if code else ours
        if not ours:
            print(f"FAIL {network}/{form}: nothing printed")
            failed += 1
        different = [(a, b) for a, b in zip(theirs, ours) if a != b]
        if different or len(ours) != len(theirs):
            failed += 1
            print(f"FAIL {network}/{form}: {len(theirs)} statements of torch.ao, {len(ours)} of ours; the first that differs:")
            print("\n".join(f"  torch.ao {a}\n  ours     {b}" for a, b in different[:2]))
        else:
            print(f"ok   {network}/{form}: {len(ours)} statements")
    return failed


class Functional(nn.Module):
    """Functions that fuse into the modules before them."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 4)

    def forward(self, x):
        return F.relu(self.fc(F.relu(self.norm(self.conv(x))).mean((2, 3))))


def written(model, example, folder, **recipe):
    """The paths of the model as a .pt2 and of a recipe with these keys."""
    pt2, path = os.path.join(folder, "model.pt2"), os.path.join(folder, "recipe.json")
    torch.export.save(torch.export.export(model, example), pt2)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"format": "quantscope.recipe", "version": 1, **recipe}, file)
    return pt2, path


def check_modules(folder):
    """Fused functions are listed as the modules that torch.ao makes of them."""
    model, example, _ = made(Functional(), (2, 3, 8, 8))
    pt2, recipe = written(model, example, folder)
    backend = get_x86_backend_config()
    prepared = prepare_fx(model, get_default_qconfig_mapping("x86"), example, backend_config=backend)
    prepared(*example)
    expected = {"prepared": prepared, "reference": convert_to_reference_fx(copy.deepcopy(prepared), backend_config=backend)}
    failed = 0
    for form, wanted in expected.items():
        ours, theirs = modules(printed(pt2, form, recipe)), modules(str(wanted))
        if ours != theirs:
            failed += 1
            print(f"FAIL functional/{form}: torch.ao lists", *theirs, "ours", *ours, sep="\n  ")
        else:
            print(f"ok   functional/{form}: {len(ours)} lines of modules")
    return failed


class Trained(nn.Module):
    """Modules that a preparation for training replaces: with and without a batch norm, with relu, a function with a weight of its own."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.relu = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()
        self.second, self.second_norm = nn.Conv2d(8, 8, 3, bias=False), nn.BatchNorm2d(8)
        self.third, self.fc = nn.Conv2d(8, 8, 1), nn.Linear(8, 4)
        self.fold, self.fold_norm = nn.Linear(4, 6), nn.BatchNorm1d(6)

    def forward(self, x):
        x = self.second_norm(self.second(self.relu(self.norm(self.conv(x)))))
        return self.fold_norm(self.fold(torch.sigmoid(self.fc(F.relu(self.third(x)).mean((2, 3))))))


def module_classes(text):
    """Names and classes of a printed module list, without arguments; of observers only their classes."""
    found = []
    for name, kind in re.findall(r"^ *\((\w+)\): (\w+)\(", text, re.MULTILINE):
        if name != "activation_post_process":  # inside a fake quantizer
            found.append((re.sub(r"_\d+$", "", name), kind))
    return sorted(found)


def check_training(folder):
    """With qconfigs for training, the prepared form lists the modules of prepare_qat_fx."""
    model, example, _ = made(Trained(), (2, 3, 8, 8))
    pt2, recipe = written(model, example, folder, backend="x86", mapping={"global": "x86_qat"})
    prepared = prepare_qat_fx(model.train(), get_default_qat_qconfig_mapping("x86"), example, backend_config=get_x86_backend_config())
    ours, theirs = module_classes(printed(pt2, "prepared", recipe)), module_classes(str(prepared))
    if ours != theirs:
        print("FAIL trained/prepared: torch.ao lists", *theirs, "ours", *ours, sep="\n  ")
        return 1
    print(f"ok   trained/prepared: {len(ours)} modules")
    return 0


class Recurrent(nn.Module):
    """A layer behind each of an LSTM's results; the states come from outside."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(50, 50, 1)
        self.a, self.b, self.c = nn.Linear(50, 10), nn.Linear(50, 10), nn.Linear(50, 10)

    def forward(self, x, h, c):
        y, (h, c) = self.lstm(x, (h, c))
        return self.a(y), self.b(h), self.c(c)


# torch.ao keeps the LSTM's results in tuples, a .pt2 does not: steps are counted, with the counts of torch.ao's own test of a static LSTM.
STEPS = {"reference": {"quantize": 6, "dequantize": 6}, "lowered": {"quantize": 3, "dequantize": 3}}
# What torch.ao's prepared model prints: the quantizable LSTM, an observer on each of its inputs and each linear's result, a stub on each leaf.
PREPARED = {"(lstm): QuantizableLSTM(": 1, "HistogramObserver(": 6, "DeQuantStub()": 3, "self.activation_post_process_": 6, "self.dequant_stub_": 3,
            "self.a(": 1, "self.b(": 1, "self.c(": 1}
# All modules are listed and called, and nothing stands between them.
LOWERED = {"(lstm): QuantizedLSTM(": 1, "): QuantizedLinear(": 3, "self.lstm(": 1, "self.a(": 1, "self.b(": 1, "self.c(": 1, "torch.ops.": 0,
           "contiguous": 0}


def check_recurrent(folder):
    model, example, _ = made(Recurrent(), (5, 3, 50), (1, 3, 50), (1, 3, 50))
    pt2 = os.path.join(folder, "recurrent.pt2")
    torch.export.save(torch.export.export(model, example), pt2)
    failed = 0
    for form, wanted in STEPS.items():
        code = subprocess.run([QUANTSCOPE, "inspect", pt2, "--code", "--form", form], capture_output=True, text=True, check=True).stdout
        found = {"quantize": code.count("torch.quantize_per_tensor("), "dequantize": code.count(".dequantize()")}
        named = all(f"self.lstm_input_{what}_{i}" in code for what in ("scale", "zero_point") for i in range(3))
        if found == wanted and named:
            print(f"ok   recurrent/{form}: {found}")
        else:
            print(f"FAIL recurrent/{form}: {found} instead of {wanted}; the inputs' attributes are{'' if named else ' not'} named as torch.ao's")
            failed += 1
    for form, wanted in (("prepared", PREPARED), ("lowered", LOWERED)):
        code = subprocess.run([QUANTSCOPE, "inspect", pt2, "--code", "--form", form], capture_output=True, text=True, check=True).stdout
        found = {text: code.count(text) for text in wanted}
        print(f"{'ok  ' if found == wanted else 'FAIL'} recurrent/{form}: {found}")
        failed += found != wanted
    return failed


def main(networks, check, *more):
    """`check(network, folder)` for the networks named on the command line, or all; then the others, each with a folder of its own."""
    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = "x86"
    failed = 0
    for network in sys.argv[1:] or networks:
        with tempfile.TemporaryDirectory() as folder:
            failed += check(network, folder)
    for one in more:
        with tempfile.TemporaryDirectory() as folder:
            failed += one(folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(NETWORKS, check, check_recurrent, check_modules, check_training)
