# SPDX-License-Identifier: Apache-2.0
"""Runs the built program and the test functions of the calling module; makes small models and data."""

import contextlib
import hashlib
import json
import math
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path

PROGRAM = os.environ["QUANTSCOPE"]
SOURCE = Path(os.environ["QUANTSCOPE_SOURCE"])
CONFIG = tempfile.TemporaryDirectory()  # what this process's runs remember: none is another test's
os.environ["XDG_CONFIG_HOME"] = CONFIG.name
ALL = "--all" in sys.argv  # whether to run what `in_full` marks as well
# With VNNI kernels add up products of bytes exactly; without, sums of two saturate in 16 bits, unless one has 7 bits.
EIGHT_BITS = "avx512_vnni" in Path("/proc/cpuinfo").read_text()
AMIDST = r"calibrate: batch (\d\d|[2-9]) of"  # the progress of a calibration that has seen a batch


def run(*words, timeout=300, env=None):
    """The finished process of `quantscope WORDS`, with text output."""
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **(env or {})}, check=False)


def run_good(*words, **options):
    """The standard output of a run that must succeed."""
    done = run(*words, **options)
    assert done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stderr}"
    return done.stdout


def run_json(*words):
    """The one document a run prints with --json."""
    return json.loads(run_good(*words, "--json"))


def expect_bad(*words, contains=(), out=None, code=1):
    """A run that must fail with one line on stderr naming every word of `contains`, and leave no file."""
    done = run(*words)
    lines = done.stderr.splitlines()
    assert done.returncode == code, f"{words}: exit {done.returncode} instead of {code}\n{done.stderr}"
    assert len(lines) == 1 and lines[0].startswith("quantscope: "), f"{words}: not one line:\n{done.stderr}"
    assert done.stdout == "", f"{words}: stdout is not empty: {done.stdout[:200]}"
    for word in contains:
        assert str(word) in lines[0], f"{words}: '{word}' is not in: {lines[0]}"
    if out is not None:
        left = list(Path(out).rglob("*")) if Path(out).is_dir() else []
        assert left == [], f"{words}: left behind {left}"


def without(folder, package):
    """A Python that has all packages but this one."""
    (folder / "none" / package).mkdir(parents=True)
    (folder / "none" / package / "__init__.py").write_text(f"raise ModuleNotFoundError(\"No module named '{package}'\", name='{package}')\n")
    script = folder / f"python-without-{package}"
    script.write_text(f"#!/bin/sh\nPYTHONPATH={folder / 'none'} exec {sys.executable} \"$@\"\n")
    script.chmod(0o755)
    return script


def interrupted(words, progress, how=signal.SIGINT, within=60):
    """(exit status, last line) of a run that gets the signal as soon as its progress, which it shows on a terminal, fits the
    regular expression, however slow this machine is; it must end within so many seconds."""
    terminal, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown, asked = "", None
    while True:
        try:
            shown += os.read(terminal, 65_536).decode()
        except OSError:  # the other end is closed
            break
        if not asked and re.search(progress, shown):
            process.send_signal(how)
            asked = time.monotonic()
    os.close(terminal)
    code = process.wait(60)
    assert asked, f"the run ended before it came to '{progress}': {shown}"
    assert time.monotonic() - asked < within, f"it went on for {time.monotonic() - asked} s"
    return code, re.split(r"[\r\n]+|\x1b\[K", shown.rstrip())[-1]


@contextlib.contextmanager
def mounted(place, options):
    """A temporary file system at the folder while the context lasts: True; False where this user can mount none."""
    is_mounted = os.geteuid() == 0 and not subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", place], capture_output=True, check=False).returncode
    if not is_mounted:
        print("no file system can be mounted here")
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", place], check=True)


def keeping(outputs):
    """A command for `--eval` that keeps the .npz of outputs, which it is given, as that file."""
    return f"{sys.executable} -c \"import shutil, sys; shutil.copy(sys.argv[1], '{outputs}'); print(0)\""


def all_calls(model, calls):
    """What the model gives for all calls, output by output."""
    import torch

    with torch.no_grad():
        return [torch.cat(parts) for parts in zip(*(model(*call) for call in calls))]


def observed(values):
    """Scale and zero point that torch.ao's x86 observer finds for a value that was seen in these batches."""
    import torch.ao.quantization as ao

    observer = ao.get_default_qconfig("x86").activation()
    for value in values:
        observer(value)
    scale, zero_point = observer.calculate_qparams()
    return [float(scale)], [int(zero_point)]


def qparams(told):
    """Those that a document tells, as `observed` gives them."""
    import numpy

    return [float(numpy.float32(scale)) for scale in told["scale"]], told["zero_point"]


def sqnr(wanted, got):
    """How far the second tensor is from the first, in dB; 200 where they are the same."""
    noise = float(((wanted.double() - got.double()) ** 2).sum())
    return 200.0 if noise == 0 else 10 * math.log10(float((wanted.double() ** 2).sum()) / noise)


def fake_quantize(value, quantization):
    """Quantize and dequantize with one entry of a result document, by PyTorch's own reference operators. As in
    torch.ao's converted models the integers reach over the whole storage type: quant_min and quant_max shape the scale."""
    import torch
    import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

    stored = {"quint8": (0, 255, torch.uint8), "qint8": (-128, 127, torch.int8)}
    low, high, dtype = stored[quantization["dtype"]]
    operators = torch.ops.quantized_decomposed
    if len(quantization["scale"]) > 1:
        scale, zero_point = torch.tensor(quantization["scale"]), torch.tensor(quantization["zero_point"])
        settings = (scale, zero_point, quantization["axis"], low, high, dtype)
        return operators.dequantize_per_channel(operators.quantize_per_channel(value, *settings), *settings)
    settings = (quantization["scale"][0], quantization["zero_point"][0], low, high, dtype)
    return operators.dequantize_per_tensor(operators.quantize_per_tensor(value, *settings), *settings)


def write_recipe(folder, **keys):
    """The path of a recipe with these keys."""
    path = folder / "recipe.json"
    path.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, **keys}))
    return path


def by_name(document):
    """The nodes of a document by their names."""
    return {node["name"]: node for node in document["nodes"]}


def export_model(model, example, path, dynamic=True, train=False):
    """torch.export of a model, in evaluation unless it is to train, to `path`; the first dimension of every input is dynamic."""
    import torch

    model.train(train)
    shapes = None
    if dynamic:
        batch = torch.export.Dim("batch", min=1, max=1024)
        shapes = tuple({0: batch} for _ in example)
    torch.export.save(torch.export.export(model, example, dynamic_shapes=shapes, strict=True), path)


def with_record(source, target, name, change):
    """The archive with one record changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            new.writestr(zipfile.ZipInfo(info.filename), change(content) if info.filename.endswith(name) else content)
    return target


def pairs(first, second):
    """All pairs with --all; else as many as show each member of both once."""
    if ALL:
        return [(a, b) for a in first for b in second]
    first, second = list(first), list(second)
    return [(first[i % len(first)], second[i % len(second)]) for i in range(max(len(first), len(second)))]


def in_full(test):
    """Marks a test function that runs with --all alone."""
    test.in_full = True
    return test


def kept(name, key, make):
    """A file of this name that is made once for a build folder, by make(path). `key` tells all that decides what it holds."""
    place = Path(PROGRAM).resolve().parents[1] / "tests" / "kept" / hashlib.sha256(repr(key).encode()).hexdigest()
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            (Path(folder) / "made").mkdir()
            make(Path(folder) / "made" / name)
            try:
                (Path(folder) / "made").rename(place)
            except OSError:  # another process was quicker
                assert place.exists()
    return place / name


def main(module):
    """Runs every `test_*` function of the module in a folder of its own and tells its seconds; exits 1 when one fails."""
    failed = 0
    tests = [(name, f) for name, f in vars(sys.modules[module]).items()
             if name.startswith("test_") and (ALL or not hasattr(f, "in_full"))]
    for name, test in tests:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Path(folder))
                print(f"PASS   {name} ({time.monotonic() - began:.1f} s)", flush=True)
            except Exception:  # every failure is reported, then the next test runs
                failed += 1
                print(f"FAIL!  {name}\n{traceback.format_exc()}", flush=True)
    print(f"Totals: {len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not tests else 0)
