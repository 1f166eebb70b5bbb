# SPDX-License-Identifier: Apache-2.0
"""Holds an exported ONNX model to the reference form that was written beside it, in ONNX Runtime.

Two runtimes add up in another order, and a value that lies halfway between two steps may go either way: in a deep network one such step moves many
after it. So there are two answers: how far the outputs are from each other, and how far each value is that is computed from the reference form's own
integers (every dequantized value starts from those, none from what ONNX Runtime rounded before it)."""
import builtins
import math
import pathlib
import re

import numpy as np
import onnx
import onnxruntime
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
import torch.utils._pytree as pytree

HALFWAY = 2e-3  # steps: an integer may depart where its value is this close to the middle between two


def sqnr(wanted, got):
    """In dB; values that are not finite must be the same ones."""
    wanted, got = wanted.double(), got.double()
    same = (wanted == got) | (wanted.isnan() & got.isnan())
    if not (same | (wanted.isfinite() & got.isfinite())).all():
        return -200.0
    wanted, got = wanted[wanted.isfinite()], got[got.isfinite()]
    noise, signal = float(((wanted - got) ** 2).sum()), float((wanted ** 2).sum())
    return 200.0 if noise == 0 else 10 * math.log10(max(signal, 1e-30) / noise)


class Values(torch.fx.Interpreter):
    """Runs an exported program and keeps what every node gives."""

    def __init__(self, module):
        super().__init__(module)
        self.kept = {}

    def run_node(self, node):
        value = super().run_node(node)
        if isinstance(value, torch.Tensor):
            self.kept[node.name] = value.detach().clone()
        return value


def session(model, optimised=False):
    """Of a path or of a model in memory."""
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    options.log_severity_level = 3
    source = str(model) if isinstance(model, (str, pathlib.Path)) else model.SerializeToString()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def optimised(path, folder):
    """The graph that ONNX Runtime runs: nodes by the names that the file gave them."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimised.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return onnx.load(folder / "optimised.onnx").graph.node


def fed(runner, inputs, more=None):
    """The outputs by name."""
    values = {i.name: np.asarray(v) for i, v in zip(runner.get_inputs(), inputs)}
    return dict(zip([o.name for o in runner.get_outputs()], runner.run(None, {**values, **(more or {})})))


class Parting:
    """One export held to its reference form."""

    def __init__(self, folder, inputs):
        folder = pathlib.Path(folder)
        self.path = folder / "model.int8.onnx"
        self.inputs = [torch.as_tensor(value) for value in inputs]
        self.module = torch.export.load(folder / "model.reference.pt2").module()
        onnx.checker.check_model(str(self.path), full_check=True)
        with torch.no_grad():
            self.wanted = pytree.tree_leaves(self.module(*self.inputs))

    def outputs(self, optimised=False):
        """The worst output, in dB."""
        got = list(fed(session(self.path, optimised), self.inputs).values())
        assert len(got) == len(self.wanted), f"{len(got)} outputs instead of {len(self.wanted)}"
        for wanted, value in zip(self.wanted, got):
            assert tuple(wanted.shape) == tuple(value.shape), f"shape {value.shape} instead of {tuple(wanted.shape)}"
        return min(sqnr(wanted, torch.from_numpy(np.asarray(value))) for wanted, value in zip(self.wanted, got))

    def between_quantizers(self, traced=False):
        """Names tie the two together; of a traced model not those that Python has itself, which torch.fx numbers anew.

        (worst of all values in dB, its name, integers that depart, of how many, worst distance of a departing one from the middle, in steps)."""
        values = Values(self.module)
        with torch.no_grad():
            values.run(*self.inputs)
        kept = values.kept
        if traced:
            kept = {name: value for name, value in kept.items() if re.sub(r"_\d+$", "", name) not in dir(builtins)}
        model = onnx.load(self.path)
        kinds = {tensor.name: tensor for tensor in model.graph.initializer}
        quantizers = {node.output[0]: node for node in model.graph.node if node.op_type == "QuantizeLinear" and node.output[0] in kept}
        for node in model.graph.node:  # readers of integers read the reference form's
            for place, name in enumerate(node.input):
                if name in quantizers:
                    node.input[place] = name + "__given"
        types = {torch.uint8: onnx.TensorProto.UINT8, torch.int8: onnx.TensorProto.INT8, torch.int16: onnx.TensorProto.INT16}
        given = {}
        for name in quantizers:
            value = kept[name]
            given[name + "__given"] = value.numpy()
            model.graph.input.append(onnx.helper.make_tensor_value_info(name + "__given", types[value.dtype], value.shape))
        made = {name for node in model.graph.node for name in node.output}
        # An output has the model's name; what is quantized before it leaves has that name with "_raw".
        node_of = {name: name if name in kept else name.removesuffix("_raw") for name in made}
        expected = {name: kept[node] for name, node in node_of.items() if node in kept}
        told = [output.name for output in model.graph.output]
        expected.update((name, value) for name, value in zip(told, self.wanted) if name in made)
        watched = [name for name in expected if name not in told]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in watched)
        got = fed(session(model), self.inputs, given)
        worst, where, departed, count, farthest = 200.0, "", 0, 0, 0.0
        for name in [*watched, *told]:
            if name not in expected:
                continue
            wanted, value = expected[name], torch.from_numpy(np.asarray(got[name]))
            wanted = torch.view_as_real(wanted.resolve_conj()) if wanted.is_complex() else wanted
            assert wanted.shape == value.shape, f"{name}: shape {tuple(value.shape)} instead of {tuple(wanted.shape)}"
            if name in quantizers:
                node = quantizers[name]
                scale, point = (onnx.numpy_helper.to_array(kinds[i]) if i in kinds else None for i in node.input[1:3])
                differs = wanted != value
                departed, count = departed + int(differs.sum()), count + wanted.numel()
                if differs.any() and scale is not None and scale.size == 1:
                    assert int((wanted.int() - value.int()).abs().max()) <= 1, f"{name}: an integer departs by more than one step"
                    steps = expected[node.input[0]][differs].double() / float(scale) if node.input[0] in expected else None
                    if steps is not None:
                        farthest = max(farthest, float((steps - steps.floor() - 0.5).abs().max()))
            elif wanted.is_floating_point():
                decibels = sqnr(wanted, value)
                if decibels < worst:
                    worst, where = decibels, name
        return worst, where, departed, count, farthest
