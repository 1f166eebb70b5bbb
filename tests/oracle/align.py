# SPDX-License-Identifier: Apache-2.0
"""Which node of the .pt2 computes what a node of torch.ao's prepared graph computes.

The names differ, fusion removes nodes, and one side counts in modules where the other counts in operators. What both
agree on is the value: a node of the prepared graph (its observers taken out) stands for the first .pt2 node not yet
taken that computes the same tensor.
"""
import torch
from torch.fx import Interpreter


class Recorder(Interpreter):
    """Runs a graph and keeps a copy of what each node computed; in-place operators change theirs later."""

    def __init__(self, module, skip=()):
        super().__init__(module)
        self.seen = {}
        self.skip = set(skip)

    def run_node(self, node):
        value = self.map_nodes_to_values(node.args[0], node) if node.name in self.skip else super().run_node(node)
        if isinstance(value, torch.Tensor):
            self.seen[node.name] = value.detach().clone()
        return value


def same(a, b):
    """Equal up to what folding a batch norm into a convolution changes: noise 80 dB under the signal."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    noise = (a - b).double().norm()
    return bool(noise <= 1e-4 * b.double().norm()) if a.is_floating_point() else bool(torch.equal(a, b))


def align(prepared, program, example, observers):
    """Maps names of the prepared graph's tensor nodes to names of the .pt2's nodes."""
    with torch.no_grad():
        fx = Recorder(prepared, observers)
        fx.run(example.clone())
        pt2 = Recorder(program.module())
        pt2.run(example.clone())
    inputs = set(program.graph_signature.user_inputs)
    # A part of an operator's list of results belongs to the operator.
    parent = {node.name: node.args[0].name for node in program.graph.nodes if "getitem" in str(node.target)}
    parameters = dict(program.graph_signature.inputs_to_parameters)
    names, taken = {}, set()
    for node in prepared.graph.nodes:
        if node.name in observers or node.name not in fx.seen or node.op == "output":
            continue
        if node.op == "get_attr":
            held = [name for name, path in parameters.items() if path == node.target]
            names[node.name] = held[0] if held else None
            continue
        candidates = [name for name, value in pt2.seen.items() if same(fx.seen[node.name], value)]
        if node.op == "placeholder":
            candidates = [name for name in candidates if name in inputs]
        free = [name for name in candidates if name not in taken]
        # An identity that export dropped stands for the value it was given.
        chosen = free[0] if free else (candidates[-1] if candidates else None)
        names[node.name] = chosen
        taken.add(chosen)
    return {name: parent.get(chosen, chosen) for name, chosen in names.items()}
