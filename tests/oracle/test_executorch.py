# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch, in an environment of its own under the build folder: `verify` runs model.int8.pt2 there, and XNNPACK's delegate takes as many
quantized operators as of torchao's PT2E conversion.

usage: test_executorch.py FOLDER; the environment is made in FOLDER, over the packages of the running Python, unless it is there.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401

import agreement
import compiled_networks as networks
import test_compilers

HERE = pathlib.Path(__file__).parent
SKIPPED = 77


def environment(folder):
    """The Python that has ExecuTorch; nothing where the wheel cannot be had."""
    python = folder / "bin" / "python"
    pins = (HERE / "requirements-executorch.txt").read_text()
    mark = folder / "installed"
    if mark.exists() and mark.read_text() == pins:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    own = pathlib.Path(subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True,
                                      check=True).stdout.strip())
    (own / "zz_shared.pth").write_text(sysconfig.get_path("purelib") + "\n")
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", HERE / "requirements-executorch.txt"], check=False)
    if done.returncode != 0:
        return None
    mark.write_text(pins)
    return python


def verified(python, name, recipe, folder, *words):
    """The verdict of ExecuTorch on the network's model.int8.pt2, and whether `verify` passed."""
    case = networks.case_of(name)
    file = networks.converted_by_us(case, folder, agreement.quantscope, recipe)
    _, out, error = agreement.quantscope("verify", file.parent, "--data", folder / "calib.npz", "--python", python, "--runtime", "executorch", "--json",
                                         *words)
    if not out:
        raise RuntimeError(error)
    certificate = json.loads(out)
    return next(v for v in certificate["verdicts"] if v["runtime"] == "executorch"), certificate["passed"]


def check_verify(python, report):
    """Signed activations pass; unsigned ones, which the delegate takes for signed, fail with that cause."""
    with tempfile.TemporaryDirectory() as place:
        verdict, passed = verified(python, "digits", test_compilers.STATIC["xnnpack"], pathlib.Path(place), "--speed")
    report.expect(passed and verdict["versions"].get("executorch", "").startswith("1.2"), f"digits: {verdict['reason']}")
    report.expect("outputs only" in verdict["notes"]["compared"], str(verdict["notes"]))
    report.expect(verdict["notes"].get("outside", "").startswith("outside of the delegate: "), str(verdict["notes"]))
    speed = verdict.get("speed", {})
    report.expect(speed.get("error") == "" and speed.get("int8_ms", 0) > 0, f"not timed: {speed}")
    report.fact(f"{verdict['notes']['delegate']}, {speed.get('speedup', 0):.2f} times as fast")
    with tempfile.TemporaryDirectory() as place:
        verdict, passed = verified(python, "conv_bn_relu", test_compilers.STATIC["inductor"], pathlib.Path(place))
    report.expect(not passed and "unsigned bytes" in verdict["reason"] and "'executorch'" in verdict["reason"], f"unsigned: {verdict['reason']}")
    groups = copy.deepcopy(test_compilers.DYNAMIC_RECIPE["xnnpack"])
    groups["qconfigs"]["dyn"]["weight"].update(quant_min=-8, quant_max=7, group_size=32)
    with tempfile.TemporaryDirectory() as place:
        verdict, passed = verified(python, "mlp_relu", groups, pathlib.Path(place))
    report.expect(passed, f"4 bits in groups: {verdict['reason']}")
    report.fact(f"4 bits in groups: {verdict['notes'].get('delegate')}")


def main():
    python = environment(pathlib.Path(sys.argv[1]))
    if python is None:
        print("ExecuTorch cannot be installed here")
        sys.exit(SKIPPED)
    report = agreement.Report("verify in ExecuTorch")
    check_verify(python, report)
    report.print()
    done = subprocess.run([python, HERE / "test_compilers.py", "xnnpack", *sys.argv[2:]], env=os.environ, check=False)
    sys.exit(1 if report.problems or done.returncode != 0 else 0)


if __name__ == "__main__":
    main()
