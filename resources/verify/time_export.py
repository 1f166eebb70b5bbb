# SPDX-License-Identifier: Apache-2.0
"""Times the float and the int8 form of a model in one runtime, for `quantscope verify --speed`: `speed`, in the process that ran the file.

Both models are called in turn in this one process, so that what else the machine does meets both alike. What Inductor and ExecuTorch made of the
file to run it is timed, not made again.
"""
import json
import re
import statistics
import time

from run_export import Missing, arguments, loaded_program, need, one_line

WARM_UP, MOST, SECONDS, PROFILED = 3, 51, 3.0, 15
LEAST_SECONDS = 1.0  # where running the file took less
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


def usual(events, calls):
    """(name, seconds, how often) of one of the calls. Medians: another program may have had the processor for once."""
    taken = {}
    for name, spent in events:
        taken.setdefault(name, []).append(spent)
    return [(name, statistics.median(all_of) * len(all_of) / calls, len(all_of) / calls) for name, all_of in taken.items()]


class TorchScript:
    def __init__(self, job):
        self.torch = torch = need("torch")  # set up by the run
        flat = next(iter(job.calls(lambda array: torch.from_numpy(array.copy()))))
        self.args, self.kwargs = arguments(job, flat)

    def load(self, path):
        return self.caller(self.torch.jit.load(path).eval())

    def caller(self, module):
        def call():
            with self.torch.no_grad():
                module(*self.args, **self.kwargs)

        return call

    def operators(self, call, calls):
        """(name, seconds, how often) of one call, from so many."""
        with self.torch.profiler.profile(activities=[self.torch.profiler.ProfilerActivity.CPU]) as seen:
            for _ in range(calls):
                call()
        return usual(((e.name, e.self_cpu_time_total / 1e6) for e in seen.events() if "::" in e.name or "cpp_fused" in e.name), calls)


class Compiled(TorchScript):
    """What Inductor makes of both models; a kernel that it wrote itself is known by its name."""

    def load(self, path):
        import inductor_run

        inductor_run.name_kernels()
        call = self.caller(inductor_run.compiled_module(self.torch, loaded_program(path, self.torch), {}))
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

        notes, self.job.notes = self.job.notes, {}  # those of the file stand
        run = executorch_run.loaded(self.job, loaded_program(path, self.torch), f"{len(list(self.job.folder.glob('*.pte')))}.pte")
        self.job.notes = notes
        return self.caller(run)

    def caller(self, run):
        return lambda: run(self.flat)

    def operators(self, call, calls):
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
        return session, self.job.fed([value.name for value in session.get_inputs()], self.flat)

    def load(self, path):
        session, inputs = self.session(path)

        def call():
            session.run(None, inputs)

        self.opened[call] = path
        return call

    def operators(self, call, calls):
        session, inputs = self.session(self.opened[call], True)
        for _ in range(calls + 1):
            session.run(None, inputs)
        with open(session.end_profiling()) as file:
            events = [e for e in json.load(file) if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]
        a_call = len(events) // (calls + 1)  # the first one allocates
        return usual(((e["args"]["op_name"], e["dur"] / 1e6) for e in events[a_call:]), calls)


RUNTIMES = {"torch.jit": TorchScript, "torch.compile": Compiled, "executorch": ExecuTorch, "onnxruntime-optimized": Onnx}


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def alternate(floating, integer, available):
    """Seconds of calls one after the other, for so many seconds; who begins changes from round to round."""
    end = time.perf_counter() + min(available, SECONDS)
    for index in range(WARM_UP):
        if index == 0 or time.perf_counter() < end:
            floating(), integer()
    pairs = []
    while not pairs or (len(pairs) < MOST and time.perf_counter() < end):
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


def profiled(call_seconds, available):
    """How many calls the profiler may watch."""
    return max(1, min(PROFILED, int(available / max(call_seconds, 1e-9))))


def measure(job, available):
    end = time.perf_counter() + available
    runtime = RUNTIMES[job.text["runtime"]](job)
    integer = runtime.load(job.file) if job.timed is None else runtime.caller(job.timed)
    floating = runtime.load(job.text["float_file"])
    pairs = alternate(floating, integer, max(end - time.perf_counter(), LEAST_SECONDS) / 2)
    float_seconds, int8_seconds = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    share = max(end - time.perf_counter(), LEAST_SECONDS / 2) / 2
    operators = by_kind(runtime.operators(floating, profiled(float_seconds, share)), runtime.operators(integer, profiled(int8_seconds, share)))
    return {"float_ms": float_seconds * 1e3, "int8_ms": int8_seconds * 1e3, "speedup": statistics.median(a / b for a, b in pairs),
            "rounds": len(pairs), "operators": operators}


def speed(job, available):
    """{"float_ms", "int8_ms", "speedup", "rounds", "operators": [{"kind", "float_ms", "int8_ms", "fell_back_ms", "fell_back"}]} or {"error"}.

    Takes no more than so many seconds, but for opening the float model and six calls of each."""
    try:
        return measure(job, available)
    except Missing as error:
        return {"error": f"Python's package '{error}' is not installed"}
    except Exception as error:  # the model may hold what the runtime cannot run
        return {"error": one_line(error)}
