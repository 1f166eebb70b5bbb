# SPDX-License-Identifier: Apache-2.0
"""Conversion apart from calibration: with torch.ao's own parameters both converted forms compute what torch.ao's compute.

test_convert_parity.py CONVERT_DUMP [NETWORK/RECIPE ...]
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "oracle"))
import conversion  # noqa: E402
import models  # noqa: E402
import oracle  # noqa: E402
import recipes  # noqa: E402
import zoo  # noqa: E402

PAIRS = ["tutorial/tutorial", "tutorial_bn/tutorial", "digits/x86", "mobilenet_v2/minmax", "skips/x86"]
MORE = ["resnet18/x86"]  # with --all
WANTED_DB = 60.0
# Requirements 1.10 and 1.11: what is left of the tutorial's networks after lowering.
TUTORIAL = {"tutorial/tutorial": {"aten.quantize_per_tensor.default": 1 + 2, "aten.dequantize.self": 1, "quantized.linear.default": 1,
                                  "quantized.conv2d_relu.new": 1, "aten.sigmoid.default": 1},
            "tutorial_bn/tutorial": {"quantized.linear.default": 1, "aten.dequantize.self": 1, "aten.conv2d.default": 1,
                                     "aten.batch_norm.default": 1, "aten.relu.default": 1, "quantized.conv2d_relu.new": 0}}


def write_parameters(golden, path):
    """torch.ao's parameters in the lines that convert_dump reads."""
    lines = [f"activation {row['node']} {float(row['scale'][0])!r} {int(row['zero_point'][0])}" for row in golden["observed"]]
    lines += [f"weight {row['node']} {len(row['scale'])} " + " ".join(repr(float(scale)) for scale in row["scale"])
              for row in golden["weights"]]
    path.write_text("\n".join(lines) + "\n")


def check(dump, pair, folder):
    network, name = pair.split("/")
    case, decisions = {**models.CASES, **zoo.CASES}[network](), recipes.RECIPES[name]()
    pt2, calib, test = models.write(case, folder)
    golden = oracle.ask(case, decisions, torch.export.load(pt2))
    write_parameters(golden, folder / "parameters.txt")
    env = {**os.environ, "OMP_NUM_THREADS": str(oracle.THREADS)}
    done = subprocess.run([dump, pt2, decisions.write(folder), calib, test, folder / "out.pt", folder / "parameters.txt"],
                          capture_output=True, text=True, env=env, timeout=600)
    if done.returncode:
        return [f"convert_dump: {done.stderr.strip()}"]
    ours, problems, facts = torch.load(folder / "out.pt", weights_only=False), [], []
    for form in ("reference", "lowered"):
        outputs = ours[form]
        between = oracle.sqnr_db(golden["outputs"][form], oracle.flat(outputs[0] if len(outputs) == 1 else outputs))
        facts.append(f"{form} {between:.1f} dB")
        mine, theirs = (oracle.sqnr_db(golden["outputs"]["float"], made)
                        for made in (oracle.flat(outputs[0] if len(outputs) == 1 else outputs), golden["outputs"][form]))
        wrong = form == "lowered" and conversion.kernel_is_wrong(ours["residue"].splitlines(), mine, theirs)
        if wrong:
            facts.append(f"against float {mine:.1f} dB, torch.ao {theirs:.1f}: its kernel is wrong here")
        if between < WANTED_DB and not wrong:
            problems.append(f"{form}: {between:.1f} dB from torch.ao's, {WANTED_DB} wanted")
    counts = collections.Counter(ours["lowered_ops"].split())
    problems += [f"{counts[target]} x {target} after lowering, {wanted} wanted"
                 for target, wanted in TUTORIAL.get(pair, {}).items() if counts[target] != wanted]
    print(f"{'FAIL' if problems else 'ok  '} {pair}: {', '.join(facts)}; left unlowered: {ours['residue'].splitlines()}")
    return problems


def main():
    torch.set_num_threads(oracle.THREADS)
    failed = 0
    words = sys.argv[2:]
    for pair in PAIRS + MORE if "--all" in words else words or PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            problems = check(sys.argv[1], pair, pathlib.Path(folder))
        failed += bool(problems)
        for problem in problems:
            print("    ", problem, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
