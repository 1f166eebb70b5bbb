# SPDX-License-Identifier: Apache-2.0
"""Training with simulated quantization against torch.ao's prepare_qat_fx and a loop of SGD, from the same weights on the same
batches: the same places, losses, tensors and ranges, and the same model after conversion.
"""
import copy
import dataclasses
import functools
import json
import math
import os
import subprocess
import warnings
import zipfile
from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.ao.nn.intrinsic.qat import freeze_bn_stats
from torch.ao.quantization import (FakeQuantizeBase, FixedQParamsFakeQuantize, default_embedding_qat_qconfig,
                                   disable_fake_quant, disable_observer, get_default_qat_qconfig_mapping)
from torch.ao.quantization.backend_config import get_qnnpack_backend_config
from torch.ao.quantization.backend_config.x86 import get_x86_backend_config
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_qat_fx

import align
import checks
import oracle
import test_trained
import training_networks

warnings.simplefilter("ignore")
SAMPLES, BATCH, STEPS, RATE = 32, 8, 50, 0.02
OPTIONS = {"--optimizer": "sgd", "--lr": RATE, "--schedule": "constant", "--freeze-bn": "never"}
TOLERANCE = 1e-4  # of a tensor's largest value
DB = 0.5


@dataclasses.dataclass
class Way:
    """One way to train, as the program takes it and as torch.ao does it."""

    options: dict = dataclasses.field(default_factory=dict)  # besides OPTIONS, or instead
    preset: str = "x86_qat"
    backend: str = "x86"
    version: int = 1
    optimizer: Callable = functools.partial(torch.optim.SGD, lr=RATE)
    decays: bool = False
    freeze: Callable | None = None  # applied to the modules after half of the steps

    def mapping(self):
        return get_default_qat_qconfig_mapping(self.backend, self.version)

    def config(self):
        return {"x86": get_x86_backend_config, "qnnpack": get_qnnpack_backend_config}[self.backend]()

    def words(self):
        return ["--from-scratch", "--no-guard", *(word for pair in (OPTIONS | self.options).items() for word in pair)]


WAYS = {
    "momentum": Way({"--momentum": 0.9}, optimizer=functools.partial(torch.optim.SGD, lr=RATE, momentum=0.9)),
    "cosine": Way({"--schedule": "cosine"}, decays=True),
    "adam": Way({"--optimizer": "adam", "--lr": 1e-3}, optimizer=functools.partial(torch.optim.Adam, lr=1e-3, fused=True)),
    "frozen_bn": Way({"--freeze-bn": STEPS // 2}, freeze=freeze_bn_stats),
    "frozen_ranges": Way({"--freeze-observers": STEPS // 2}, freeze=disable_observer),
    "labels": Way({"--loss": "labels"}),
    "version0": Way(preset="x86_qat_v0", version=0),
    "qnnpack": Way(preset="qnnpack_qat", backend="qnnpack"),
    "qnnpack_version0": Way(preset="qnnpack_qat_v0", backend="qnnpack", version=0),
}


def batches(data):
    return [data[at:at + BATCH] for at in range(0, len(data), BATCH)]


def outputs(model, x):
    made = model(x)
    return [made] if isinstance(made, torch.Tensor) else list(made)


def labels_of(data):
    return torch.arange(len(data)) % 4


def prepared_for(name, way, model, data):
    mapping = way.mapping()
    if name == "words":
        mapping.set_object_type(nn.Embedding, default_embedding_qat_qconfig)
    return prepare_qat_fx(copy.deepcopy(model).train(), mapping, (data[:BATCH],), backend_config=way.config())


def state_names(prepared, model):
    """{name in the model's state dict: name in the prepared model's}, before training: fusion moves batch norms into their layers."""
    def norms(module):
        return {path: one for path, one in module.named_modules() if isinstance(one, nn.modules.batchnorm._BatchNorm)}

    moved = {path: next(other for other, theirs in norms(prepared).items() if torch.equal(theirs.running_mean, one.running_mean))
             for path, one in norms(model).items()}
    names = {}
    for name in model.state_dict():
        path, _, last = name.rpartition(".")
        names[name] = f"{moved[path]}.{last}" if path in moved else name
    return names


def loss_of(made, clean, labels):
    if labels is not None:
        return nn.functional.cross_entropy(made[0], labels)
    return sum((noisy - wanted).square().sum() / wanted.square().sum() for noisy, wanted in zip(made, clean))


def train_torch(way, prepared, model, data):
    """Trains the prepared model; returns the losses of all steps."""
    labels = batches(labels_of(data)) if "--loss" in way.options else [None] * SAMPLES
    with torch.no_grad():
        clean = [outputs(model, batch) for batch in batches(data)]
    optimizer, losses = way.optimizer(prepared.parameters()), []
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 0.5 * (1 + math.cos(math.pi * step / STEPS)) if way.decays else 1)
    for step in range(STEPS):
        if way.freeze and step == STEPS // 2:
            prepared.apply(way.freeze)
        at = step % len(clean)
        loss = loss_of(outputs(prepared, batches(data)[at]), clean[at], labels[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    prepared.eval()
    return losses


def write(name, way, model, data, folder):
    """Writes model.pt2, data.npz and recipe.json."""
    program = torch.export.export(model, (data[:BATCH],), dynamic_shapes=({0: torch.export.Dim("batch")},))
    torch.export.save(program, folder / "model.pt2")
    np.savez(folder / "data.npz", **{program.graph_signature.user_inputs[0]: data.numpy()}, labels=labels_of(data).numpy())
    types = [["torch.nn.Embedding", "default_embedding_qat"]] if name == "words" else []
    (folder / "recipe.json").write_text(json.dumps({
        "format": "quantscope.recipe", "version": 1, "backend": way.backend,
        "mapping": {"global": way.preset, "object_type": types}, "calibration": {"batch_size": BATCH}}))


def train(program, folder, out, *words):
    """(error or "", training.json or None)"""
    run = subprocess.run([program, "train", folder / "model.pt2", "--recipe", folder / "recipe.json", "--data", folder / "data.npz",
                          "--device", "cpu", "--out", out, "--steps", str(STEPS), *map(str, words)], capture_output=True, text=True,
                         env=os.environ | {"OMP_NUM_THREADS": str(oracle.THREADS)})
    if run.returncode:
        return run.stderr.strip()[-400:], None
    return "", json.loads((out / "training.json").read_text())


def distance(ours, theirs):
    """The largest difference, as a part of the largest value."""
    ours, theirs = (torch.as_tensor(one).detach().double().reshape(-1) for one in (ours, theirs))
    if ours.shape != theirs.shape:
        return float("inf")
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp_min(1e-300)) if len(ours) else 0.0


def check_losses(document, losses):
    problems, before = [], 0
    for point in document["points"]:
        wanted = float(np.mean(losses[before:point["step"]]))
        if not distance(point["loss"], wanted) <= TOLERANCE:
            problems.append(f"loss of steps {before + 1} to {point['step']}: {point['loss']} instead of {wanted}")
        before = point["step"]
    return problems[:1] if before == STEPS else [f"the last point is step {before}"]


def check_state(path, prepared, names):
    ours, theirs = torch.export.load(path).state_dict, prepared.state_dict()
    far = {name: distance(ours[name], theirs[other]) for name, other in names.items() if "num_batches" not in name}
    print(f"    {len(far)} tensors, {max(far.values()):.1e} apart")
    return [f"{name}: {far[name]:.1e} apart" for name in far if not far[name] <= TOLERANCE]


def floats_of(prepared):
    """A copy that computes what the float model computes."""
    plain = copy.deepcopy(prepared).eval()
    plain.apply(disable_observer)
    plain.apply(disable_fake_quant)
    return plain


def places(prepared, program, example):
    """{(name in the .pt2, is it a weight): its fake quantizers} of the prepared model, before training; fixed ranges left out."""
    modules = dict(prepared.named_modules(remove_duplicate=False))
    inside = {node.name for node in prepared.graph.nodes
              if node.op == "call_module" and isinstance(modules[node.target], FakeQuantizeBase)}
    names = align.align(floats_of(prepared), program, example, inside)
    parameters = {path: name for name, path in program.graph_signature.inputs_to_parameters.items()}
    found = {}
    for node in prepared.graph.nodes:
        module = modules.get(node.target) if node.op == "call_module" else None
        weight = getattr(module, "weight_fake_quant", None)
        if weight is not None:
            found.setdefault((parameters[f"{node.target}.weight"], True), []).append(weight)
        elif node.name in inside and not isinstance(module, FixedQParamsFakeQuantize):
            is_weight = node.args[0].op == "get_attr"
            found.setdefault((names[node.args[0].name], is_weight), []).append(module)
    return found


def check_ranges(path, found):
    """The same places, one range for each fake quantizer and place."""
    with zipfile.ZipFile(path) as archive:
        record = next(name for name in archive.namelist() if name.endswith("extra/quantscope_ranges.json"))
        ranges = json.loads(archive.read(record))["ranges"]
    ours = {}
    for one in ranges:
        ours.setdefault((one["value"], one["weight"]), []).append(one)
    counts, wanted = ({key: len(those) for key, those in side.items()} for side in (ours, found))
    if counts != wanted:
        return [f"ranges: {counts} instead of {wanted}"]
    problems, worst = [], 0.0
    for key, one, module in ((key, one, module) for key in found for one, module in zip(ours[key], found[key])):
        observer = module.activation_post_process
        both = torch.stack([observer.min_val.reshape(-1), observer.max_val.reshape(-1)])
        far = distance([one["min"], one["max"]], both)
        worst = max(worst, far)
        if not far <= TOLERANCE or (one["quant_min"], one["quant_max"]) != (module.quant_min, module.quant_max):
            problems.append(f"range of {key[0]}: {one['min'][:3]} to {one['max'][:3]} instead of {both[:, :3].tolist()}")
    print(f"    {len(ranges)} ranges, {sum(weight for _, weight in found)} of weights, {worst:.1e} apart")
    return problems


def check_converted(name, way, program, prepared, model, data, folder):
    """Places, scales and outputs of the trained model after conversion; fixed ranges count."""
    error, _, result = checks.quantize(program, folder / "out" / "model.pt2", folder / "data.npz", folder / "quantized", "--recipe",
                                       folder / "out" / "recipe.json", "--export", "torchscript")
    if error:
        return [f"quantize: {error}"]
    problems, nodes = [], result["nodes"]
    ours = sorted({(one["output"]["scale"][0], one["output"]["zero_point"][0]) for one in nodes
                   if one["output"] and not one["output"]["shared_with"] and one["output"]["scale"]})
    theirs = sorted(set(test_trained.asked(prepared, way.config())[0]))
    if len(ours) != len(theirs) or distance(ours, theirs) > TOLERANCE:
        problems.append(f"scales of activations: {ours} instead of {theirs}")
    lowered = torch.jit.load(folder / "quantized" / "out" / "model.int8.ts.pt")
    # Of a module that is called twice, torch.ao's lowered form has one scale for both results.
    convert = convert_to_reference_fx if "twice" in name else convert_fx
    converted = convert(copy.deepcopy(prepared), backend_config=way.config())
    with torch.no_grad():
        clean, wanted, got = (np.concatenate([oracle.flat(one(batch)) for batch in batches(data)])
                              for one in (model, converted, lowered))
    theirs_db, ours_db = oracle.sqnr_db(clean, wanted), oracle.sqnr_db(clean, got)
    print(f"    {ours_db:.2f} dB, {theirs_db:.2f} dB by torch.ao, {oracle.sqnr_db(wanted, got):.1f} dB between them")
    if not abs(ours_db - theirs_db) <= DB:
        problems.append(f"outputs: {ours_db:.2f} dB instead of {theirs_db:.2f} dB")
    return problems


def check_as_torch(name, way, program, folder):
    model, data = training_networks.make(name, SAMPLES)
    prepared = prepared_for(name, way, model, data)
    names = state_names(prepared, model)
    write(name, way, model, data, folder)
    found = places(prepared, torch.export.load(folder / "model.pt2"), data[:BATCH])
    losses = train_torch(way, prepared, model, data)
    error, document = train(program, folder, folder / "out", *way.words())
    if error:
        return [f"train: {error}"]
    print(f"{name}, {way.preset}, {way.options}: loss {losses[0]:.4f}, at last {losses[-1]:.4f}")
    trained = folder / "out" / "model.pt2"
    (folder / "quantized").mkdir()
    return (check_losses(document, losses) + check_state(trained, prepared, names) + check_ranges(trained, found)
            + check_converted(name, way, program, prepared, model, data, folder))


def check_repeats(name, words, program, folder):
    """The same command gives the same bits."""
    write(name, Way(), *training_networks.make(name, SAMPLES), folder)
    documents, states = [], []
    for out in (folder / "one", folder / "two"):
        error, document = train(program, folder, out, *words)
        if error:
            return [f"train: {error}"]
        documents.append([(point["step"], point["loss"], point["guard_db"]) for point in document["points"]])
        states.append(torch.export.load(out / "model.pt2").state_dict)
    problems = [f"{key} differs" for key in states[0] if not torch.equal(states[0][key], states[1][key])]
    if documents[0] != documents[1]:
        problems.append(f"points: {documents}")
    if "--no-guard" not in words and any(guard is None for _, _, guard in documents[0]):
        problems.append("the guard is not measured")
    return problems


if __name__ == "__main__":
    CHECKS = {f"networks/{name}": functools.partial(check_as_torch, name, Way()) for name in training_networks.NETWORKS}
    CHECKS |= {f"ways/{name}": functools.partial(check_as_torch, "plain", way) for name, way in WAYS.items()}
    CHECKS |= {"repeats/scratch": functools.partial(check_repeats, "plain", Way().words()),
               "repeats/guard": functools.partial(check_repeats, "residual", ()),
               "repeats/seed": functools.partial(check_repeats, "attention", ("--seed", 3, "--learn-scales"))}
    checks.main(CHECKS)
