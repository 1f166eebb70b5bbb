# SPDX-License-Identifier: Apache-2.0
"""Runs one exported model in one runtime, in a process of its own, for `quantscope verify`.

usage: run_export.py FOLDER

FOLDER holds job.json ({"runtime", "file", "input_tree", "threads", "engine", "packages", "tools", "libraries", "scripts", "keeps_state", "fresh_state", "float_file",
"outputs", "calls": [[{"array": NAME} (of integers with "scale" and "zero_point") or {"value": literal}, ...]]}) and inputs.npz; given.npz, where it is there, the integers that our own run made of the
first call, by node. "keeps_state": the model changes buffers of its own; "fresh_state": each call starts from the state that the file holds, else
from what the call before left. "float_file", where it is there: the float model, to time the file against (time_export.py). "outputs": the places of those that are not None. Leaves outputs.npz
(arrays "CALL.OUTPUT"), alone.npz (what each node gives where it is fed those of given.npz), nodes.npz (the integers that each quantize of the first
call made, by the name of its node, where the runtime can tell) and done.json ({"versions", "notes", "speed", "error", or what `lacking` says}); step.txt says meanwhile at what it is.
"""
import contextlib
import importlib
import json
import logging
import re
import sys
import time
from pathlib import Path

STARTED = time.monotonic()

try:
    import numpy
except ImportError:  # `need_all` says so
    numpy = None

sys.path.insert(0, str(Path(__file__).resolve().parent))  # an isolated Python leaves it out
from needs import Missing, lacking, need, need_all


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
        self.total, self.before, self.stage = len(self.text["calls"]), 0, ""
        self.timed = None  # the file as it was run, where opening it again would take long

    @contextlib.contextmanager
    def beside(self, onnx, model):
        """A changed model as a session takes it: in memory, or as a file with its tensors beside it where a message would be too large."""
        if model.ByteSize() < 1_900_000_000:
            yield model.SerializeToString()
            return
        path = self.folder / "changed.onnx"
        onnx.save(model, path, save_as_external_data=True, location="changed.data")
        yield str(path)

    def at(self, step):
        """What the user is shown while it lasts."""
        (self.folder / "step.txt").write_text(step)

    def calls(self, make):
        for number, call in enumerate(self.text["calls"], self.before + 1):
            self.at(f"{self.stage}call {number} of {self.total}")
            yield [self.tensor(make, item) if "array" in item else item["value"] for item in call]

    def tensor(self, make, item):
        made = make(self.arrays[item["array"]])
        if "scale" not in item:
            return made
        return need("torch")._make_per_tensor_quantized_tensor(made, item["scale"], item["zero_point"])

    def fed(self, names, flat):
        """The flat inputs by the names that an ONNX file gives them; it has none for those that are no array (None, numbers that were fixed)."""
        if len(names) != len(flat):
            flat = [value for value, item in zip(flat, self.text["calls"][0]) if "array" in item]
        return dict(zip(names, map(numpy.asarray, flat)))

    def placed(self, outputs):
        """An ONNX file's outputs in the places of the model's: it has none that are None."""
        places = self.text.get("outputs", [])
        if len(places) != len(outputs):
            return outputs
        row = [None] * (max(places, default=-1) + 1)
        for place, value in zip(places, outputs):
            row[place] = value
        return row

    def starts_anew(self, call):
        """Whether the model's state must be put back before this call."""
        return call > 0 and self.text.get("fresh_state", False)


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


class SavedBuffers:
    """A module's buffers as the file holds them."""

    def __init__(self, job, torch, module):
        self.torch, self.module = torch, module
        self.values = {name: value.detach().clone() for name, value in module.named_buffers()} if job.text.get("keeps_state") else {}

    def put_back(self):
        with self.torch.no_grad():
            for name, value in self.module.named_buffers():
                if name in self.values:
                    value.copy_(self.values[name])
        return self.module


def run_torch(job, module, torch, again=None):
    """`again` gives the module as the file holds it."""
    from torch.utils import _pytree as pytree

    results = []
    with torch.no_grad():
        for flat in job.calls(lambda array: torch.from_numpy(array.copy())):
            if again and job.starts_anew(len(results)):
                module = again()
            args, kwargs = arguments(job, flat)
            given = [value.clone() if isinstance(value, torch.Tensor) else None for value in flat]
            results.append([leaf for leaf in pytree.tree_leaves(module(*args, **kwargs))])
            if any(before is not None and not torch.equal(*(one if one.is_quantized else one.nan_to_num() for one in (before, value)))
                   for before, value in zip(given, flat)):
                job.notes["inputs"] = "it writes into the tensors that it is given: hand it a copy of what you need afterwards"
    return results


def torch_jit(job):
    torch = torch_runtime(job)
    if job.text["engine"] in torch.backends.quantized.supported_engines:
        torch.backends.quantized.engine = job.text["engine"]

    def opened():
        return torch.jit.load(job.file).eval()

    return run_torch(job, opened(), torch, opened)


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

    saved = SavedBuffers(job, torch, program.module())
    results = run_torch(job, saved.module, torch, saved.put_back)
    saved.put_back()
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
    if "float_file" in job.text:
        inductor_run.name_kernels()
    compiled = job.timed = inductor_run.compiled_module(torch, program, job.notes)
    saved = SavedBuffers(job, torch, compiled)
    results, calls = [], job.text["calls"]
    for index in range(len(calls)):
        job.before, job.stage = index, "" if index else "compiling, "
        job.text["calls"] = calls[index:index + 1]
        if job.starts_anew(index):
            saved.put_back()
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

    call = job.timed = executorch_run.loaded(job, loaded_program(job.file, torch), "model.pte")
    results = []
    with torch.no_grad():
        for flat in job.calls(lambda array: torch.from_numpy(array.copy())):
            if job.starts_anew(len(results)):
                call = executorch_run.opened(job.folder / "model.pte")
            results.append([tensor.clone() if hasattr(tensor, "clone") else tensor for tensor in call(flat)])
    return results


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
        import onnx_run

        return onnx_run.outputs(job, ort, optimised, one_line)

    return run


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
        if value.is_quantized:  # an edit returns it
            value = value.dequantize()
        return (value.float() if value.is_floating_point() else value).contiguous().numpy()
    return None if value is None else numpy.asarray(value)


OUTPUTS_ONLY = ("torch.jit", "torch.compile", "executorch")  # that show no value in between


def main():
    need_all(Path(sys.argv[1]))
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
        done.update(lacking([str(error)]))
    except Exception as error:
        done["error"] = one_line(error)
    done["versions"] = job.versions
    done["notes"] = job.notes
    leave(job, done)  # before anything is timed: what the file gives counts, whatever becomes of that
    if "float_file" in job.text and not {"missing", "error"} & set(done):
        import time_export

        leave(job, done | {"speed": time_export.speed(job, time.monotonic() - STARTED)})


def leave(job, done):
    (job.folder / "done.json").write_text(json.dumps(done))


if __name__ == "__main__":
    main()
