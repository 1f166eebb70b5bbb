# SPDX-License-Identifier: Apache-2.0
"""`verify` runs every export in its own runtime and finds what was changed; `check` is a gate over a result."""

import json
import shutil
import sys
import xml.etree.ElementTree as xml
from hashlib import sha256

from harness import SOURCE, expect_bad, main, run, run_good

SAMPLES = SOURCE / "resources" / "samples"
MODEL, DATA, TEST = SAMPLES / "digits.pt2", SAMPLES / "calib.npz", SAMPLES / "test.npz"
EAGER = ["--runtime", "torch.jit,torch.export,onnxruntime"]


def quantized(folder, name="out", recipe=None):
    out = folder / name
    words = ["--recipe", recipe] if recipe else []
    run_good("quantize", MODEL, "--data", DATA, "--device", "cpu", "--export", "torchscript,pt2,pt2-reference,onnx", "--out", out, *words)
    return out


def verified(out, *words):
    """The certificate, its verdicts by file and runtime, and the finished process."""
    done = run("verify", out, "--data", TEST, "--python", sys.executable, "--json", *words)
    certificate = json.loads(done.stdout)
    return certificate, {(v["file"], v["runtime"]): v for v in certificate["verdicts"]}, done


def test_exports_pass_and_the_certificate_says_what_was_seen(folder):
    out = quantized(folder)
    certificate, verdicts, done = verified(out, *EAGER)
    assert done.returncode == 0, done.stderr
    assert certificate["passed"] and certificate == json.loads((out / "certificate.json").read_text())
    assert {runtime for _, runtime in verdicts} == {"", "torch.jit", "torch.export", "onnxruntime"}
    for key in (("model.ts.pt", "torch.jit"), ("model.pt2", "torch.export"), ("model.reference.pt2", "torch.export")):
        verdict = verdicts[key]
        assert verdict["outcome"] == "passed" and verdict["outputs"][0]["agreement_db"] >= 60, verdict
        assert abs(verdict["outputs"][0]["float_db"] - verdict["outputs"][0]["own_float_db"]) < 0.1
        assert verdict["versions"]["torch"].startswith("2.11")
    # Another program adds up in another order: a rounding may fall the other way, and nothing more.
    verdict = verdicts[("model.onnx", "onnxruntime")]
    output, steps = verdict["outputs"][0], verdict["steps"]
    assert verdict["outcome"] == "passed" and output["agreement_db"] > 35 and output["float_db"] > output["own_float_db"] - 1, verdict
    assert steps["nodes"] > 5 and steps["largest"] <= 1 and steps["one"] * 1000 < steps["equal"], steps
    steps = verdicts[("model.reference.pt2", "torch.export")]["steps"]
    assert steps["nodes"] > 5 and steps["more"] == 0 and steps["equal"] > 1000, steps
    for name in ("model.ts.pt", "model.pt2", "result.json", "recipe.json"):
        assert certificate["files"][name] == sha256((out / name).read_bytes()).hexdigest(), name
    assert certificate["model_sha256"] == sha256(MODEL.read_bytes()).hexdigest()
    assert verified(out, *EAGER)[2].returncode == 0, "a second time"
    run_good("report", out, "--html", folder / "page.html")
    page = (folder / "page.html").read_text()
    assert "Run where they will run" in page and "torch.jit 2.11" in page and "<td>passed</td><td>exact</td>" in page
    result = json.loads((out / "result.json").read_text())
    (out / "result.json").write_text(json.dumps(result))  # other bytes: the certificate is of another result
    run_good("report", out, "--html", folder / "page.html")
    assert "were not run in their own runtimes" in (folder / "page.html").read_text()


def test_every_change_is_found(folder):
    """A flipped byte of the weights; another recipe's file; the same with its hash written in; a record that was changed."""
    out = quantized(folder)
    assert verified(out, *EAGER)[2].returncode == 0
    good = {path.name: path.read_bytes() for path in out.iterdir()}

    def expect_failed(file, runtime, *words):
        certificate, verdicts, done = verified(out, "--runtime", runtime or "torch.jit")
        assert done.returncode == 1 and not certificate["passed"], file
        verdict = verdicts[(file, runtime)]
        assert verdict["outcome"] == "failed", verdict
        for word in words:
            assert word in verdict["reason"], verdict["reason"]
        assert (out / "certificate.json").read_bytes() == good["certificate.json"], "a failure replaced the certificate"
        for name, content in good.items():
            (out / name).write_bytes(content)

    content = bytearray(good["model.pt2"])
    content[len(content) // 2] ^= 1
    (out / "model.pt2").write_bytes(content)
    expect_failed("model.pt2", "", "not those that were written")

    recipe = folder / "other.json"
    recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                  "mapping": {"global": "x86", "module_name": [["block1", None]]}}))
    other = quantized(folder, "other", recipe)
    shutil.copy(other / "model.ts.pt", out / "model.ts.pt")
    expect_failed("model.ts.pt", "", "not those that were written")

    # With the hashes put right, the numbers tell: the outputs are another model's.
    for name, runtime in (("model.ts.pt", "torch.jit"), ("model.reference.pt2", "torch.export")):
        shutil.copy(other / name, out / name)
        result = json.loads(good["result.json"])
        result["exports_sha256"][name] = sha256((out / name).read_bytes()).hexdigest()
        (out / "result.json").write_text(json.dumps(result))
        expect_failed(name, runtime, "agrees with ours to", "60 dB are wanted")

    with (out / "observations.npz").open("ab") as file:
        file.write(b"x")
    expect_failed("observations.npz", "", "not those of the certificate")

    (out / "model.pt2").unlink()
    expect_failed("model.pt2", "")


def test_what_cannot_run_is_said(folder):
    out = quantized(folder)
    script = folder / "python-without-torch"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    script.chmod(0o755)
    done = run("verify", out, "--data", TEST, "--python", script, *EAGER)
    assert done.returncode == 1 and "numpy" in done.stdout + done.stderr, (done.stdout, done.stderr)
    assert not (out / "certificate.json").exists()
    done = run("verify", out, "--data", TEST, "--python", folder / "no-python", *EAGER)
    assert done.returncode == 1 and "no-python" in done.stderr and "cannot be started" in done.stderr, done.stderr
    expect_bad("verify", out, "--data", TEST, "--runtime", "torch.jot", contains=["torch.jot", "torch.jit"], code=2)
    expect_bad("verify", folder / "none", "--data", TEST, contains=["none"])


def test_the_gate(folder):
    out = quantized(folder)
    result = json.loads((out / "result.json").read_text())
    db = result["outputs"][0]["lowered"]["sqnr_db"]
    head = next(n for n in result["nodes"] if n["module"] == "head")["error"]["cumulative"]["sqnr_db"]
    run_good("check", out, "--min-sqnr", db - 0.1, "--min-cosine", 0.9, "--min-coverage", 50, "--node", f"head: {head - 0.1}")
    junit, sarif = folder / "junit.xml", folder / "misses.sarif"
    done = run("check", out, "--min-sqnr", db + 0.1, "--node", f"head:{head + 0.1}", "--min-coverage", 1, "--junit", junit, "--sarif", sarif)
    assert done.returncode == 1 and done.stdout.count("MISSED") == 2 and done.stdout.count("ok  ") == 1, done.stdout
    assert len(done.stderr.splitlines()) == 1 and "2 limits of 3" in done.stderr, done.stderr
    suite = xml.fromstring(junit.read_text())
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["min-sqnr linear", "node head"]
    misses = json.loads(sarif.read_text())["runs"][0]["results"]
    assert [miss["ruleId"] for miss in misses] == ["min-sqnr", "node"], misses
    assert "linear" in misses[0]["message"]["text"]
    # A drop of the metric; without labels what the two models disagree on bounds it.
    run_good("check", out, "--preset", "classification")
    run_good("quantize", MODEL, "--data", DATA, "--device", "cpu", "--export", "none", "--out", folder / "eval",
             "--eval", f"{sys.executable} -c 'import sys; print(3.5 if \"float\" in sys.argv[1] else 3.0)'")
    evaluation = json.loads((folder / "eval" / "result.json").read_text())["evaluation"]
    drop = evaluation["float"] - evaluation["int8"]
    assert run("check", folder / "eval", "--max-drop", drop + 0.01).returncode == 0
    assert run("check", folder / "eval", "--max-drop", drop - 0.01).returncode == 1
    expect_bad("check", out, contains=["--min-sqnr"], code=2)
    expect_bad("check", out, "--preset", "vision", contains=["classification"], code=2)
    expect_bad("check", out, "--node", "head", contains=["head: 35"], code=2)
    expect_bad("check", out, "--node", "hed: 3", contains=["'hed'", "'head'"])


if __name__ == "__main__":
    main(__name__)
