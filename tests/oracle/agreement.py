# SPDX-License-Identifier: Apache-2.0
"""Does Quantscope agree with torch.ao on one network and one recipe? Bounds: see engine/README.md, "Parity".

Same observed values and the same sharing. Minimum-maximum observers: scale within 1e-6, zero point equal. Histograms: 95 %
of scales within 1e-4, all within 1e-2, zero point within 2. Outputs of both converted forms: where every parameter is equal
to the bit, SQNR against torch.ao's of 60 dB and more; else the same SQNR against float within half a dB.
"""
import collections
import json
import math
import os
import pathlib
import subprocess
import warnings

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers the operators of model.reference.pt2

import models
import oracle

QUANTSCOPE = os.environ.get("QUANTSCOPE", str(models.ROOT / "build" / "bin" / "quantscope"))
HISTOGRAM_SHARE, HISTOGRAM_NEAR, HISTOGRAM_FAR, HISTOGRAM_ZERO_POINT = 0.95, 1e-4, 1e-2, 2
MINMAX_NEAR = 1e-6
SAME_PARAMETERS_DB, OTHER_PARAMETERS_DB = 60.0, 0.5


class Report:
    """What was compared and what was not as it should be."""

    def __init__(self, title):
        self.title = title
        self.problems = []
        self.facts = []

    def expect(self, holds, text):
        if not holds:
            self.problems.append(f"{self.title}: {text}")
        return holds

    def fact(self, text):
        self.facts.append(text)

    def print(self):
        print(f"{'FAIL' if self.problems else 'ok  '} {self.title}: {'; '.join(self.facts)}", flush=True)
        for problem in self.problems[:40]:
            print(f"     {problem}")


def quantscope(*arguments):
    """Runs the program as the oracle ran: with the same number of threads. Returns (exit code, stdout, stderr)."""
    env = {**os.environ, "OMP_NUM_THREADS": str(oracle.THREADS), "OMP_WAIT_POLICY": "PASSIVE"}
    done = subprocess.run([QUANTSCOPE, *map(str, arguments)], capture_output=True, text=True, env=env, timeout=600)
    return done.returncode, done.stdout, done.stderr.strip()


def observed_of(result):
    """{node name: its quantization} of a result document."""
    return {node["name"]: node["output"] for node in result["nodes"] if node["output"]}


def differing_inputs(result):
    """Names of consumers that quantize an input otherwise than its producer says."""
    outputs = observed_of(result)
    return [node["name"] for node in result["nodes"]
            if any(q and q not in outputs.values() for q in node.get("inputs") or [])]


def quantizations_of(result, name):
    """All quantizations of a node's values: of each part of a list of results, and what readers ask for themselves."""
    nodes = {node["name"]: node for node in result["nodes"]}
    found = [nodes[name]["output"], *(nodes[name].get("outputs") or [])] if name in nodes else []
    return [q for q in found if q]


def nearest(quantizations, row):
    """The one whose scale is nearest to the row's; None if there is none."""
    same = [q for q in quantizations if len(q["scale"]) == len(row["scale"])] or quantizations
    return min(same, key=lambda q: relative(q["scale"], row["scale"]).max() if len(q["scale"]) == len(row["scale"]) else 0,
               default=None)


def check_structure(report, golden, result):
    """Same observed values; same partition into shared observers; same dtypes and observers."""
    wanted = collections.Counter(row["node"] for row in golden["observed"])
    ours = observed_of(result)
    report.expect(not [n for n, count in wanted.items() if count > 1] or differing_inputs(result),
                  "torch.ao quantizes one value in two ways, Quantscope does not")
    report.expect(set(ours) == set(wanted), f"observed values differ: missing {sorted(set(wanted) - set(ours))}, "
                                            f"unexpected {sorted(set(ours) - set(wanted))}")
    first = {}
    for row in sorted(golden["observed"], key=lambda r: position(result, r["node"])):
        quantization = ours.get(row["node"])
        if quantization is None:
            continue
        leader = first.setdefault(row["group"], row["node"])
        shared = None if leader == row["node"] else leader
        report.expect(quantization["shared_with"] == shared,
                      f"{row['node']}: shared_with is {quantization['shared_with']}, torch.ao shares with {shared}")
        for key in ("dtype", "observer"):
            report.expect(quantization[key] == row[key],
                          f"{row['node']}: {key} is {quantization[key]}, torch.ao has {row[key]}")
    report.fact(f"{len(wanted)} observed values in {len(first)} groups")


def position(result, name):
    names = [node["name"] for node in result["nodes"]]
    return names.index(name) if name in names else len(names)


def relative(ours, wanted):
    ours, wanted = np.asarray(ours, np.float64), np.asarray(wanted, np.float64)
    return np.abs(ours - wanted) / wanted


def check_parameters(report, golden, result, known="torch.ao"):
    """Scales and zero points of observed values and weights against those that `known` has. True if every one is equal to the bit."""
    exact, errors, far = True, [], 0
    for row in golden["observed"]:
        got = nearest(quantizations_of(result, row["node"]), row)
        if got is None or len(got["scale"]) != len(row["scale"]):
            report.expect(got is None, f"{row['node']}: number of scales")
            return False
        exact &= np.array_equal(np.float32(got["scale"]), np.float32(row["scale"])) \
            and got["zero_point"] == row["zero_point"]
        error = relative(got["scale"], row["scale"]).max()
        shift = np.abs(np.subtract(got["zero_point"], row["zero_point"])).max()
        text = f"{row['node']}: scale {got['scale']} zero point {got['zero_point']}, {known} {row['scale']} {row['zero_point']}"
        if row["observer"] == "histogram":
            errors.append(error)
            far += error > HISTOGRAM_NEAR
            report.expect(error <= HISTOGRAM_FAR and shift <= HISTOGRAM_ZERO_POINT, text)
        else:
            report.expect(error <= MINMAX_NEAR and shift == 0, text)
    if errors:
        allowed = math.floor((1 - HISTOGRAM_SHARE) * len(errors) + 1e-9)
        report.expect(far <= allowed, f"{far} of {len(errors)} histogram scales are off by more than {HISTOGRAM_NEAR}")
        report.fact(f"{len(errors) - far}/{len(errors)} histogram scales within {HISTOGRAM_NEAR}, worst {max(errors):.1e}")
    return exact & check_weights(report, golden, result)


def check_weights(report, golden, result):
    nodes, exact = {node["name"]: node for node in result["nodes"]}, True
    for row in golden["weights"]:
        weight = nodes[row["node"]]["weight"]
        if not report.expect(weight is not None, f"{row['node']}: its weight has no quantization"):
            return False
        channels = row.get("channels", len(row["scale"]))
        if not report.expect(len(weight["scale"]) == channels,
                             f"{row['node']}: {len(weight['scale'])} weight scales, torch.ao {channels}"):
            return False
        scale, zero_point = weight["scale"][:len(row["scale"])], weight["zero_point"][:len(row["scale"])]
        exact &= np.array_equal(np.float32(scale), np.float32(row["scale"]))
        report.expect(relative(scale, row["scale"]).max() <= MINMAX_NEAR and list(zero_point) == list(row["zero_point"])
                      and weight["dtype"] == row["dtype"], f"{row['node']}: weight scales or zero points differ")
    extra = [node["name"] for node in result["nodes"] if node["weight"]]
    report.expect(set(extra) == {row["node"] for row in golden["weights"]},
                  f"weights are quantized at {sorted(extra)}, in torch.ao at {sorted(r['node'] for r in golden['weights'])}")
    return exact


def check_outputs(report, golden, case, folder, exact, lowered_differs):
    """Reloads both exports in Python and compares what they compute with torch.ao's converted forms."""
    expected = golden["outputs"]
    signal = oracle.run(case.model, case.test)
    loaded = {"lowered": torch.jit.load(str(folder / "model.int8.ts.pt")),
              "reference": torch.export.load(folder / "model.reference.pt2").module()}
    for form, module in loaded.items():
        ours = oracle.run(module, case.test)
        ours_db, torch_db = oracle.sqnr_db(signal, ours), oracle.sqnr_db(signal, expected[form])
        between = oracle.sqnr_db(expected[form], ours)
        report.fact(f"{form} {ours_db:.2f} dB (torch.ao {torch_db:.2f}, between them {between:.0f})")
        if lowered_differs and form == "lowered":
            report.fact(f"differs on purpose: {lowered_differs}")
            report.expect(ours_db >= torch_db - OTHER_PARAMETERS_DB,
                          f"{form}: {ours_db:.2f} dB against float, worse than torch.ao's {torch_db:.2f}")
        elif exact:
            report.expect(between >= SAME_PARAMETERS_DB, f"{form}: all parameters are equal, yet only {between:.1f} dB "
                                                         f"between our outputs and torch.ao's")
        else:
            report.expect(abs(ours_db - torch_db) <= OTHER_PARAMETERS_DB,
                          f"{form}: {ours_db:.2f} dB against float, torch.ao {torch_db:.2f}")
        if case.labels is not None:
            report.fact(f"top-1 {oracle.top1(ours, case.labels):.2%}")


def check_nothing_quantized(report, pt2, recipe, data, folder):
    """Where torch.ao observes nothing: every operator is float with its reason, and quantize says so and writes nothing."""
    code, text, error = quantscope("plan", pt2, "--recipe", recipe, "--json")
    if report.expect(code == 0, f"plan failed: {error}"):
        nodes = [node for node in json.loads(text)["nodes"] if node["op"].startswith("aten.")]
        report.expect(nodes and not any(node["quantized"] for node in nodes), "plan quantizes something")
        report.expect(all(node["reason"] for node in nodes), "plan gives no reason for a float node")
        eligible = [node for node in nodes if node["op"] in ("aten.linear.default",)]
        report.expect(all("0.000244" in node["reason"] for node in eligible),
                      f"the reason does not name the smallest scale: {[node['reason'] for node in eligible]}")
    out = folder / "nothing"
    code, _, error = quantscope("quantize", pt2, "--recipe", recipe, "--data", data, "--device", "cpu", "--out", out)
    lines = [line for line in error.splitlines() if line]
    report.expect(code == 1 and lines, f"quantize should exit 1 with nothing to quantize; exit {code}: {error}")
    report.expect(not (out / "result.json").exists(), "quantize left a result")
    report.fact(f"nothing observed, as in torch.ao ({lines[-1] if lines else ''})")


def check(title, case, decisions, golden, folder, lowered_differs=None):
    """Runs Quantscope on the case and compares; returns the Report. `lowered_differs` names the deliberate difference from
    torch.ao's lowered form, where there is one."""
    warnings.simplefilter("ignore")
    report, folder = Report(title), pathlib.Path(folder)
    pt2, calib, _ = models.write(case, folder)
    recipe = decisions.write(folder)
    if not golden["observed"]:
        check_nothing_quantized(report, pt2, recipe, calib, folder)
        return report
    out = folder / "out"
    code, _, error = quantscope("quantize", pt2, "--recipe", recipe, "--data", calib, "--device", "cpu", "--export",
                                "torchscript,pt2-reference", "--out", out)
    if not report.expect(code == 0, f"quantize failed with exit code {code}: {error}"):
        return report
    result = json.loads((out / "result.json").read_text())
    report.expect(result["threads"] == oracle.THREADS, f"ran with {result['threads']} threads")
    check_structure(report, golden, result)
    exact = check_parameters(report, golden, result)
    report.fact("parameters equal to the bit" if exact else "parameters not all equal to the bit")
    check_outputs(report, golden, case, out, exact, lowered_differs)
    return report
