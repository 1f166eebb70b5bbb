# SPDX-License-Identifier: Apache-2.0
"""`tune` beside NNCF's quantize_with_accuracy_control, which quantizes everything and then makes operators float again, the most harmful first, until
the goal is reached. NNCF does that for OpenVINO and ONNX alone; here for OpenVINO, from the same exported program, on the CPU.

Both get the same goal and the same samples. What counts is the share of the multiplications that stays in int8, those of attention among them."""
import math
import time

import numpy
import peer_cases
import torch

GOALS = {"digits": 38, "sequences": 38, "opt": 28, "resnet18": 25, "minilm": 20}
NETWORKS = tuple(GOALS)
MOST_DB = 100  # NNCF takes a drop of the metric: the float model counts as this
ATTENTION = "ScaledDotProductAttention"
PRODUCTS = ("MatMul", "Convolution", "GroupConvolution", ATTENTION)


def version():
    import nncf
    import openvino

    return f"nncf {nncf.__version__}, openvino {openvino.__version__.split('-')[0]}"


def sources(node):
    return [node.input_value(i).get_node() for i in range(node.get_input_size())]


def is_stored(node):
    """Computed from constants alone."""
    return node.get_type_name() == "Constant" or (bool(sources(node)) and all(is_stored(source) for source in sources(node)))


def is_quantized(node):
    """A value that comes out of a FakeQuantize, perhaps moved about."""
    while node.get_type_name() in ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Convert", "Pad", "StridedSlice", "Slice", "Gather", "MaxPool"):
        node = sources(node)[0]
    return node.get_type_name() == "FakeQuantize"


def int8_share(model, call):
    fixed = model.clone()
    fixed.reshape({i: list(value.shape) for i, value in enumerate(call)})
    held = whole = 0
    for node in fixed.get_ops():
        kind = node.get_type_name()
        if kind not in PRODUCTS:
            continue
        left, right = list(node.input(0).get_shape()), list(node.input(1).get_shape())
        outputs = math.prod(node.output(0).get_shape())
        values = [source for source in sources(node)[:3 if kind == ATTENTION else 2] if not is_stored(source)]
        if kind == ATTENTION:
            macs = 2 * math.prod(left) * right[-2]
        elif kind == "MatMul":
            macs = outputs * (left[-2] if node.get_attributes()["transpose_a"] else left[-1])
        else:
            macs = outputs * math.prod(right[(2 if kind == "GroupConvolution" else 1):])
        whole += macs
        held += macs if all(is_quantized(value) for value in values) else 0
    return held / whole


def controlled(case, goal):
    import nncf
    import openvino

    model = openvino.convert_model(torch.export.load(case.path))
    model.set_rt_info("f32", ["runtime_options", "INFERENCE_PRECISION_HINT"])  # not bfloat16 where the processor has it
    wanted = case.expected["seen"]

    def arrays(i):
        return [value.numpy() for value in case.seen[i]]

    def run(compiled, i):
        outputs = compiled(arrays(i))
        return [torch.from_numpy(numpy.array(outputs[k])) for k in range(len(wanted[i]))]

    def validate(compiled, indices):
        chosen = list(indices)
        got = [run(compiled, i) for i in chosen]
        each = [min(MOST_DB, peer_cases.sqnr([wanted[i]], [one])) for i, one in zip(chosen, got)]
        return min(MOST_DB, peer_cases.sqnr([wanted[i] for i in chosen], got)), each

    data = nncf.Dataset(range(len(case.seen)), arrays)
    kind = nncf.ModelType.TRANSFORMER if case.name in ("minilm", "sequences", "opt") else None
    made = nncf.quantize_with_accuracy_control(model, data, nncf.Dataset(range(len(case.seen))), validate, max_drop=MOST_DB - goal, model_type=kind,
                                               target_device=nncf.TargetDevice.CPU)
    return made


def bench(program, case):
    import logging

    import nncf
    import openvino

    nncf.set_log_level(logging.ERROR)
    goal = GOALS.get(case.name, 20)
    ours = peer_cases.tuned(program, case, goal, "--keep-int8", 0)
    start = time.perf_counter()
    made = controlled(case, goal)
    seconds = time.perf_counter() - start
    compiled = openvino.compile_model(made, "CPU")

    def run(*call):
        outputs = compiled([value.numpy() for value in call])
        return [torch.from_numpy(numpy.array(outputs[k])) for k in range(len(case.expected["held"][0]))]

    theirs, share = case.db(run), int8_share(made, case.seen[0])
    reached = case.db(run, "seen") >= goal
    row = {"goal": goal, "ours": ours.db, "int8 %": 100 * ours.share, "s": ours.seconds, "cures": ours.cures, "nncf": theirs, "its int8 %": 100 * share,
           "its s": seconds}
    missed = [] if ours.reached else [f"{goal} dB are not reached by ours"]
    if reached and ours.share < share - 1e-3:
        missed.append(f"ours keeps {100 * ours.share:.2f} % in int8, nncf {100 * share:.2f} %")
    if not reached:
        row["note"] = "nncf misses the goal"
    return row, missed
