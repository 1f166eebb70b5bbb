# SPDX-License-Identifier: Apache-2.0
"""Small files that took a process down, or all memory, or never ended: each is one plain line within seconds."""

import hashlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import torch
from torch import nn

from harness import PROGRAM, main, pairs, run, run_good, with_record, write_recipe
from models import residual

WORDS_OF_LIBRARIES = ("c10::", "INTERNAL ASSERT", "report a bug", "stoll", "map::at", "json.exception", "/pytorch/", "torch/csrc", "std::")


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (80 << 30, 80 << 30))  # addresses: the program reserves many
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def refused(*words, seconds=60):
    """One plain line, exit code 1, no signal."""
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=seconds, check=False, preexec_fn=limits)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and len(lines) == 1, (words, done.returncode, done.stderr[-500:])
    assert not [word for word in WORDS_OF_LIBRARIES if word in lines[0]] and lines[0].isprintable(), lines[0]
    return lines[0]


class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.fc(x))


def scripted(folder):
    torch.jit.save(torch.jit.script(Rows().eval()), folder / "rows.pt")
    return folder / "rows.pt"


def test_code_that_crashes_the_reader(folder):
    """Constants that LibTorch computes while it compiles, and code nested in many ways."""
    good = scripted(folder)
    run_good("inspect", good)
    deep = 100_000
    expressions = {
        "modulo": "1 % 0", "least": "-9223372036854775807 - 1", "divided": "(-9223372036854775807 - 1) // -1", "shift": "1 // 0",
        "brackets": "(" * deep + "1" + ")" * deep, "lists": "[" * deep + "]" * deep, "not": "not " * deep + "True", "minus": "-" * deep + "1",
        "calls": "x" + ".t()" * deep, "indices": "x" + "[0]" * deep, "plus": " + ".join(["1"] * deep), "and": " and ".join(["True"] * deep),
        "or": " or ".join(["True"] * deep), "equal": " == ".join(["1"] * deep), "power": " ** ".join(["1"] * deep), "dots": "self" + ".fc" * deep,
        "ternary": "1 if True else " * deep + "1", "remainder": "torch.remainder(1, 0)", "floor": "torch.floordiv(-9223372036854775807 - 1, -1)", "gcd": "torch.gcd(-9223372036854775807 - 1, -1)",
        "zfill": "\"a\".zfill(100000000000)", "ljust": "\"a\".ljust(100000000000)", "times": "\"ab\" * 99999999999",
    }
    counted = ("modulo", "least", "divided", "shift", "remainder", "floor", "gcd")

    def tried(name, line):
        used = f"x = torch.unsqueeze(x, {line})" if name in counted else f"zz = {line}"
        bad = with_record(good, folder / f"{name}.pt", ".py", lambda text: text.replace(b"    return torch.relu", f"    {used}\n    return torch.relu".encode(), 1))
        started = time.monotonic()
        done = subprocess.run([PROGRAM, "inspect", str(bad)], capture_output=True, text=True, errors="replace", timeout=120, check=False, preexec_fn=limits)
        assert done.returncode in (0, 1), (name, done.returncode, done.stderr[-300:])
        lines = done.stderr.splitlines()
        if done.returncode == 1:
            assert len(lines) == 1 and not [word for word in WORDS_OF_LIBRARIES if word in lines[0]], (name, lines[:3])
        return done.returncode, time.monotonic() - started, lines
    results = {name: tried(name, line) for name, line in expressions.items()}
    assert results["modulo"][0] == 1, results["modulo"]
    for name in ("brackets", "not", "calls", "indices"):
        assert results[name][0] == 1, (name, results[name])
    assert max(seconds for _, seconds, _ in results.values()) < 60, results


def test_trees_and_paths_in_a_program(folder):
    """Deep or wide JSON where a program holds trees and names: no quadratic memory."""
    _, path, _, _ = residual(folder)

    def changed(key, value):
        def change(content):
            program = json.loads(content)
            def walk(part):
                if isinstance(part, dict):
                    for name in part:
                        part[name] = value if name == key and isinstance(part[name], str) else part[name]
                        walk(part[name])
                elif isinstance(part, list):
                    for item in part:
                        walk(item)
            walk(program)
            return json.dumps(program).encode()
        return change

    leaf = {"type": None, "context": None, "children_spec": []}
    for depth in (150, 3000):
        text = json.dumps(leaf)
        for _ in range(depth):
            text = '{"type":"builtins.tuple","context":"null","children_spec":[' + text + "]}"
        for key in ("in_spec", "out_spec"):
            bad = with_record(path, folder / "tree.pt2", "models/model.json", changed(key, f"[1,{text}]"))
            done = subprocess.run([PROGRAM, "inspect", str(bad)], capture_output=True, text=True, timeout=60, check=False, preexec_fn=limits)
            assert done.returncode in (0, 1) and len(done.stderr.splitlines()) <= 1, (depth, key, done.returncode, done.stderr[-300:])
    long = ";".join([",".join(("L__self__", ".".join(["block"] * 20_000), "torch.nn.modules.container.Sequential"))] * 3)
    bad = with_record(path, folder / "path.pt2", "models/model.json", changed("nn_module_stack", long))
    done = subprocess.run([PROGRAM, "inspect", str(bad)], capture_output=True, text=True, timeout=60, check=False, preexec_fn=limits)
    assert done.returncode in (0, 1), done.returncode


def saved(folder, pickle):
    """A file of torch.save around a pickle of our own."""
    torch.save((torch.zeros(2),), folder / "good.pt")
    return with_record(folder / "good.pt", folder / "bad.pt", "data.pkl", lambda _: pickle)


def test_pickles_that_hold_themselves(folder):
    _, path, _, _ = residual(folder)
    head, bombs = b"\x80\x02", {}
    bombs["itself"] = head + b"]q\x00h\x00a."
    bombs["deep"] = head + b"]" * 200_000 + b"a" * 199_999 + b"."
    bombs["tuples"] = head + b")" + b"\x85" * 200_000 + b"."
    bombs["memo"] = head + b"]" + b"".join(b"q" + bytes([i]) + b"h" + bytes([i]) + b"\x86" for i in range(60)) + b"."
    bombs["cut"] = head + b"(" * 50_000
    for name, pickle in bombs.items():
        line = refused("quantize", path, "--data", saved(folder, pickle), "--device", "cpu", "--out", folder / "out")
        assert "bad.pt" in line, (name, line)
        embedded = with_record(path, folder / "bad.pt2", "sample_inputs/model.pt", lambda _: (folder / "bad.pt").read_bytes())
        refused("quantize", embedded, "--data", "sample", "--device", "cpu", "--out", folder / "out")


def test_keys_that_are_no_names(folder):
    _, path, _, _ = residual(folder)
    for key in (None, (1, 2)):
        torch.save({key: torch.ones(1, 4)}, folder / "keys.pt")
        line = refused("quantize", path, "--data", folder / "keys.pt", "--device", "cpu", "--out", folder / "out")
        assert "keys.pt" in line and "neither a text nor a number" in line, line


def test_inputs_that_are_no_files(folder):
    """Pipes and devices are refused at once, wherever a file is read."""
    _, path, npz, _ = residual(folder)
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    for source in (fifo, "/dev/zero"):
        for words in (("inspect", source), ("plan", path, "--recipe", source), ("backends", "check", source), ("quantize", path, "--data", source, "--out", folder / "out"),
                      ("compare", path, "--result", source, "--data", npz)):
            started = time.monotonic()
            assert "pipe" in refused(*words, seconds=30), words
            assert time.monotonic() - started < 20
    recipe = write_recipe(folder, backend=str(fifo))
    refused("plan", path, "--recipe", recipe, seconds=30)
    images = folder / "images"
    images.mkdir()
    os.mkfifo(images / "a.png")
    refused("quantize", path, "--data", images, "--out", folder / "out", seconds=30)


def test_unreadable_result_is_not_absent(folder):
    result = folder / "out" / "result.json"
    result.parent.mkdir()
    os.mkfifo(result)
    line = refused("report", result.parent, "--html", folder / "a.html", seconds=30)
    assert "there is no result" not in line and "pipe" in line, line
    result.unlink()
    result.write_text("[" * 100_000)
    assert "not a result" in refused("report", result.parent, "--html", folder / "a.html")


def test_patterns(folder):
    """Expressions that overflowed a stack, or took time without end."""
    _, path, _, _ = residual(folder)
    deep = "(" * 20_000 + "a" + ")" * 20_000
    for pattern, words in (("a(?=b)", "lookaround"), (r"(a)\1", "lookaround"), ("(a{1000}){1000}", "too large"), ("(", "regular expression")):
        recipe = write_recipe(folder, mapping={"global": "x86", "module_name_regex": [[pattern, None]]})
        assert words in refused("plan", path, "--recipe", recipe), pattern
    recipe = write_recipe(folder, mapping={"global": "x86", "module_name_regex": [[deep, None], ["(a+)+$", None], ["(?:" + "(x|" * 100 + "y" + ")" * 100 + ")*z", None]]})
    assert run("plan", path, "--recipe", recipe, timeout=60).returncode == 0


def test_control_characters(folder):
    """Names of a file reach neither the terminal's colours nor its title, and lines end."""
    _, path, _, _ = residual(folder)
    for text in ("\x1b[31mred", "a\nb\rc", "\u202eevil", "\x07" * 10, "long " * 20_000):
        recipe = write_recipe(folder, backend=text)
        line = refused("plan", path, "--recipe", recipe)
        assert len(line) < 5000, len(line)
        line = refused("inspect", folder / (text[:40] + ".pt2"))


def test_truncated_images(folder):
    """What ends early is told for every kind of image, whole ones are read."""
    from PIL import Image

    class Mean(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)

        def forward(self, x):
            return self.conv(x)

    torch.export.save(torch.export.export(Mean().eval(), (torch.randn(1, 3, 16, 16),)), folder / "model.pt2")
    recipe = write_recipe(folder, calibration={"batch_size": 1, "preprocess": {"resize": 16, "crop": 16}})
    pixels = Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 32, 3), dtype=np.uint8))
    kinds = (("ppm", "RGB"), ("pgm", "L"), ("bmp", "RGB"), ("bmp", "L"), ("png", "RGB"))
    cuts = (lambda size: size - 1, lambda size: size - 64, lambda size: size // 2, lambda size: 70)
    for ending, kind in kinds:
        images = folder / f"{ending}{kind}"
        images.mkdir()
        whole = io.BytesIO()
        pixels.convert(kind).save(whole, {"ppm": "PPM", "pgm": "PPM", "bmp": "BMP", "png": "PNG"}[ending])
        image = images / f"a.{ending}"
        words = ("quantize", folder / "model.pt2", "--recipe", recipe, "--data", images, "--device", "cpu", "--export", "none", "--out", folder / "out")
        image.write_bytes(whole.getvalue())
        assert run(*words).returncode == 0, ending
        for size in (cut(len(whole.getvalue())) for one, cut in pairs(kinds, cuts) if one == (ending, kind)):
            image.write_bytes(whole.getvalue()[:size])
            assert f"a.{ending}" in refused(*words), (ending, kind, size)


def test_a_metric_ends_with_its_job(folder):
    """Ctrl-C ends --eval and what it started."""
    _, path, npz, _ = residual(folder)
    mark = folder / "running"
    script = folder / "metric.sh"
    script.write_text(f"echo $$ > {mark}\nsleep 300\n")
    process = subprocess.Popen([PROGRAM, "quantize", str(path), "--data", str(npz), "--device", "cpu", "--export", "none", "--out", str(folder / "out"),
                                "--eval", f"sh {script}"], stderr=subprocess.PIPE, text=True)
    while not (mark.exists() and mark.read_text().strip()):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1 and "cancelled" in errors, (process.returncode, errors)
    child = int(mark.read_text())
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}"):
            break
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{child}"), "the metric goes on"


def test_empty_layers(folder):
    """A linear over no features computes its bias: no division by its size."""
    class Empty(nn.Module):
        def __init__(self):
            super().__init__()
            self.none, self.fc = nn.Linear(0, 4), nn.Linear(4, 4)

        def forward(self, x):
            return self.fc(x) + self.none(x[:, :0])

    torch.export.save(torch.export.export(Empty().eval(), (torch.randn(8, 4),)), folder / "empty.pt2")
    np.savez(folder / "data.npz", x=np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32))
    done = run("quantize", folder / "empty.pt2", "--data", folder / "data.npz", "--device", "cpu", "--export", "none", "--out", folder / "out")
    assert done.returncode in (0, 1) and len(done.stderr.splitlines()) <= 3, (done.returncode, done.stderr)


def test_a_large_layer_takes_little_more_than_itself(folder):
    """64 MiB of weights: the peak of a whole run."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU()).eval()
    torch.export.save(torch.export.export(model, (torch.randn(8, 4096),)), folder / "wide.pt2")
    np.savez(folder / "wide.npz", x=np.random.default_rng(0).normal(size=(16, 4096)).astype(np.float32))
    run_good("quantize", folder / "wide.pt2", "--data", folder / "wide.npz", "--device", "cpu", "--out", folder / "out")
    peak = json.loads((folder / "out" / "result.json").read_text())["peak_rss_bytes"]
    small = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).eval()
    torch.export.save(torch.export.export(small, (torch.randn(8, 64),)), folder / "small.pt2")
    np.savez(folder / "small.npz", x=np.random.default_rng(0).normal(size=(16, 64)).astype(np.float32))
    run_good("quantize", folder / "small.pt2", "--data", folder / "small.npz", "--device", "cpu", "--out", folder / "small")
    base = json.loads((folder / "small" / "result.json").read_text())["peak_rss_bytes"]
    times = (peak - base) / (4096 * 4096 * 4)
    print(f"peak {peak / 1e6:.0f} MB, {times:.1f} times the layer beyond a small model's {base / 1e6:.0f} MB")
    assert times < 3.0, times  # 16 before the work was done in blocks


def test_numbers_that_nothing_holds(folder):
    _, path, _, _ = residual(folder)
    for text in ('{"format": "quantscope.recipe", "version": 1, "mapping": {"global": "x86"}, "calibration": {"batch_size": %s}}', "%s"):
        bad = folder / "recipe.json"
        bad.write_text(text % ("9" * 400))
        assert "too large" in refused("plan", path, "--recipe", bad)
    project = folder / "work.project.json"
    project.write_text('{"format": "quantscope.project", "version": %s, "model": "residual.pt2"}' % ("9" * 400))
    refused("plan", project)


def test_archives_that_only_grow(folder):
    """A record of 16 MB that unpacks to 16 GB, and records that share their bytes, are refused by their directory."""
    sys.path.insert(0, os.path.join(os.environ["QUANTSCOPE_SOURCE"], "tests", "fuzz"))
    import bombs

    _, path, _, _ = residual(folder)
    bomb = folder / "bomb.pt2"
    for told in (None, 0xFFFFFFF0):
        bomb.write_bytes(bombs.zip_bomb("residual/models/model.json", 256, told))
        assert "times its size" in refused("inspect", bomb)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda info: info.file_size)
    at = data.find(b"PK\x01\x02")
    while at >= 0:  # every name leads to the largest record
        data[at + 20:at + 28] = largest.compress_size.to_bytes(4, "little") + largest.file_size.to_bytes(4, "little")
        data[at + 42:at + 46] = largest.header_offset.to_bytes(4, "little")
        at = data.find(b"PK\x01\x02", at + 4)
    shared = folder / "shared.pt2"
    shared.write_bytes(data)
    refused("inspect", shared)


def test_code_that_never_compiles(folder):
    """A little code that takes LibTorch's compiler for ever is told after seconds of the processor."""
    good = scripted(folder)
    loops = "".join("    " + "  " * depth + "while True:\n" for depth in range(200)) + "    " + "  " * 200 + "zz = 1\n"
    for name, line in (("loops", loops), ("tuples", "    zz = " + "(" * 30 + "1" + ",)" * 30 + "\n")):
        bad = with_record(good, folder / f"{name}.pt", ".py", lambda text: text.replace(b"    return torch.relu", line.encode() + b"    return torch.relu", 1))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([PROGRAM, "inspect", str(bad)], capture_output=True, text=True, check=False, preexec_fn=limits)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode in (0, 1) and len(done.stderr.splitlines()) == done.returncode, (name, done.stderr[-500:])
        assert after.ru_utime - before.ru_utime < 12, (name, after.ru_utime - before.ru_utime)


def test_labels_of_runs_and_certificates_of_wrong_types(folder):
    """Other types than the program writes: a kept run is damaged, a certificate none."""
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out)
    project = folder / "work.project.json"
    project.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": str(path), "data": str(npz), "device": "cpu", "result": "out",
                                   "recipe": {"format": "quantscope.recipe", "version": 1}}))
    run_good("runs", project, "keep", "first")
    label = next((folder / "work.project.runs").glob("*/run.json"))
    sound = json.loads(label.read_text())
    for key, value in pairs(("format", "version", "name", "created", "note", "source", "named", "result", "decisions"),
                            ([], {"a": 1}, 7, None, "text", "9" * 400, 2**31, True)):
        label.write_text(json.dumps({**sound, key: value}))
        done = run("runs", project, "list")
        assert done.returncode in (0, 1) and len(done.stderr.splitlines()) <= 1, (key, value, done.stderr)
        assert not [word for word in WORDS_OF_LIBRARIES if word in done.stderr + done.stdout], (key, value, done.stderr)
    digest = hashlib.sha256((out / "result.json").read_bytes()).hexdigest()
    for verdicts in ([7], [[]], {"a": 1}, [{"runtime": "x", "versions": []}], [{"runtime": "x", "outputs": [1]}], [{"runtime": "x", "speed": [], "outputs": {"a": 3}}], 3, "text"):
        (out / "certificate.json").write_text(json.dumps({"format": "quantscope.certificate", "version": 1, "files": {"result.json": digest}, "verdicts": verdicts}))
        run_good("report", out, "--html", folder / "page.html")
    for text in ('{"files": []}', "[" * 100_000, '{"verdicts": [], "files": {"result.json": 7}}', "\xff"):
        (out / "certificate.json").write_bytes(text.encode("latin-1"))
        run_good("report", out, "--html", folder / "page.html")


if __name__ == "__main__":
    main(__name__)
