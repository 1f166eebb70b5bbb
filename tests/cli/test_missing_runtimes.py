# SPDX-License-Identifier: Apache-2.0
"""`verify` passes nothing that was not run."""

import json

from harness import main, run, run_good, without
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
    assert verdicts[("model.ts.pt", "torch.jit")]["outcome"] == "passed"
    assert {verdicts[("model.onnx", name)]["outcome"] for name in ("onnxruntime", "onnxruntime-optimized")} == {"not run"}
    whole = [v for v in certificate["verdicts"] if v["file"] == "model.onnx" and v["outcome"] == "not verified"]
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


if __name__ == "__main__":
    main(__name__)
