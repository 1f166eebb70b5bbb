# SPDX-License-Identifier: Apache-2.0
"""Times the float and the int8 form of a model in one runtime, for `quantscope verify --speed`.

usage: time_export.py FOLDER

FOLDER holds job.json as for run_export.py, with "float_file" beside "file", and inputs.npz. Both models are called in turn in this one
process, so that what else the machine does meets both alike. Leaves done.json: {"speed": {"float_ms", "int8_ms", "speedup", "rounds",
"operators": [{"kind", "float_ms", "int8_ms", "fell_back_ms", "fell_back"}]}}, or {"missing"} or {"error"}.
"""
import json
import re
import statistics
import sys
import time

import numpy
from run_export import Job, Missing, arguments, loaded_program, need, one_line, torch_runtime

WARM_UP, FEWEST, MOST, SECONDS, PROFILED = 3, 7, 51, 3.0, 15
QUANTIZE, LAYOUT, LOOPS = "quantize and dequantize", "layout", "fused loops"
KINDS = (
    (QUANTIZE, re.compile(r"cpp_fused\w*quantize|(^|::)(dynamic)?(quantize|dequantize)(linear|_per_\w+)?$", re.I)),
    (LAYOUT, re.compile(r"(^|::)(contiguous|copy_|clone|_to_copy|to|permute|transpose|reorder(in|out)put|nhwc\w*|cast)$", re.I)),
    (LOOPS, re.compile(r"cpp_fused")),
    ("convolution", re.compile(r"conv", re.I)),
    ("matrix product", re.compile(r"linear|matmul|gemm|addmm|(^|::)b?mm$|baddbmm", re.I)),
    ("attention", re.compile(r"attention", re.I)),
    ("recurrent", re.compile(r"lstm|gru|rnn", re.I)),
)
MULTIPLIES = ("convolution", "matrix product", "attention", "recurrent")
INTEGER = re.compile(r"quantized::|onednn::q|qlinear|integer|qgemm|qattention|nbits|dynamicquant", re.I)
# Of the operators that torch's profiler shows within each other, those that stand for one of the model's.
COUNTED = re.compile(r"^aten::(convolution|addmm|mm|bmm|baddbmm|lstm|gru|scaled_dot_product_attention)$|^(?!aten::)")


def kind_of(name):
    return next((kind for kind, pattern in KINDS if pattern.search(name)), name.split("::")[-1].lower())


def usual(events):
    """(name, seconds, how often) of one call. Medians: another program may have had the processor for once."""
    taken = {}
    for name, spent in events:
        taken.setdefault(name, []).append(spent)
    return [(name, statistics.median(all_of) * len(all_of) / PROFILED, len(all_of) / PROFILED) for name, all_of in taken.items()]


class TorchScript:
    def __init__(self, job):
        self.torch = torch = torch_runtime(job)
        if job.text["engine"] in torch.backends.quantized.supported_engines:
            torch.backends.quantized.engine = job.text["engine"]
        flat = next(iter(job.calls(lambda array: torch.from_numpy(array.copy()))))
        self.args, self.kwargs = arguments(job, flat)

    def load(self, path):
        module = self.torch.jit.load(path).eval()

        def call():
            with self.torch.no_grad():
                module(*self.args, **self.kwargs)

        return call

    def operators(self, call):
        """(name, seconds, how often) of one call."""
        with self.torch.profiler.profile(activities=[self.torch.profiler.ProfilerActivity.CPU]) as seen:
            for _ in range(PROFILED):
                call()
        return usual((e.name, e.self_cpu_time_total / 1e6) for e in seen.events() if "::" in e.name or "cpp_fused" in e.name)


class Compiled(TorchScript):
    """What Inductor makes of both models; a kernel that it wrote itself is known by its name."""

    def load(self, path):
        import inductor_run
        from torch._inductor import config

        config.cpp.enable_kernel_profile = True
        module = inductor_run.compiled_module(self.torch, loaded_program(path, self.torch), {})

        def call():
            with self.torch.no_grad():
                module(*self.args, **self.kwargs)

        call()
        return call


class ExecuTorch(TorchScript):
    """Both models lowered with the XNNPACK delegate; its runtime gives no times by operator, so what was left outside is told."""

    def __init__(self, job):
        super().__init__(job)
        need("executorch.exir"), need("executorch.runtime")
        self.job = job
        self.flat = next(iter(job.calls(lambda array: self.torch.from_numpy(array.copy()))))

    def load(self, path):
        import executorch_run

        run = executorch_run.loaded(self.job, loaded_program(path, self.torch), f"{len(list(self.job.folder.glob('*.pte')))}.pte")
        return lambda: run(self.flat)

    def operators(self, call):
        return []


class Onnx:
    def __init__(self, job):
        self.ort, self.job = need("onnxruntime"), job
        self.flat = next(iter(job.calls(lambda array: array)))
        self.opened = {}

    def session(self, path, profile=False):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = self.job.text["threads"]
        options.log_severity_level = 3
        if profile:
            options.enable_profiling = True
            options.profile_file_prefix = str(self.job.folder / "profile")
        session = self.ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        values = self.flat
        if len(names) != len(values):
            values = [v for v, item in zip(values, self.job.text["calls"][0]) if "array" in item]
        return session, dict(zip(names, map(numpy.asarray, values)))

    def load(self, path):
        session, inputs = self.session(path)

        def call():
            session.run(None, inputs)

        self.opened[call] = path
        return call

    def operators(self, call):
        session, inputs = self.session(self.opened[call], True)
        for _ in range(PROFILED + 1):
            session.run(None, inputs)
        with open(session.end_profiling()) as file:
            events = [e for e in json.load(file) if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]
        a_call = len(events) // (PROFILED + 1)  # the first one allocates
        return usual((e["args"]["op_name"], e["dur"] / 1e6) for e in events[a_call:])


RUNTIMES = {"torch.jit": TorchScript, "torch.compile": Compiled, "executorch": ExecuTorch, "onnxruntime-optimized": Onnx}


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def alternate(floating, integer):
    """Seconds of calls one after the other; who begins changes from round to round."""
    for _ in range(WARM_UP):
        floating(), integer()
    pairs, end = [], time.perf_counter() + SECONDS
    while len(pairs) < FEWEST or (len(pairs) < MOST and time.perf_counter() < end):
        if len(pairs) % 2:
            second, first = seconds(integer), seconds(floating)
        else:
            first, second = seconds(floating), seconds(integer)
        pairs.append((first, second))
    return pairs


def by_kind(float_operators, int8_operators):
    kinds = {}
    for column, operators in (("float_ms", float_operators), ("int8_ms", int8_operators)):
        for name, taken, count in operators:
            kind = kind_of(name)
            entry = kinds.setdefault(kind, {"kind": kind, "float_ms": 0.0, "int8_ms": 0.0, "fell_back_ms": 0.0, "fell_back": 0.0})
            entry[column] += taken * 1e3
            if column == "int8_ms" and kind in MULTIPLIES and not INTEGER.search(name):
                entry["fell_back_ms"] += taken * 1e3
                entry["fell_back"] += count if COUNTED.search(name) else 0
    for entry in kinds.values():
        entry["fell_back"] = round(entry["fell_back"])
    return sorted(kinds.values(), key=lambda entry: -max(entry["float_ms"], entry["int8_ms"]))


def measure(job):
    runtime = RUNTIMES[job.text["runtime"]](job)
    floating, integer = runtime.load(job.text["float_file"]), runtime.load(job.file)
    pairs = alternate(floating, integer)
    return {"float_ms": statistics.median(a for a, _ in pairs) * 1e3, "int8_ms": statistics.median(b for _, b in pairs) * 1e3,
            "speedup": statistics.median(a / b for a, b in pairs), "rounds": len(pairs),
            "operators": by_kind(runtime.operators(floating), runtime.operators(integer))}


def main():
    job = Job(sys.argv[1])
    done = {}
    try:
        done["speed"] = measure(job)
    except Missing as error:
        done["missing"] = str(error)
    except Exception as error:  # the model may hold what the runtime cannot run
        done["error"] = one_line(error)
    (job.folder / "done.json").write_text(json.dumps(done))


if __name__ == "__main__":
    main()
