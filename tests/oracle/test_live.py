# SPDX-License-Identifier: Apache-2.0
"""Quantscope against torch.ao, asked here and now: test_live.py [--all | NETWORK/RECIPE ...].

A network with branches, cat, functions and in-place operators, by histograms and by extremes. With --all the sample, a torchvision
network, and those of zoo.py as well.
"""
import sys
import tempfile
import traceback

import torch

import agreement
import models
import oracle
import recipes
import zoo

PAIRS = ["mixed/x86", "mixed/minmax"]
MORE = ["digits/x86", "resnet18/minmax", *(f"{network}/{recipe}" for network in zoo.CASES for recipe in ("x86", "minmax"))]


def compared(pair):
    """The Report of one NETWORK/RECIPE; what breaks on the way is a problem of that pair alone."""
    network, recipe = pair.split("/")
    try:
        case, decisions = {**models.CASES, **zoo.CASES}[network](), recipes.RECIPES[recipe]()
        with tempfile.TemporaryDirectory() as folder:
            program = torch.export.load(models.write(case, folder)[0])
            return agreement.check(pair, case, decisions, oracle.ask(case, decisions, program), folder,
                                   zoo.LOWERED_DIFFERS.get(pair))
    except Exception:  # noqa: BLE001  whatever torch or the comparison has against it
        report = agreement.Report(pair)
        report.expect(False, f"the comparison itself broke: {traceback.format_exc(limit=-4)}")
        return report


def main():
    torch.set_num_threads(oracle.THREADS)
    failed, words = 0, sys.argv[1:]
    for pair in PAIRS + MORE if "--all" in words else words or PAIRS:
        report = compared(pair)
        report.print()
        failed += bool(report.problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
