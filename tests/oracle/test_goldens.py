# SPDX-License-Identifier: Apache-2.0
"""Quantscope against torch.ao's stored answers: test_goldens.py [--all | NETWORK/RECIPE ...]; without --all large networks by one recipe each.

What is observed and shared must always be as stored. The stored numbers hold for processors with the same vector
instructions; on others torch.ao is asked again, since its own last bits differ there.
"""
import json
import sys
import tempfile

import torch

import agreement
import make_goldens
import models
import oracle
import recipes

SECOND = ("resnet18/minmax", "mobilenet_v2/x86")


def golden_for(pair, case, decisions, folder):
    stored = json.loads(make_goldens.path_of(pair).read_text())
    here = make_goldens.environment()
    if stored["torch"] != here["torch"]:
        raise SystemExit(f"{pair}: the golden is of torch {stored['torch']}, this is {here['torch']}: run make_goldens.py")
    golden = make_goldens.from_json(stored)
    if stored["cpu"] == here["cpu"]:
        return golden
    program = torch.export.load(models.write(case, folder)[0])
    answer = oracle.ask(case, decisions, program)
    same = [(r["node"], r["group"], r["dtype"], r["observer"]) for r in golden["observed"]] == \
           [(r["node"], r["group"], r["dtype"], r["observer"]) for r in answer["observed"]]
    if not same:
        raise SystemExit(f"{pair}: torch.ao observes other values here than its golden says")
    return answer


def main():
    torch.set_num_threads(oracle.THREADS)
    torch.backends.quantized.engine = "x86"
    cases, failed = {}, 0
    words = sys.argv[1:]
    for pair in make_goldens.PAIRS if "--all" in words else words or [pair for pair in make_goldens.PAIRS if pair not in SECOND]:
        network, recipe = pair.split("/")
        case = cases.setdefault(network, None) or models.CASES[network]()
        cases[network] = case
        decisions = recipes.RECIPES[recipe]()
        with tempfile.TemporaryDirectory() as folder:
            report = agreement.check(pair, case, decisions, golden_for(pair, case, decisions, folder), folder)
        report.print()
        failed += bool(report.problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
