# SPDX-License-Identifier: Apache-2.0
"""What Inductor, behind torch.compile, needs to be told of an exported model and what it fails at: for run_export.py and time_export.py."""
import re

PRODUCTS = ("conv1d", "conv2d", "conv3d", "convolution", "linear", "addmm", "mm", "bmm", "matmul")


def quantized_products(graph):
    """How many convolutions and matrix products read a dequantized value or weight: (of activations, of weights alone)."""

    def made_by(node):
        while node.op == "call_function" and any(word in str(node.target) for word in ("view", "reshape", "permute", "transpose", "t.default")):
            node = node.all_input_nodes[0]
        return node

    def is_stored(node):
        return "per_channel" in str(node.target) or all(one.op in ("get_attr", "placeholder") and one.name.startswith(("p_", "b_", "c_"))
                                                        for one in node.all_input_nodes)

    both = weights = 0
    for node in graph.nodes:
        if node.op != "call_function" or not any(f"aten.{name}." in str(node.target) for name in PRODUCTS):
            continue
        read = [made_by(one) for one in node.all_input_nodes]
        read = [one for one in read if "quantized_decomposed.dequantize" in str(one.target)]
        stored = sum(map(is_stored, read))
        both += stored > 0 and len(read) > stored
        weights += stored > 0 and len(read) == stored
    return both, weights


def name_kernels():
    """From now on a profiler shows the kernels that Inductor writes under their names."""
    from torch._inductor import config

    config.cpp.enable_kernel_profile = True


def compiled_module(torch, program, notes):
    """The program as Inductor compiles it for a server; what it needs besides torch.compile is noted."""
    from torch._inductor import config

    config.freezing = True  # constant weights: what the int8 patterns ask for
    if any("scan" in str(node.target) for node in program.graph.nodes):  # a loop over a sequence: its length is read from a tensor
        torch._dynamo.config.capture_scalar_outputs = True
        notes["needs"] = "its loop over the sequence compiles with torch._dynamo.config.capture_scalar_outputs = True"
    return torch.compile(program.module())


def compiler_cause(torch, error, program):
    """A known fault of the compiler in a user's words, before its own; else the error itself."""
    quantized = any("conv1d" in str(node.target) and any("dequantize" in str(one.target) for one in node.all_input_nodes)
                    for node in program.graph.nodes)
    if quantized and re.search(r"is invalid for input of size|[Bb]roadcast", str(error)):
        return RuntimeError(f"the compiler of torch {torch.__version__} gives quantized conv1d layers wrong shapes: keep torch.nn.Conv1d float for it, or "
                            f"run the file without torch.compile; it said {type(error).__name__}: {error}")
    return error
