# SPDX-License-Identifier: Apache-2.0
"""Runs one exported model in one runtime, in a process of its own, for `quantscope verify`.

usage: run_export.py FOLDER

FOLDER holds job.json ({"runtime", "file", "input_tree", "threads", "engine", "libraries", "scripts", "calls": [[{"array": NAME} or {"value": literal}, ...]]}) and
inputs.npz; given.npz, where it is there, the integers that our own run made of the first call, by node. Leaves outputs.npz (arrays "CALL.OUTPUT"),
alone.npz (what each node gives where it is fed those of given.npz), nodes.npz (the integers that each quantize of the first call made, by the name of
its node, where the runtime can tell) and done.json ({"versions", "notes", "missing" or "error"}).
"""
import contextlib
import importlib
import json
import logging
import re
import sys
from pathlib import Path

try:
    import numpy
except ImportError:
    Path(sys.argv[1], "done.json").write_text(json.dumps({"missing": "numpy"}))
    sys.exit(0)


class Missing(Exception):
    """A package that the runtime needs is not there."""


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(getattr(error, "name", None) or name) from error


class Job:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.text = json.loads((self.folder / "job.json").read_text())
        self.file = self.text["file"]
        self.arrays = numpy.load(self.folder / "inputs.npz")
        self.versions = {"python": sys.version.split()[0]}
        self.notes = {}
        self.nodes = {}
        self.alone = {}

    @contextlib.contextmanager
    def beside(self, onnx, model):
        """A changed model as a session takes it: in memory, or as a file with its tensors beside it where a message would be too large."""
        if model.ByteSize() < 1_900_000_000:
            yield model.SerializeToString()
            return
        path = self.folder / "changed.onnx"
        onnx.save(model, path, save_as_external_data=True, location="changed.data")
        yield str(path)

    def calls(self, make):
        for call in self.text["calls"]:
            yield [make(self.arrays[item["array"]]) if "array" in item else item["value"] for item in call]


def torch_runtime(job):
    torch = need("torch")
    job.versions["torch"] = torch.__version__
    torch.set_num_threads(job.text["threads"])
    for library in job.text.get("libraries", []):
        torch.ops.load_library(library)
    for script in job.text.get("scripts", []):
        register_methods(torch, script)
    return torch


def register_methods(torch, script):
    """A pack's TorchScript methods as the operators that they are: their own schemas, a tuple as several results."""
    module = torch.jit.load(script["file"]).eval()
    for name, method in script["methods"].items():
        run = getattr(module, method)
        schema = re.sub(r"^[^(]*\([^ ,)]+ self(, )?", "(", str(run.schema))
        torch.library.define(name, re.sub(r"-> \(\((.*)\)\)$", r"-> (\1)", schema))
        torch.library.impl(name, "default", run)


def arguments(job, flat):
    """The flat inputs as the model's own arguments."""
    from torch.utils import _pytree as pytree

    if not job.text["input_tree"]:
        return flat, {}
    return pytree.tree_unflatten(flat, pytree.treespec_loads(job.text["input_tree"]))


def run_torch(job, module, torch):
    from torch.utils import _pytree as pytree

    results = []
    with torch.no_grad():
        for flat in job.calls(lambda array: torch.from_numpy(array.copy())):
            args, kwargs = arguments(job, flat)
            given = [value.clone() if isinstance(value, torch.Tensor) else None for value in flat]
            results.append([leaf for leaf in pytree.tree_leaves(module(*args, **kwargs))])
            if any(before is not None and not torch.equal(before.nan_to_num(), value.nan_to_num()) for before, value in zip(given, flat)):
                job.notes["inputs"] = "it writes into the tensors that it is given: hand it a copy of what you need afterwards"
    return results


def torch_jit(job):
    torch = torch_runtime(job)
    if job.text["engine"] in torch.backends.quantized.supported_engines:
        torch.backends.quantized.engine = job.text["engine"]
    return run_torch(job, torch.jit.load(job.file).eval(), torch)


def loaded_program(path, torch):
    importlib.import_module("torch.ao.quantization.fx._decomposed")  # registers quantized_decomposed
    causes = []

    class Heard(logging.Handler):
        def emit(self, record):
            causes.extend(filter(None, (record.exc_info or ())[1:2]))

    logger, heard = logging.getLogger("torch.export"), Heard()
    logger.addHandler(heard)
    try:
        return torch.export.load(path)
    except RuntimeError as error:  # it logs the cause and raises another error
        raise first_cause(causes[0]) if causes else error
    finally:
        logger.removeHandler(heard)


def first_cause(error):
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def torch_export(job):
    torch = torch_runtime(job)
    program = loaded_program(job.file, torch)

    class Watched(torch.fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if node.op == "call_function" and "quantized_decomposed.quantize" in str(node.target):
                job.nodes.setdefault(node.name, value.detach().numpy())
            return value

    module = program.module()
    results = run_torch(job, module, torch)
    first = next(iter(job.calls(lambda array: torch.from_numpy(array.copy()))), None)
    if first is not None:
        args, kwargs = arguments(job, first)
        try:
            with torch.no_grad():
                Watched(program.graph_module).run(*watched_inputs(program, args, kwargs))
        except Exception as error:  # the outputs above count; this is for finding a cause
            job.notes["nodes"] = one_line(error)
    return results


def watched_inputs(program, args, kwargs):
    """What the program's own graph takes: parameters and buffers first."""
    from torch.utils import _pytree as pytree

    user = iter(pytree.tree_leaves((args, kwargs)))
    values = []
    for spec in program.graph_signature.input_specs:
        if spec.target is None:
            values.append(next(user))
        elif spec.target in program.state_dict:
            values.append(program.state_dict[spec.target])
        else:
            values.append(program.constants[spec.target])
    return values


def torch_compile(job):
    import inductor_run

    torch = torch_runtime(job)
    program = loaded_program(job.file, torch)
    from torch._dynamo.utils import counters

    wanted, weights = inductor_run.quantized_products(program.graph)
    compiled = inductor_run.compiled_module(torch, program, job.notes)
    results, calls = [], job.text["calls"]
    for index in range(len(calls)):
        job.text["calls"] = calls[index:index + 1]
        try:
            results += run_torch(job, compiled, torch)
        except Exception as error:
            raise inductor_run.compiler_cause(torch, error, program) from None
        if index == 0:  # another shape may compile it again
            found = {name: int(count) for name, count in counters["inductor"].items() if name.startswith(("q", "woq")) and "matcher_count" in name}
    job.text["calls"] = calls
    kernels = {kind: found.get(f"{kind}_weight_prepack_matcher_count", 0) for kind in ("qconv", "qlinear")}
    kernels["weight-only"] = found.get("woq_matcher_count", 0)
    job.notes["int8_matches"] = found
    job.notes["int8_kernels"] = sum(kernels.values())
    job.notes["kernels"] = (f"{kernels['qconv'] + kernels['qlinear']} of {wanted} quantized convolutions and matrix products run as int8 kernels"
                            + (f", {kernels['weight-only']} of {weights} with integer weights alone" if weights else ""))
    return results


def executorch(job):
    """Lowered here, as whoever ships it does, and run by ExecuTorch's own runtime."""
    torch = torch_runtime(job)
    for name in ("executorch", "executorch.exir", "executorch.runtime"):
        need(name)
    job.versions["executorch"] = package_version("executorch")
    import executorch_run

    call = executorch_run.loaded(job, loaded_program(job.file, torch), "model.pte")
    with torch.no_grad():
        flats = list(job.calls(lambda array: torch.from_numpy(array.copy())))
        return [[tensor.clone() if hasattr(tensor, "clone") else tensor for tensor in call(flat)] for flat in flats]


def package_version(name):
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def onnx_runtime(optimised):
    def run(job):
        ort = need("onnxruntime")
        job.versions["onnxruntime"] = ort.__version__
        options = ort.SessionOptions()
        options.intra_op_num_threads = job.text["threads"]
        options.log_severity_level = 3
        levels = ort.GraphOptimizationLevel
        options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
        session = ort.InferenceSession(job.file, options, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        results = []
        for flat in job.calls(lambda array: array):
            values = [numpy.asarray(value) for value in flat]
            if len(names) != len(values):
                values = [v for v, item in zip(values, job.text["calls"][0]) if "array" in item]
            results.append(session.run(None, dict(zip(names, values))))
        watch_onnx(job, ort, options, optimised)
        return results

    return run


def watch_onnx(job, ort, options, optimised):
    """The integers behind each QuantizeLinear of the first call, where the onnx package can add outputs.

    With optimizations: those that the optimized graph still makes under their name, by the kernels that it makes them with.
    """
    try:
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
            names = [value.name for value in session.get_inputs()]
            values = [v for v, item in zip(first, job.text["calls"][0]) if "array" in item] if len(names) != len(first) else first
            shown = session.run(made, dict(zip(names, map(numpy.asarray, values))))
        job.nodes.update(zip(made, shown))
        options.graph_optimization_level = level
        feed_onnx(job, ort, options, onnx)
    except Exception as error:
        job.notes["nodes"] = one_line(error)


def feed_onnx(job, ort, options, onnx):
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
        fed = dict(zip([value.name for value in session.get_inputs() if not value.name.endswith("__given")], map(numpy.asarray, first)))
        fed.update({name + "__given": value for name, value in given.items()})
        values = session.run([*given, *told], fed)
    job.alone = dict(zip(given, values)) | {f"output.{i}": value for i, value in enumerate(values[len(given):])}


RUNTIMES = {
    "torch.jit": torch_jit,
    "torch.export": torch_export,
    "torch.compile": torch_compile,
    "executorch": executorch,
    "onnxruntime": onnx_runtime(False),
    "onnxruntime-optimized": onnx_runtime(True),
}


def one_line(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{type(error).__name__}: {text}"[:400]


def as_array(value):
    if hasattr(value, "detach"):
        value = value.detach()
        return (value.float() if value.is_floating_point() else value).contiguous().numpy()
    return None if value is None else numpy.asarray(value)


OUTPUTS_ONLY = ("torch.jit", "torch.compile", "executorch")  # that show no value in between


def main():
    job = Job(sys.argv[1])
    done = {}
    try:
        results = RUNTIMES[job.text["runtime"]](job)
        if job.text["runtime"] in OUTPUTS_ONLY:
            job.notes["compared"] = "outputs only: this runtime shows no value in between"
        outputs = {}
        for call, values in enumerate(results):
            for index, value in enumerate(values):
                array = as_array(value)
                if array is not None and array.dtype.kind in "fiub":
                    outputs[f"{call}.{index}"] = array
        done["outputs"] = len(results[0]) if results else 0
        for name, arrays in (("outputs.npz", outputs), ("nodes.npz", job.nodes), ("alone.npz", job.alone)):
            if arrays:
                numpy.savez(job.folder / name, **arrays)
    except Missing as error:
        done["missing"] = str(error)
    except Exception as error:
        done["error"] = one_line(error)
    done["versions"] = job.versions
    done["notes"] = job.notes
    (job.folder / "done.json").write_text(json.dumps(done))


if __name__ == "__main__":
    main()
