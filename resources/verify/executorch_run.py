# SPDX-License-Identifier: Apache-2.0
"""Lowers an exported program to ExecuTorch with the XNNPACK delegate and loads what came of it, for run_export.py and time_export.py."""
import collections
import importlib
import logging
import operator
import os
import sys

PASSES_ON = {"relu", "relu6", "hardtanh", "clamp"}  # what XNNPACK fuses behind a product
MOVES = {"permute_copy", "transpose_copy", "view_copy", "unsqueeze_copy", "squeeze_copy", "slice_copy", "clone", "_clone_dim_order"}  # compute nothing
NEGLIGIBLE = {"getitem", "executorch_call_delegate", "alloc", "sym_size", "lift_fresh_copy"}


def bare(node):
    """"quantized_decomposed.dequantize_per_tensor", "aten.convolution": without its overload."""
    target = node.target
    if target is operator.getitem:
        return "getitem"
    schema = getattr(target, "_schema", None)
    return schema.name.replace("::", ".") if schema else getattr(target, "__name__", str(target))


def short(node):
    return bare(node).split(".")[-1]


def is_quantizing(node):
    return short(node).startswith(("quantize_", "dequantize_", "choose_qparams"))


def is_operator(node):
    return node.op == "call_function" and not is_quantizing(node) and short(node) not in NEGLIGIBLE and bare(node).find(".") > 0


def reads(node):
    return [source for source in node.all_input_nodes if source.op == "call_function" and short(source).startswith("dequantize_")]


def is_stored(node):
    """Whether a dequantize reads a weight rather than a value of the moment."""
    source = node.args[0]
    while source.op == "call_function" and source.args and hasattr(source.args[0], "op") and not is_quantizing(source):
        source = source.args[0]
    return short(node).startswith("dequantize_per_channel") or source.op == "get_attr" or (
        source.op == "placeholder" and str(source.name).startswith(("p_", "b_", "c_")))


def chooses(node):
    """Whether the parameters of a dequantize are made as the model runs."""
    return any(getattr(argument, "op", "") == "call_function" for argument in node.args[1:3])


def gives_integers(node):
    return bool(node.users) and all((user.op == "call_function" and short(user).startswith("quantize_"))
                                    or (short(user) in PASSES_ON and gives_integers(user)) for user in node.users if user.op != "output")


def kind_of(node):
    """"int8", "weights" (only they are integers), "float"."""
    quantized = reads(node)
    activations = [one for one in quantized if not is_stored(one)]
    if not activations:
        fused = node.all_input_nodes[0] if short(node) in PASSES_ON and node.all_input_nodes else None
        return kind_of(fused) if fused is not None and is_operator(fused) and len(fused.users) == 1 else "weights" if quantized else "float"
    dynamic = all(chooses(one) for one in activations)
    return "int8" if (dynamic and len(quantized) > len(activations)) or gives_integers(node) else "float"


def unsigned(graph):
    """Whether a value of the moment is quantized to unsigned bytes."""
    import torch

    return any(short(node).startswith("quantize_per_tensor") and node.args[-1] == torch.uint8 for node in graph.nodes if node.op == "call_function")


class Reasons(logging.Handler):
    """What the partitioner says of the nodes that it leaves."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.of = {}
        self.loggers = [logging.getLogger(f"executorch.backends.xnnpack.partition.config.{name}")
                        for name in ("gemm_configs", "generic_node_configs", "node_configs", "xnnpack_config")]

    def emit(self, record):
        node = getattr(record.msg, "node", None)
        if node is not None:
            self.of.setdefault(node.name, " ".join(str(record.msg.reason).split()).rstrip("."))

    def __enter__(self):
        for logger in self.loggers:
            logger.setLevel(logging.DEBUG)
            logger.propagate = False
            logger.addHandler(self)
        return self

    def __exit__(self, *_):
        for logger in self.loggers:
            logger.removeHandler(self)


def lowered(job, program):
    """(bytes of a .pte, the edge program's graph, why operators were left). Fills the job's notes."""
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")  # the wheel's flatc
    partitioner = importlib.import_module("executorch.backends.xnnpack.partition.xnnpack_partitioner")
    exir = importlib.import_module("executorch.exir")
    importlib.import_module("executorch.kernels.quantized")  # quantize and dequantize outside of the delegate
    from executorch.exir.lowered_backend_module import get_lowered_submodules

    signed = not unsigned(program.graph)
    with Reasons() as reasons:
        edge = exir.to_edge_transform_and_lower(program, partitioner=[partitioner.XnnpackPartitioner()])
    graph = edge.exported_program().graph_module
    inside = [node for _, module, _ in get_lowered_submodules(graph) for node in module.original_module.graph.nodes if is_operator(node)]
    outside = [node for node in graph.graph.nodes if is_operator(node)]
    told(job, inside, outside, reasons.of, signed)
    return edge.to_executorch().buffer


def told(job, inside, outside, reasons, signed):
    kinds = collections.Counter(kind_of(node) for node in inside)
    left = collections.Counter(kind_of(node) for node in outside)
    quantized = kinds["int8"] + left["int8"]
    job.notes["int8_kernels"] = sum(kind_of(node) == "int8" and short(node) not in MOVES for node in inside)
    text = f"XNNPACK's delegate took {len(inside)} of {len(inside) + len(outside)} operators, {kinds['int8']} of {quantized} quantized ones as int8"
    if kinds["weights"] or left["weights"]:
        text += f", {kinds['weights']} of {kinds['weights'] + left['weights']} with integer weights alone"
    job.notes["delegate"] = text
    named = {}
    for node in outside:
        named.setdefault((bare(node), reasons.get(node.name, "the partitioner does not know it or its neighbours")), []).append(node.name)
    if named:
        job.notes["outside"] = "outside of the delegate: " + "; ".join(
            f"{op}{f' ({len(names)} times)' if len(names) > 1 else ''}: {why}" for (op, why), names in named.items())
    if not signed:
        job.notes["known_cause"] = ("activations are quantized to unsigned bytes, which XNNPACK's delegate takes for signed ones: "
                                    "choose the backend 'executorch', whose activations are qint8")


def loaded(job, program, name):
    """A function from the flat inputs to the list of outputs."""
    path = job.folder / name
    path.write_bytes(lowered(job, program))
    return opened(path)


def opened(path):
    """The same of a .pte, with the state that it holds."""
    runtime = importlib.import_module("executorch.runtime")
    program = runtime.Runtime.get().load_program(path, verification=runtime.Verification.Minimal)
    keep = (program, program.load_method("forward"))  # the method does not keep its program

    def call(flat):
        return keep[1].execute(flat)

    return call
