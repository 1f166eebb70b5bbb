# SPDX-License-Identifier: Apache-2.0
"""`verify` runs every export in its own runtime and finds what was changed."""

import functools
import html
import io
import json
import shutil
import sys
import tempfile
import types
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy
from harness import SOURCE, expect_bad, main, run, run_good, without

SAMPLES = SOURCE / "resources" / "samples"
MODEL, DATA, TEST = SAMPLES / "digits.pt2", SAMPLES / "calib.npz", SAMPLES / "test.npz"
EXPORTS = ["model.int8.ts.pt", "model.int8.pt2", "model.reference.pt2", "model.int8.onnx"]
EAGER = ["--runtime", "torch.jit,torch.export,onnxruntime"]
QUICKEST = ["--runtime", "onnxruntime"]  # where what matters is told of a file before any runtime starts


def quantized(folder, name="out", recipe=None):
    out = folder / name
    words = ["--recipe", recipe] if recipe else []
    run_good("quantize", MODEL, "--data", DATA, "--device", "cpu", "--export", "torchscript,pt2,pt2-reference,onnx", "--out", out, *words)
    return out


def verified(out, *words, python=sys.executable):
    """The certificate, its verdicts by file and runtime, and the finished process."""
    done = run("verify", out, "--data", TEST, "--python", python, "--json", *words)
    certificate = json.loads(done.stdout)
    return certificate, {(v["file"], v["runtime"]): v for v in certificate["verdicts"]}, done


@functools.cache
def good():
    """A result whose exports passed in every runtime that is at hand, and what `verified` gave of it. Not to be changed: copy it."""
    place = tempfile.TemporaryDirectory()
    out = quantized(Path(place.name))
    return out, verified(out, "--runtime", "torch.jit,torch.export,onnxruntime,onnxruntime-optimized"), place


def good_copy(folder):
    return shutil.copytree(good()[0], folder / "out")


def test_exports_pass_and_the_certificate_says_what_was_seen(folder):
    out, (certificate, verdicts, done) = good_copy(folder), good()[1]
    assert done.returncode == 0, done.stderr
    assert certificate["passed"] and certificate == json.loads((out / "certificate.json").read_text())
    assert {runtime for _, runtime in verdicts} == {"", "torch.jit", "torch.export", "onnxruntime", "onnxruntime-optimized"}
    for key in (("model.int8.ts.pt", "torch.jit"), ("model.int8.pt2", "torch.export"), ("model.reference.pt2", "torch.export")):
        verdict = verdicts[key]
        assert verdict["outcome"] == "passed" and verdict["outputs"][0]["agreement_db"] >= 60, verdict
        assert abs(verdict["outputs"][0]["float_db"] - verdict["outputs"][0]["own_float_db"]) < 0.1
        assert verdict["versions"]["torch"].startswith("2.11")
    # Another program adds up in another order: a rounding may fall the other way, and nothing more.
    verdict = verdicts[("model.int8.onnx", "onnxruntime")]
    output, steps = verdict["outputs"][0], verdict["steps"]
    assert verdict["outcome"] == "passed" and output["agreement_db"] > 35 and output["float_db"] > output["own_float_db"] - 1, verdict
    assert steps["nodes"] > 5 and steps["largest"] <= 1 and steps["one"] * 1000 < steps["equal"], steps
    alone = verdict["steps_alone"]  # fed our integers no node inherits what another departs by
    assert alone["nodes"] == steps["nodes"] and alone["more"] == 0 and alone["worse"] == "" and alone["one"] * 1000 < alone["elements"], alone
    assert alone["output_db"] >= 60, alone
    steps = verdicts[("model.reference.pt2", "torch.export")]["steps"]
    assert steps["nodes"] > 5 and steps["more"] == 0 and steps["equal"] > 1000, steps
    for name in ("model.int8.ts.pt", "model.int8.pt2", "result.json", "recipe.json"):
        assert certificate["files"][name] == sha256((out / name).read_bytes()).hexdigest(), name
    assert certificate["model_sha256"] == sha256(MODEL.read_bytes()).hexdigest()
    assert verified(out, "--runtime", "torch.jit,onnxruntime")[2].returncode == 0, "a second time"
    run_good("report", out, "--html", folder / "page.html")
    page = (folder / "page.html").read_text()
    assert "Run where they will run" in page and "torch.jit 2.11" in page and "<td>passed</td><td>exact</td>" in page
    result = json.loads((out / "result.json").read_text())
    (out / "result.json").write_text(json.dumps(result))  # other bytes: the certificate is of another result
    run_good("report", out, "--html", folder / "page.html")
    assert "were not run in their own runtimes" in (folder / "page.html").read_text()


def test_every_change_is_found(folder):
    """A flipped byte of the weights; another recipe's file; the same with its hash written in; a record that was changed."""
    out = good_copy(folder)
    sound = {path.name: path.read_bytes() for path in out.iterdir()}

    def expect_failed(words, *files, runtimes=QUICKEST):
        certificate, verdicts, done = verified(out, *runtimes)
        assert done.returncode == 1 and not certificate["passed"], files
        for file, runtime in files:
            verdict = verdicts[(file, runtime)]
            assert verdict["outcome"] == "failed", verdict
            for word in words:
                assert word in verdict["reason"], verdict["reason"]
        assert (out / "certificate.json").read_bytes() == sound["certificate.json"], "a failure replaced the certificate"
        for name, content in sound.items():
            (out / name).write_bytes(content)
        return verdicts

    content = bytearray(sound["model.int8.pt2"])
    content[len(content) // 2] ^= 1
    (out / "model.int8.pt2").write_bytes(content)
    expect_failed(["not those that were written"], ("model.int8.pt2", ""))

    recipe = folder / "other.json"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                  "mapping": {"global": "x86", "module_name": [["block1", None]]}}))
    other = quantized(folder, "other", recipe)
    shutil.copy(other / "model.int8.ts.pt", out / "model.int8.ts.pt")
    expect_failed(["not those that were written"], ("model.int8.ts.pt", ""))

    # With the hashes put right, the numbers tell: the outputs are another model's, or of one changed scale.
    for name in ("model.int8.ts.pt", "model.reference.pt2", "model.int8.onnx"):
        shutil.copy(other / name, out / name)
    with_changed_scale(sound["model.int8.pt2"], out / "model.int8.pt2")
    result = json.loads(sound["result.json"])
    result["exports_sha256"] |= {name: sha256((out / name).read_bytes()).hexdigest() for name in EXPORTS}
    (out / "result.json").write_text(json.dumps(result))
    verdicts = expect_failed(["agrees with ours to", "60 dB are required"], ("model.int8.ts.pt", "torch.jit"), ("model.reference.pt2", "torch.export"),
                             ("model.int8.pt2", "torch.export"), ("model.int8.onnx", "onnxruntime"), runtimes=EAGER)
    changed = verdicts[("model.int8.pt2", "torch.export")]["reason"]
    assert "the first node more than a step off is 'quantize_per_tensor" in changed, changed

    with (out / "observations.npz").open("ab") as file:
        file.write(b"x")
    expect_failed(["not those of the certificate"], ("observations.npz", ""))

    for names in (EXPORTS[:1], EXPORTS[1:3], EXPORTS[3:]):
        for name in names:
            (out / name).unlink()
        expect_failed([], *((name, "") for name in names), runtimes=QUICKEST if names != EXPORTS[3:] else ["--runtime", "torch.jit"])


def test_flipped_bytes_are_found_in_every_export(folder):
    out = good_copy(folder)
    for name in EXPORTS:
        content = bytearray((out / name).read_bytes())
        content[len(content) * 2 // 3] ^= 1
        (out / name).write_bytes(content)
    _, verdicts, done = verified(out, "--runtime", "torch.jit")
    assert done.returncode == 1 and f"{len(EXPORTS)} checks failed" in done.stderr, done.stderr
    for name in EXPORTS:
        assert "not those that were written" in verdicts[(name, "")]["reason"] and (name, "torch.jit") not in verdicts, name


def with_changed_scale(content, path):
    """A copy of a .pt2 in which one value is quantized with half as large a scale again."""
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        changed = 0
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith("models/model.json"):
                program = json.loads(data)
                nodes = [n for n in program["graph_module"]["graph"]["nodes"] if n["target"].endswith(".quantize_per_tensor.default")]
                scale = next(entry["arg"] for entry in nodes[3]["inputs"] if entry["name"] == "scale")
                scale["as_float"] *= 1.5
                changed += 1
                data = json.dumps(program).encode()
            new.writestr(entry.filename, data)
    assert changed == 1, "the archive has no model.json"


def test_the_certificate_tells_each_node_and_the_processor(folder):
    out, (certificate, verdicts, done) = good()[:2]
    assert done.returncode == 0, done.stderr
    steps = verdicts[("model.int8.onnx", "onnxruntime")]["steps"]
    assert len(steps["by_node"]) == steps["nodes"] and len(steps["histogram_up_to"]) + 1 == len(steps["by_node"][0]["histogram"])
    assert sum(sum(node["histogram"]) for node in steps["by_node"]) == steps["equal"] + steps["one"] + steps["more"], steps
    assert max(node["largest"] for node in steps["by_node"]) == steps["largest"]
    # With optimizations: what the fused graph still makes under its name.
    fused = verdicts[("model.int8.onnx", "onnxruntime-optimized")]["steps"]
    assert fused and 0 < fused["nodes"] <= steps["nodes"], fused
    assert "outputs only" in verdicts[("model.int8.ts.pt", "torch.jit")]["notes"]["compared"]
    assert "compared" not in verdicts[("model.int8.pt2", "torch.export")]["notes"]
    run_good("report", out, "--html", folder / "page.html")
    page = html.unescape((folder / "page.html").read_text())
    for verdict in verdicts.values():
        for line in verdict["lines"] if verdict["runtime"] else []:
            assert f"<li>{line}</li>" in page, line
    told = [v for v in verdicts.values() if v["steps"] and v["steps"]["largest"] > 0]
    assert told and "<th>0</th><th>1</th><th>2</th><th>3 to 4</th><th>5 to 8</th><th>9 to 16</th><th>more</th>" in page
    for verdict in told:
        apart = [node for node in verdict["steps"]["by_node"] if node["largest"] > 0]
        for node in apart[:40]:
            cells = "".join(f'<td class="n">{count}</td>' for count in [*node["histogram"], node["largest"]])
            assert f"<tr><td>{node['node']}</td>{cells}</tr>" in page, node
    flags = next((line.split(": ")[1].split() for line in open("/proc/cpuinfo") if line.startswith(("flags", "Features"))), [])
    for name in ("avx2", "avx512_vnni", "amx_int8"):
        assert (name in certificate["processor"].split()) == (name in flags), certificate["processor"]


def test_a_runtime_that_is_not_installed_is_said(folder):
    out = good_copy(folder)
    script = without(folder, "executorch")
    done = run("verify", out, "--data", TEST, "--python", script, "--runtime", "onnxruntime,executorch")
    said = [line for line in done.stdout.splitlines() if line.startswith("model.int8.pt2 in executorch: ")]
    assert len(said) == 1 and "'executorch' is not installed" in said[0] and "-m pip install executorch" in said[0], done.stdout
    assert done.returncode == 1 and "1 check failed" in done.stderr, "whoever names a runtime counts on it"


def test_onnx_is_held_to_its_numbers(folder):
    """A changed scale, and weights beside the file that are gone, with all hashes put right."""
    import onnx
    from onnx import numpy_helper

    out = quantized(folder)
    good = {path.name: path.read_bytes() for path in out.iterdir()}

    def put(save):
        save(onnx.load_from_string(good["model.int8.onnx"]))
        result = json.loads(good["result.json"])
        result["exports_sha256"]["model.int8.onnx"] = sha256((out / "model.int8.onnx").read_bytes()).hexdigest()
        (out / "result.json").write_text(json.dumps(result))

    def with_changed_scale(program):
        node = [n for n in program.graph.node if n.op_type == "QuantizeLinear"][3]
        held = next(tensor for tensor in program.graph.initializer if tensor.name == node.input[1])
        held.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(held) * numpy.float32(1.5), held.name))
        onnx.save(program, str(out / "model.int8.onnx"))

    put(with_changed_scale)
    _, verdicts, done = verified(out, "--runtime", "onnxruntime")
    assert done.returncode == 1 and "dB" in verdicts[("model.int8.onnx", "onnxruntime")]["reason"], verdicts[("model.int8.onnx", "onnxruntime")]

    assert verdicts[("model.int8.onnx", "onnxruntime")]["steps_alone"]["worse"], "the node itself is not named"
    put(lambda program: onnx.save(program, str(out / "model.int8.onnx"), save_as_external_data=True, location="model.int8.onnx.data", size_threshold=64))
    certificate, verdicts, done = verified(out, "--runtime", "onnxruntime")
    assert done.returncode == 0 and "model.int8.onnx.data" in certificate["files"], done.stderr
    (out / "model.int8.onnx.data").unlink()
    _, verdicts, done = verified(out, "--runtime", "onnxruntime")
    assert done.returncode == 1 and "model.int8.onnx.data" in verdicts[("model.int8.onnx", "onnxruntime")]["reason"], verdicts[("model.int8.onnx", "onnxruntime")]
    assert verdicts[("model.int8.onnx.data", "")]["reason"] == "it was certified, but is missing"


def test_speed_is_measured_side_by_side(folder):
    out = good_copy(folder)
    assert not [verdict for verdict in good()[1][1].values() if "speed" in verdict], "unasked"
    starts, python = folder / "starts", folder / "python"
    python.write_text(f'#!/bin/sh\necho "$1" >> {starts}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    certificate, verdicts, done = verified(out, "--runtime", "torch.jit,onnxruntime-optimized", "--speed", python=python)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert len(starts.read_text().splitlines()) == 2, "a runtime is started once, to run the file and to time it"
    steps = [line for line in done.stderr.splitlines() if "verify: " in line]
    assert any("model.int8.ts.pt in torch.jit, timed" in line for line in steps), done.stderr
    assert any("model.int8.onnx in onnxruntime-optimized, timed" in line for line in steps), done.stderr
    for key in (("model.int8.ts.pt", "torch.jit"), ("model.int8.onnx", "onnxruntime-optimized")):
        speed = verdicts[key]["speed"]
        assert speed["error"] == "" and speed["rounds"] >= 7 and speed["samples"] == 8, speed
        assert speed["float_ms"] > 0 and speed["int8_ms"] > 0, speed
        # The ratio of neighbouring calls, not of the medians: close to those all the same.
        assert 0.5 < speed["speedup"] / (speed["float_ms"] / speed["int8_ms"]) < 2, speed
        kinds = {entry["kind"]: entry for entry in speed["operators"]}
        assert kinds["convolution"]["float_ms"] > 0 and kinds["convolution"]["int8_ms"] > 0, kinds
        assert kinds["convolution"]["fell_back"] == 0 == kinds["convolution"]["fell_back_ms"], kinds
        assert kinds["quantize and dequantize"]["int8_ms"] > 0 == kinds["quantize and dequantize"]["float_ms"], kinds
        assert any(line.startswith("int8 is slower here: ") for line in speed["lines"]) == (speed["speedup"] < 1), speed["lines"]
    run_good("report", out, "--html", folder / "page.html")
    assert "ms in float and" in (folder / "page.html").read_text()


def test_what_runs_in_float_is_told_by_the_timing(folder):
    """A convolution that a rule keeps float multiplies in float there."""
    recipe = folder / "block.json"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                  "mapping": {"global": "x86", "module_name": [["block1", None]]}}))
    out = quantized(folder, "out", recipe)
    left = sum(not node["quantized"] and node["op"] == "aten.conv2d.default" for node in json.loads((out / "result.json").read_text())["nodes"])
    assert left > 0
    _, verdicts, _ = verified(out, "--runtime", "torch.jit,onnxruntime-optimized", "--speed")
    for key in (("model.int8.ts.pt", "torch.jit"), ("model.int8.onnx", "onnxruntime-optimized")):
        speed = verdicts[key]["speed"]
        entry = next(entry for entry in speed["operators"] if entry["kind"] == "convolution")
        assert entry["fell_back"] == left and 0 < entry["fell_back_ms"] <= entry["int8_ms"], (key, entry, left)
        assert any("run in float" in line for line in speed["lines"]), speed["lines"]


def with_changed_record(source, target, **changes):
    """A copy of an archive whose record of its origin says something else."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        found = 0
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith("/extra/quantscope.json"):
                content = json.dumps({**json.loads(content), **changes}).encode()
                found += 1
            new.writestr(entry.filename, content)
    assert found == 1, f"{source} has {found} records"


def test_exports_say_where_they_come_from(folder):
    import onnx
    import torch
    import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

    out = good_copy(folder)
    recipe = sha256((out / "recipe.json").read_bytes()).hexdigest()
    model = sha256(MODEL.read_bytes()).hexdigest()
    for name, load in (("model.int8.ts.pt", lambda path, extra: torch.jit.load(path, _extra_files=extra)),
                       ("model.int8.pt2", lambda path, extra: torch.export.load(path, extra_files=extra)),
                       ("model.reference.pt2", lambda path, extra: torch.export.load(path, extra_files=extra))):
        extra = {"quantscope.json": ""}
        load(str(out / name), extra)
        record = json.loads(extra["quantscope.json"])
        assert record["engine"] == "x86" and record["torch"] == torch.__version__.split("+")[0], record
        assert (record["recipe_sha256"], record["model_sha256"]) == (recipe, model) and record["quantscope"], record
        done = run("inspect", out / name, "--json")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert json.loads(done.stdout)["origin"] == {k: v for k, v in record.items() if k not in ("format", "version")}
    pairs = {entry.key: entry.value for entry in onnx.load(str(out / "model.int8.onnx")).metadata_props}
    assert pairs["quantscope.engine"] == "x86" and pairs["quantscope.recipe_sha256"] == recipe and pairs["quantscope.version"], pairs


def test_another_engine_or_version_is_said(folder):
    import onnx

    out = good_copy(folder)
    changed = folder / "changed.ts.pt"
    with_changed_record(out / "model.int8.ts.pt", changed, engine="fbgemm", torch="2.9.1")
    done = run("inspect", changed, "--json")
    lines = done.stderr.splitlines()
    assert done.returncode == 0 and len(lines) == 2, (lines, done.stdout[:200])
    assert "'fbgemm'" in lines[0] and "'x86'" in lines[0] and "torch 2.9.1" in lines[1], lines
    assert len(json.loads(done.stdout)["findings"]) == 2
    done = run("compare", MODEL, "--result", changed, "--data", TEST)
    assert done.returncode == 0 and "'fbgemm': compared under it" in done.stderr and "torch 2.9.1" in done.stderr, done.stderr
    with_changed_record(out / "model.int8.ts.pt", changed, engine="abacus")
    done = run("compare", MODEL, "--result", changed, "--data", TEST)
    assert done.returncode == 0 and "'abacus'" in done.stderr, done.stderr

    with_changed_record(out / "model.int8.ts.pt", changed, engine="fbgemm", recipe_sha256="0" * 64)
    shutil.copy(changed, out / "model.int8.ts.pt")
    program = onnx.load(str(out / "model.int8.onnx"))
    for entry in program.metadata_props:
        if entry.key == "quantscope.torch_version":
            entry.value = "2.9.1"
    onnx.save(program, str(out / "model.int8.onnx"))
    result = json.loads((out / "result.json").read_text())
    for name in ("model.int8.ts.pt", "model.int8.onnx"):
        result["exports_sha256"][name] = sha256((out / name).read_bytes()).hexdigest()
    (out / "result.json").write_text(json.dumps(result))
    certificate, verdicts, done = verified(out, "--runtime", "torch.jit,onnxruntime")
    assert done.returncode == 0, (done.stdout, done.stderr)
    warned = verdicts[("model.int8.ts.pt", "")]["warnings"]
    assert len(warned) == 2 and "'fbgemm'" in warned[0] and "another recipe" in warned[1], warned
    assert len(verdicts[("model.int8.onnx", "")]["warnings"]) == 1 and "torch 2.9.1" in verdicts[("model.int8.onnx", "")]["warnings"][0]
    assert verdicts[("model.int8.pt2", "")]["warnings"] == [] and verdicts[("model.int8.ts.pt", "torch.jit")]["warnings"] == []
    assert "model.int8.ts.pt: made for the quantized engine 'fbgemm'" in run("verify", out, "--data", TEST, "--python", sys.executable,
                                                                          *QUICKEST).stdout


def test_writing_into_the_inputs_is_told(folder):
    import torch

    sys.path.insert(0, str(SOURCE / "resources" / "verify"))
    import run_export

    for module, told in ((lambda x: x + 1, False), (lambda x: x.add_(1), True)):
        job = types.SimpleNamespace(notes={}, text={"input_tree": ""}, calls=lambda make: iter([[make(numpy.float32([1, numpy.nan]))]]))
        assert run_export.run_torch(job, module, torch)[0][0][0] == 2
        assert ("inputs" in job.notes) == told, job.notes


def test_what_cannot_run_is_said(folder):
    out = quantized(folder)  # no certificate stands there
    script = folder / "python-without-torch"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    script.chmod(0o755)
    done = run("verify", out, "--data", TEST, "--python", script)
    assert done.returncode == 1 and "no export could be run in any runtime" in done.stderr, (done.stdout, done.stderr)
    assert "'numpy', 'torch' are not installed" in done.stdout and "FAILED" not in done.stdout, done.stdout
    # The system's Python takes no packages on Debian: the one line that helps makes another.
    assert "'python3 -m venv " in done.stderr and "pip install numpy torch==2.11.0 onnx onnxruntime'" in done.stderr, done.stderr
    assert done.stdout.count("NOT VERIFIED") == len(EXPORTS), done.stdout
    done = run("verify", out, "--data", TEST, "--python", folder / "no-python", *EAGER)
    assert done.returncode == 1 and "no-python" in done.stderr and "cannot be started" in done.stderr, done.stderr
    assert "give 'verify' --python the path of a Python" in done.stderr, done.stderr
    expect_bad("verify", out, "--data", TEST, "--runtime", "torch.jot", contains=["torch.jot", "torch.jit"], code=2)
    expect_bad("verify", folder / "none", "--data", TEST, contains=["none"])


if __name__ == "__main__":
    main(__name__)
