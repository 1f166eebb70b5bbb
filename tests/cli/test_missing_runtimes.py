# SPDX-License-Identifier: Apache-2.0
"""`verify` passes nothing that was not run."""

import json
import re
import shutil
import subprocess
import sys

from harness import PROGRAM, SOURCE, main, run, run_good, without
from test_verify import DATA, MODEL, TEST, verified


def test_an_export_that_no_runtime_executed_is_not_verified(folder):
    out = folder / "out"
    words = ("quantize", MODEL, "--data", DATA, "--device", "cpu", "--out", out, "--export")
    run_good(*words, "torchscript,onnx")
    python = without(folder, "onnxruntime")
    done = run("verify", out, "--data", TEST, "--python", python, "--json")
    certificate = json.loads(done.stdout)
    assert done.returncode == 1 and not certificate["passed"], done.stderr
    assert "1 export not verified: no runtime executed it" in done.stderr, done.stderr
    verdicts = {(v["file"], v["runtime"]): v for v in certificate["verdicts"]}
    assert verdicts[("model.int8.ts.pt", "torch.jit")]["outcome"] == "passed"
    assert {verdicts[("model.int8.onnx", name)]["outcome"] for name in ("onnxruntime", "onnxruntime-optimized")} == {"not run"}
    whole = [v for v in certificate["verdicts"] if v["file"] == "model.int8.onnx" and v["outcome"] == "not verified"]
    assert len(whole) == 1 and whole[0]["runtime"] == "" and "'onnxruntime' is not installed" in whole[0]["reason"], whole
    assert not (out / "certificate.json").exists()
    text = run("verify", out, "--data", TEST, "--python", python).stdout
    assert "NOT VERIFIED" in text and "pip install onnxruntime" in text, text
    # Who names runtimes leaves the others out by choice; one without an export to run passes nothing.
    assert run("verify", out, "--data", TEST, "--python", python, "--runtime", "torch.jit").returncode == 0
    done = run("verify", out, "--data", TEST, "--python", python, "--runtime", "torch.jit,torch.export")
    assert done.returncode == 1 and "quantize with --export pt2-reference or pt2" in done.stdout, (done.stdout, done.stderr)
    run_good(*words, "torchscript")
    certificate, _, done = verified(out)
    assert done.returncode == 0 and certificate["passed"], done.stderr


def test_onnx_without_the_package_onnx_is_not_run(folder):
    """ONNX Runtime alone shows no value in between: the comparison needs `onnx`, and says so in place of failing a good file."""
    out = folder / "out"
    run_good("quantize", MODEL, "--data", DATA, "--device", "cpu", "--out", out, "--export", "torchscript,onnx")
    done = run("verify", out, "--data", TEST, "--python", without(folder, "onnx"), "--json")
    verdicts = {(v["file"], v["runtime"]): v for v in json.loads(done.stdout)["verdicts"]}
    for name in ("onnxruntime", "onnxruntime-optimized"):
        verdict = verdicts[("model.int8.onnx", name)]
        assert verdict["outcome"] == "not run" and "package 'onnx' is not installed" in verdict["reason"], verdict
        assert "-m pip install onnx" in verdict["reason"] and "torch" not in verdict["reason"], verdict
    # Each runtime is a line while it lasts, where no terminal shows the progress.
    assert "verify: model.int8.ts.pt in torch.jit" in done.stderr, done.stderr


def test_the_page_and_the_set_up_have_the_table(_folder):
    """The page shows the program's own table; what each runtime needs is pinned for `app/run`, but what the page leaves out."""
    page = (SOURCE / "resources" / "help" / "verifying.md").read_text(encoding="utf-8")
    made = run_good("describe", "runtimes")
    assert made in page, "write it anew into resources/help/verifying.md: quantscope describe runtimes"
    left_out = re.findall(r"`(\w+)`", re.search(r"except for (.*)\. It works", made)[1])
    needed = {word for name, packages in re.findall(r"^\| `([\w.-]+)` \| `[\w.-]+` \| `([^`]+)`", made, re.MULTILINE)
              if name not in left_out for word in packages.split()}
    pinned = (SOURCE / "resources" / "requirements.txt").read_text().split()
    assert len(needed) == 4 and all(word in pinned or any(pin.startswith(word + "==") for pin in pinned) for word in needed), needed
    assert needed == set(re.search(r"pip install (.*)", made)[1].split()), needed


def test_what_makes_environments_is_installed_first(folder):
    """Debian's Python makes none before a package of Debian's is there."""
    out = folder / "out"
    run_good("quantize", MODEL, "--data", DATA, "--device", "cpu", "--out", out, "--export", "torchscript")
    python = folder / "debian-python"
    python.write_text(f"#!/bin/sh\nPYTHONPATH={without(folder, 'ensurepip').parent / 'none'} exec {sys.base_prefix}/bin/python3 -s \"$@\"\n")
    python.chmod(0o755)
    done = run("verify", out, "--data", TEST, "--python", python)
    assert done.returncode == 1 and "'sudo apt-get install -y python3-venv && python3 -m venv " in done.stderr, done.stderr


def test_a_runtime_that_compiles_needs_a_compiler(folder):
    """torch.compile without one is not run, in place of failing a good file."""
    out = folder / "out"
    run_good("quantize", MODEL, "--data", DATA, "--device", "cpu", "--out", out, "--export", "pt2")
    done = run("verify", out, "--data", TEST, "--json", "--python", without(folder, "executorch"), env={"CXX": "/nowhere/c++"})
    verdicts = {v["runtime"]: v for v in json.loads(done.stdout)["verdicts"]}
    assert done.returncode == 0 and verdicts["torch.export"]["outcome"] == "passed", done.stderr
    assert verdicts["torch.compile"]["outcome"] == "not run", verdicts["torch.compile"]
    assert "package 'g++' is not installed, with which it compiles: 'sudo apt-get install -y g++'" in verdicts["torch.compile"]["reason"]


def test_the_float_model_is_found_by_its_content(folder):
    """An export that is called as the model was, beside another in the folders around, is not taken for it."""
    work = folder / "work"
    (work / "out").mkdir(parents=True)
    shutil.copy(MODEL, work / "model.pt2")
    program = [PROGRAM, "quantize", "model.pt2", "--data", str(DATA), "--device", "cpu", "--export", "pt2", "--out", "out"]
    assert subprocess.run(program, cwd=work, capture_output=True, check=False).returncode == 0
    shutil.copy(work / "out" / "model.int8.pt2", work / "out" / "model.pt2")
    done = run("verify", work / "out", "--data", TEST, "--runtime", "torch.export")
    assert done.returncode == 0 and "passed" in done.stdout, done.stderr
    # Into the model's own folder: nothing of it is replaced.
    before = (work / "model.pt2").read_bytes()
    program[program.index("out")] = "."
    assert subprocess.run(program, cwd=work, capture_output=True, check=False).returncode == 0
    assert (work / "model.pt2").read_bytes() == before and run("verify", work, "--data", TEST, "--runtime", "torch.export").returncode == 0


def test_the_python_that_ran_is_remembered(folder):
    """Once given, `verify` uses it; one that is gone is forgotten."""
    out, python = folder / "out", folder / "python-of-mine"
    run_good("quantize", MODEL, "--data", DATA, "--device", "cpu", "--out", out, "--export", "torchscript")
    python.write_text(f"#!/bin/sh\necho ran >> {folder / 'ran'}\nexec {sys.executable} \"$@\"\n")
    python.chmod(0o755)
    words, env = ("verify", out, "--data", TEST), {"XDG_CONFIG_HOME": str(folder / "config")}
    run_good(*words, "--python", python, env=env)
    assert json.loads((folder / "config" / "quantscope" / "settings.json").read_text())["python"] == str(python)
    run_good(*words, env=env)
    assert (folder / "ran").read_text().count("ran") == 2
    python.unlink()
    run_good(*words, env=env)


if __name__ == "__main__":
    main(__name__)
