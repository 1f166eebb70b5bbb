# SPDX-License-Identifier: Apache-2.0
"""What a single quantizer does to a model's outputs, in PyTorch: the exported program with only that one on, by the parameters that
result.json tells."""
import copy
import pathlib
import sys

import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
from harness import by_name, fake_quantize  # noqa: E402


def tensors(outputs):
    return [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)


def folded_factors(program, node):
    """What a batch norm that is folded into the layer multiplies its channels with; one where there is none."""
    users = list(node.users)
    if len(users) != 1 or "batch_norm" not in str(users[0].target):
        return None
    norm = users[0]
    state, signature = program.state_dict, program.graph_signature
    names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    weight, _, _, variance = (state[names[argument.name]] for argument in norm.args[1:5])
    return weight / torch.sqrt(variance + norm.args[7])


class Program:
    """An exported program and the result of its quantization."""

    def __init__(self, path, result):
        self.program = torch.export.load(path)
        self.nodes = by_name(result)

    def _values(self, inputs):
        """All that the lifted graph takes: parameters and buffers before the inputs."""
        signature = self.program.graph_signature
        constants = {**self.program.state_dict, **self.program.constants}
        names = {**signature.inputs_to_parameters, **signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}
        given = iter(inputs)
        return [constants[names[node.name]] if node.name in names else next(given)
                for node in self.program.graph.nodes if node.op == "placeholder"]

    def _run(self, module, inputs):
        with torch.no_grad():
            return [output for output in tensors(torch.fx.Interpreter(module).run(*self._values(inputs)))
                    if output.is_floating_point()]

    def clean(self, inputs):
        """Outputs of floats without any quantizer."""
        return self._run(self.program.graph_module, inputs)

    def quantization(self, site):
        """The parameters of a site, as the result tells them."""
        if site["kind"] == "weight":
            return self.nodes[site["node"]]["weight"]
        return self.nodes[site["node"]]["output"]

    def alone(self, site, inputs):
        """The same with this site alone quantized."""
        module = copy.deepcopy(self.program.graph_module)
        nodes = {node.name: node for node in module.graph.nodes}
        quantization, readers = self.quantization(site), [nodes[name] for name in site["at"]]
        if site["kind"] == "weight":
            value = readers[0].args[1]
            factors = folded_factors(self.program, readers[0])
        else:
            value, factors = nodes[site["node"]], None

        def noisy(tensor):
            if factors is None:
                return fake_quantize(tensor, quantization)
            rows = factors.reshape(-1, *[1] * (tensor.dim() - 1))
            return fake_quantize(tensor * rows, quantization) / rows

        last = [node for node in module.graph.nodes if node.op == "placeholder"][-1] if value.op == "placeholder" else value
        with module.graph.inserting_after(last):
            made = module.graph.call_function(noisy, (value,))
        for reader in readers:
            reader.replace_input_with(value, made)
        module.recompile()
        return self._run(module, inputs)

    def errors(self, site, inputs):
        """Output by output, sample by sample: the power of what the site alone does over the mean power of a sample's signal."""
        rows = []
        for clean, noisy in zip(self.clean(inputs), self.alone(site, inputs)):
            power = float(clean.double().square().sum()) / len(clean)
            rows.append((noisy.double() - clean.double()).square().flatten(1).sum(1) / power)
        return rows

    def share(self, site, inputs):
        """Noise over signal, the mean over the outputs."""
        rows = self.errors(site, inputs)
        return sum(float(row.mean()) for row in rows) / len(rows)
