# SPDX-License-Identifier: Apache-2.0
"""Runs an ONNX model in ONNX Runtime, without and with its optimizations, and shows the integers inside: for run_export.py."""
import importlib

import numpy


def outputs(job, ort, optimised, one_line):
    """Of each call the outputs, in the places of the model's. What keeps the integers from being shown is a note of the job."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = job.text["threads"]
    options.log_severity_level = 3
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    session = ort.InferenceSession(job.file, options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    results = [job.placed(session.run(None, job.fed(names, flat))) for flat in job.calls(lambda array: array)]
    try:
        watch(job, ort, options, optimised)
    except Exception as error:  # the outputs count; this is for finding a cause
        job.notes["nodes"] = one_line(error)
    return results


def watch(job, ort, options, optimised):
    """The integers behind each QuantizeLinear of the first call, where the onnx package can add outputs.

    With optimizations: those that the optimized graph still makes under their name, by the kernels that it makes them with.
    """
    onnx = importlib.import_module("onnx")
    file, path = job.file, job.folder / "given.npz"
    ours = set(numpy.load(path).files) if path.exists() else set()
    made = [name for node in onnx.load(file, load_external_data=False).graph.node for name in node.output
            if node.op_type == "QuantizeLinear" or name in ours]
    level = options.graph_optimization_level
    if optimised:
        file = str(job.folder / "optimized.onnx")
        options.optimized_model_filepath = file
        ort.InferenceSession(job.file, options, providers=["CPUExecutionProvider"])
        options.optimized_model_filepath = ""
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # no second time
    model = onnx.load(file)
    kept = {name for node in model.graph.node for name in node.output}
    made = [name for name in made if name in kept]
    known = {value.name for value in model.graph.output}
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in made if name not in known)
    with job.beside(onnx, model) as source:
        session = ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        first = next(iter(job.calls(lambda array: array)))
        shown = session.run(made, job.fed([value.name for value in session.get_inputs()], first))
    job.nodes.update(zip(made, shown))
    options.graph_optimization_level = level
    feed(job, ort, options, onnx)


def feed(job, ort, options, onnx):
    """Once more, every reader of integers fed those of given.npz: what a node gives then is its own, inherited from none before it."""
    path = job.folder / "given.npz"
    if not path.exists():
        return
    given, model = dict(numpy.load(path)), onnx.load(job.file)
    told = [value.name for value in model.graph.output]
    made = {name for node in model.graph.node for name in node.output}
    given = {name: value for name, value in given.items() if name in made}

    def rename(graph):
        for node in graph.node:
            for place, name in enumerate(node.input):
                if name in given:
                    node.input[place] = name + "__given"
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    rename(attribute.g)

    rename(model.graph)
    for name, value in given.items():
        model.graph.input.append(onnx.helper.make_tensor_value_info(name + "__given", onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in given if name not in told)
    with job.beside(onnx, model) as source:
        session = ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        first = next(iter(job.calls(lambda array: array)))
        fed = job.fed([value.name for value in session.get_inputs() if not value.name.endswith("__given")], first)
        fed.update({name + "__given": value for name, value in given.items()})
        values = session.run([*given, *told], fed)
    told = job.placed(values[len(given):])
    job.alone = dict(zip(given, values)) | {f"output.{i}": value for i, value in enumerate(told) if value is not None}
