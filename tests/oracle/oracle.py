# SPDX-License-Identifier: Apache-2.0
"""torch.ao's answer for one network and one recipe: what it observes, with which parameters, and what comes out."""
import base64
import copy
import warnings
import zlib

import numpy as np
import torch
from torch.ao.quantization import ObserverBase
from torch.ao.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx

import align
import families
import recipes

THREADS = 2
OBSERVERS = {"MinMaxObserver": "minmax", "MovingAverageMinMaxObserver": "moving_average_minmax",
             "PerChannelMinMaxObserver": "per_channel_minmax", "HistogramObserver": "histogram",
             "MovingAveragePerChannelMinMaxObserver": "moving_average_per_channel_minmax",
             "FixedQParamsObserver": "fixed_qparams", "PlaceholderObserver": "placeholder",
             "ReuseInputObserver": "reuse_input"}


def packed(array):
    """A numpy array as short text."""
    array = np.ascontiguousarray(array)
    return {"dtype": str(array.dtype), "shape": list(array.shape),
            "data": base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()}


def unpacked(text):
    data = zlib.decompress(base64.b64decode(text["data"]))
    return np.frombuffer(data, dtype=text["dtype"]).reshape(text["shape"])


def sqnr_db(signal, other):
    signal, noise = np.asarray(signal, np.float64), np.asarray(other, np.float64) - np.asarray(signal, np.float64)
    if not noise.any():
        return 200.0
    return float(np.clip(20 * np.log10(np.linalg.norm(signal) / np.linalg.norm(noise)), -200, 200))


def flat(outputs):
    """A model's outputs as one array [samples, ...]; of several, each sample's values in a row."""
    if isinstance(outputs, torch.Tensor):
        return outputs.numpy()
    return torch.cat([output.flatten(1) if output.dim() > 1 else output[:, None] for output in outputs], 1).numpy()


def run(model, data):
    """The outputs for all samples, computed batch by batch."""
    with torch.no_grad():
        return np.concatenate([flat(model(torch.from_numpy(data[i:i + recipes.BATCH_SIZE])))
                               for i in range(0, len(data), recipes.BATCH_SIZE)])


def top1(outputs, labels):
    return float((outputs.argmax(1) == labels).mean())


def qparams(observer):
    scale, zero_point = observer.calculate_qparams()
    return {"observer": OBSERVERS[type(observer).__name__], "dtype": str(observer.dtype).removeprefix("torch."), "scale": scale.float().numpy().reshape(-1),
            "zero_point": zero_point.numpy().astype(np.int64).reshape(-1)}


def observed_edges(prepared, names, observers):
    """One row per observed value: the .pt2 node, the observer's group (its instance) and its parameters."""
    rows, groups = [], {}
    modules = dict(prepared.named_modules(remove_duplicate=False))
    for node in prepared.graph.nodes:
        if node.name not in observers:
            continue
        observer = modules[node.target]
        group = groups.setdefault(id(observer), len(groups))
        row = {"node": names[node.args[0].name], "group": group, **qparams(observer)}
        # The parts of a split are one node of ours: they are told apart only where their observers differ.
        if not any(other["node"] == row["node"] and other["group"] == group for other in rows):
            rows.append(row)
    return rows


def weights(prepared, program):
    """One row per operator whose weight a module holds: the .pt2 node that reads the weight, and its parameters."""
    rows = []
    placeholder = {path: name for name, path in program.graph_signature.inputs_to_parameters.items()}
    nodes = {node.name: node for node in program.graph.nodes}
    reference = convert_to_reference_fx(copy.deepcopy(prepared))
    for path, module in reference.named_modules():
        if not hasattr(module, "weight_scale"):
            continue
        # A fused module stands where its convolution or linear layer stood, as the first of a Sequential.
        own = path if f"{path}.weight" in placeholder else path.rpartition(".")[0]
        for reader in nodes[placeholder[f"{own}.weight"]].users:
            rows.append({"node": reader.name, "dtype": str(module.weight_dtype).removeprefix("torch."),
                         "scale": module.weight_scale.float().numpy().reshape(-1),
                         "zero_point": module.weight_zero_point.numpy().astype(np.int64).reshape(-1)})
    return rows


def takes_weight(reader, parameter):
    """Is the parameter the weight of a convolution or linear layer, rather than an operand like any other?"""
    target = str(reader.target)
    position = 0 if "embedding" in target else 1
    return any(word in target for word in ("conv", "linear", "embedding")) and reader.args[position:position + 1] == (parameter,)


def split_weights(observed, program):
    """A weight handed to a function has an observer in the graph; ours stands with the operator that reads it."""
    nodes = {node.name: node for node in program.graph.nodes}
    parameters = program.graph_signature.inputs_to_parameters
    reads = {name: [reader for reader in nodes[name].users if takes_weight(reader, nodes[name])] for name in parameters}
    values = [row for row in observed if not reads.get(row["node"])]
    moved = [{"node": reader.name, **{key: row[key] for key in ("dtype", "scale", "zero_point")}}
             for row in observed for reader in reads.get(row["node"], ())]
    return values, moved


def ask(case, decisions, program, threads=THREADS):
    """Everything torch.ao says; numpy arrays inside. `program` is the exported network as Quantscope reads it."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(threads)
    torch.backends.quantized.engine = "x86"
    example = torch.from_numpy(case.calib[:recipes.BATCH_SIZE].copy())
    prepared = prepare_fx(families.traced(case.model, example), decisions.mapping, (example,), backend_config=decisions.backend)
    modules = dict(prepared.named_modules(remove_duplicate=False))
    observers = {node.name for node in prepared.graph.nodes
                 if node.op == "call_module" and isinstance(modules[node.target], ObserverBase)}
    names = align.align(prepared, program, example, observers)
    run(prepared, case.calib)
    reference = convert_to_reference_fx(copy.deepcopy(prepared), backend_config=decisions.backend)
    lowered = convert_fx(copy.deepcopy(prepared), backend_config=decisions.backend)
    observed, functional = split_weights(observed_edges(prepared, names, observers), program)
    return {
        "observed": observed,
        "weights": weights(prepared, program) + functional,
        "outputs": {"float": run(case.model, case.test), "reference": run(reference, case.test),
                    "lowered": run(lowered, case.test)},
    }
