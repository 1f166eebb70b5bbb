# SPDX-License-Identifier: Apache-2.0
"""An ExportedProgram as the plain JSON that plan_dump reads: what the importer makes of the same file, without it."""
import operator

import torch
from torch.export.graph_signature import InputKind


def class_name(stack):
    """The innermost module as users write it."""
    path, cls = list(stack.values())[-1] if stack else ("", "")
    cls = cls if isinstance(cls, str) else f"{cls.__module__}.{cls.__qualname__}"
    parts = cls.split(".")
    if cls.startswith("torch.nn.modules."):
        cls = "torch.nn." + parts[-1]
    return path.split("@")[0], cls


def functional(target):
    """The functional twin of an in-place operator."""
    name = target._schema.name.split("::")[1]
    if name.endswith("_") and not name.endswith("__"):
        packet = getattr(torch.ops.aten, name[:-1])
        return getattr(packet, target._overloadname)
    return target


def graph_json(program):
    kinds = {s.arg.name: s for s in program.graph_signature.input_specs}
    values, nodes, latest = {}, [], {}

    def value_of(node):
        name = node.name
        while name in latest:
            name = latest[name]
        return values[name]

    def argument(value):
        if isinstance(value, torch.fx.Node):
            name, index = value_of(value)
            return {"ref": name, "index": index}
        if isinstance(value, (list, tuple)):
            return [argument(v) for v in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return str(value)

    def types(meta):
        tensors = meta if isinstance(meta, (list, tuple)) else [meta]
        return [{"dtype": str(t.dtype)[6:], "shape": [int(s) for s in t.shape]} if isinstance(t, torch.Tensor) else {}
                for t in tensors]

    for node in program.graph.nodes:
        out = {"name": node.name, "target": str(node.target)}
        values[node.name] = (node.name, 0)
        if node.op == "placeholder":
            spec = kinds[node.name]
            out["kind"] = {InputKind.USER_INPUT: "input", InputKind.PARAMETER: "parameter",
                           InputKind.BUFFER: "parameter"}.get(spec.kind, "constant")
            out["target"] = spec.target or node.name
        elif node.op == "output":
            out["kind"] = "output"
            out["args"] = [["", argument(a)] for a in node.args[0]]
            nodes.append(out)
            continue
        elif node.target is operator.getitem:
            producer = value_of(node.args[0])[0]
            values[node.name] = (producer, node.args[1])
            next(n for n in nodes if n["name"] == producer)["outputs"][node.args[1]]["name"] = node.name
            continue
        else:
            target = functional(node.target)
            out["kind"], out["target"] = "op", str(target)
            schema = target._schema.arguments
            given = dict(zip([a.name for a in schema], node.args)) | dict(node.kwargs)
            out["args"] = [[k, argument(v)] for k, v in given.items()]
            out["module"], out["module_class"] = class_name(node.meta.get("nn_module_stack"))
            out["torch_fn"] = (node.meta.get("torch_fn") or ("", ""))[1]
            if target is not node.target and isinstance(node.args[0], torch.fx.Node):
                latest[node.args[0].name] = node.name  # later readers see the new value
        out["outputs"] = types(node.meta.get("val"))
        nodes.append(out)
    return {"nodes": nodes}
