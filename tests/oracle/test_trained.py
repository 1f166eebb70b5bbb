# SPDX-License-Identifier: Apache-2.0
"""Models that were trained with simulated quantization (prepare_qat_fx) and exported before they were converted, as .pt2, traced and
scripted: the fake quantizers are removed, and the converted model is that of torch.ao's convert_fx.
"""
import copy
import functools
import json
import warnings

import torch
from torch import nn
from torch.ao.quantization import (FakeQuantize, MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver, QConfig,
                                   default_embedding_qat_qconfig, disable_observer, get_default_qat_qconfig_mapping)
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_qat_fx

import checks
import oracle

warnings.simplefilter("ignore")
STEPS = 6
FAKE = QConfig(activation=FakeQuantize.with_args(observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255),
               weight=FakeQuantize.with_args(observer=MovingAveragePerChannelMinMaxObserver, quant_min=-128, quant_max=127,
                                             dtype=torch.qint8, qscheme=torch.per_channel_symmetric))


class Residual(nn.Module):
    """Conv+BN+ReLU, Conv+BN without bias, add, pooling, linear."""

    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(8, 5)

    def forward(self, x):
        y = self.relu(self.bn(self.conv(x)))
        z = torch.relu(self.bn2(self.conv2(y)) + y)
        return self.fc(self.pool(z).flatten(1))


class Branches(nn.Module):
    """Convolutions with and without relu whose results meet in a cat; groups, strides, max pooling."""

    def __init__(self):
        super().__init__()
        self.a, self.relu = nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.ReLU()
        self.b, self.norm = nn.Conv2d(3, 6, 1, stride=2, groups=3), nn.BatchNorm2d(6)
        self.pool, self.last = nn.MaxPool2d(2), nn.Conv2d(12, 4, 1)

    def forward(self, x):
        both = torch.cat([self.relu(self.a(x)), self.norm(self.b(x))], 1)
        return self.last(self.pool(both)).flatten(1)


class Dense(nn.Module):
    """Linear layers with relu and sigmoid, whose range is fixed."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.act = nn.Linear(12, 16), nn.Linear(16, 4), nn.ReLU()

    def forward(self, x):
        return torch.sigmoid(self.two(self.act(self.one(x))))


class Words(nn.Module):
    """An embedding in front of a linear layer."""

    def __init__(self):
        super().__init__()
        self.table, self.fc = nn.Embedding(20, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(self.table(x))


def images(count):
    return torch.randn(count, 3, 8, 8)


def rows(count):
    return torch.randn(count, 12)


def words(count):
    return torch.randint(0, 20, (count, 5))


def mapping(engine, **types):
    out = get_default_qat_qconfig_mapping(engine)
    for name, qconfig in types.items():
        out.set_object_type(getattr(nn, name), qconfig)
    return out


# name: (model, inputs, mapping, forms)
ALL = ("pt2", "traced", "scripted")
CASES = {
    "residual": (Residual, images, lambda: mapping("x86"), ALL),
    "residual-255": (Residual, images, lambda: mapping("qnnpack"), ("pt2", "traced")),
    "branches": (Branches, images, lambda: mapping("x86"), ALL),
    "dense": (Dense, rows, lambda: mapping("x86"), ("traced", "scripted")),  # torch.export refuses FixedQParamsFakeQuantize
    "plain": (Dense, rows, lambda: mapping("x86", Linear=FAKE, ReLU=FAKE), ("traced", "traced-off", "scripted")),
    "words": (Words, words, lambda: mapping("x86", Embedding=default_embedding_qat_qconfig), ("traced",)),
}


@functools.cache
def trained(case):
    model, data, qconfigs, _ = CASES[case]
    torch.manual_seed(len(case))
    prepared = prepare_qat_fx(model().train(), qconfigs(), (data(4),))
    checks.train(prepared, lambda: data(8), STEPS)
    return prepared.eval()


def save(prepared, form, example, path):
    """The model that the file holds: a trace observes its example."""
    model = copy.deepcopy(prepared)
    if form == "pt2":
        torch.export.save(torch.export.export(model, (example,)), path)
        return model
    if form.endswith("-off"):
        model.apply(disable_observer)
    whole = torch.jit.script(model) if form == "scripted" else torch.jit.trace(model, (example,), check_trace=False)
    whole.save(str(path))
    return model


def asked(prepared, backend=None):
    """(activations [(scale, zero point)], {module: weight scales}) of torch.ao's reference form."""
    reference = convert_to_reference_fx(copy.deepcopy(prepared), backend_config=backend)
    modules = dict(reference.named_modules())
    activations, weights = [], {}
    for node in reference.graph.nodes:
        if node.target is torch.quantize_per_tensor:
            at = [reference.get_buffer(arg.target) for arg in node.args[1:3]]
            activations.append((float(at[0]), int(at[1])))
        module = modules.get(node.target) if node.op == "call_module" else None
        for part in [module, *(module.children() if module is not None else [])]:
            if hasattr(part, "weight_scale"):
                weights[node.target] = part.weight_scale.float().numpy().reshape(-1)
    return activations, weights


def check(case, form, program, folder):
    problems, prepared = [], trained(case)
    data = CASES[case][1]
    torch.manual_seed(7)
    calib = data(8)
    path = folder / ("model.pt2" if form == "pt2" else "model.pt")
    prepared = save(prepared, form, calib, path)
    torch.save(calib, folder / "calib.pt")
    recipe = folder / "recipe.json"
    words_too = [["torch.nn.Embedding", "float_qparams_weight_only"]] if case == "words" else []
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                  "mapping": {"global": "x86", "object_type": words_too},
                                  "calibration": {"batch_size": 8, "batches": 1}}))
    error, told, result = checks.quantize(program, path, folder / "calib.pt", folder, "--recipe", recipe, "--export", "torchscript")
    if error:
        return [f"quantize: {error}"]
    if "fake quantizers removed" not in told:
        problems.append("the command line does not report the fake quantizers")
    nodes = result["nodes"]
    if any("fake_quant" in node["op"] or "region" in node["op"] for node in nodes):
        problems.append("a fake quantizer is left")
    outputs = [node["output"] for node in nodes if node["output"] and not node["output"]["shared_with"] and node["output"]["scale"]]
    ours = sorted((one["scale"][0], one["zero_point"][0]) for one in outputs)
    activations, weights = asked(prepared)
    theirs = sorted(set(activations))
    ours = sorted(set(ours))
    if [z for _, z in ours] != [z for _, z in theirs] or not checks.near([s for s, _ in ours], [s for s, _ in theirs]):
        problems.append(f"activations: {ours} instead of {theirs}")
    for module, scales in weights.items():
        found = [node["weight"] for node in nodes if node["weight"] and node["module"] == module]
        if len(found) != 1 or not checks.near(found[0]["scale"], scales):
            problems.append(f"weight of {module}: {found and found[0]['scale'][:4]} instead of {scales[:4]}")
        elif found[0].get("source") != "fake_quantizer":
            problems.append(f"weight of {module}: its source is not given")
    counts = result.get("fake_quantizers", {})
    if counts.get("used") != counts.get("found"):
        problems.append(f"fake quantizers: {counts}")
    with torch.no_grad():
        # Where kernels saturate, torch.ao's do so; the program keeps such layers in reference form.
        convert = convert_fx if checks.EIGHT_BITS or case != "plain" else convert_to_reference_fx
        wanted = convert(copy.deepcopy(prepared))(calib)
        got = torch.jit.load(folder / "out" / "model.int8.ts.pt")(calib)
    db = oracle.sqnr_db(wanted.numpy(), got.numpy())
    print(f"{case}/{form}: {len(ours)} activations, {len(weights)} weights, {db:.1f} dB against {convert.__name__}")
    if db < 60:
        problems.append(f"outputs: {db:.1f} dB")
    return problems


if __name__ == "__main__":
    checks.main({f"{case}/{form}": functools.partial(check, case, form) for case, (_, _, _, forms) in CASES.items() for form in forms})
