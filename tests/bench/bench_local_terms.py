# SPDX-License-Identifier: Apache-2.0
"""Local error terms on a part of the samples against all of them: how far they lie apart, and what the comparison takes.

    bench_local_terms.py BUILD [--models resnet18,mobilenet_v2] [--samples digits,shapes] [--families] [--files FOLDER]

BUILD is the build folder (target quantscope); --samples are models of resources/samples with their own data; --families are the networks of the
oracle `oracle_models` (small random images, 16 batches of 8), with one line for all. Each is quantized with `--local-terms sampled` and `all` in
turn. A term counts where it lost something (below 100 dB).
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import models
import numpy
import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import families  # noqa: E402

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "resources" / "samples"
LOCAL = ("isolated", "inherited", "born_here")


def quantized(build, model, data, terms):
    """The result document, and the processor seconds of the whole command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([f"{build}/bin/quantscope", "quantize", model, *data, "--device", "cpu", "--export", "none", "--local-terms", terms,
                               "--out", out, "--json"], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def differences(sampled, whole):
    """(difference in dB, standard error) of each local term that lost something, and the share of samples measured."""
    apart, measured, all_samples = [], [], whole["data"]["compared_samples"]
    for ours, theirs in zip(sampled["nodes"], whole["nodes"]):
        for term in LOCAL:
            given, wanted = (ours["error"] or {}).get(term), (theirs["error"] or {}).get(term)
            if not given or not wanted or given["sqnr_db"] is None or wanted["sqnr_db"] > 100:
                continue
            apart.append((abs(given["sqnr_db"] - wanted["sqnr_db"]), given.get("standard_error_db") or 0))
            measured.append(given.get("samples", all_samples) / all_samples)
    return apart, sum(measured) / len(measured)


def spread(apart):
    """How far terms lie apart, in words."""
    within = sum(difference <= 0.1 for difference, _ in apart) / len(apart)
    covered = sum(difference <= 2 * error + 1e-9 for difference, error in apart) / len(apart)
    return (f"{len(apart)} terms, largest difference {max(apart)[0]:.2f} dB, {100 * within:.0f} % within 0.1 dB, {100 * covered:.0f} % within two "
            "standard errors")


def bench(build, name, model, data):
    """Prints one model's figures; returns its differences and processor seconds, (differences, sampled, all)."""
    sampled, less = quantized(build, model, data, "sampled")
    whole, more = quantized(build, model, data, "all")
    apart, part = differences(sampled, whole)
    if not apart:
        print(f"{name}: nothing is lost", flush=True)
        return [], less, more
    times = [document["timing_s"]["compare"] for document in (sampled, whole)]
    print(f"{name}: {spread(apart)}; {100 * part:.0f} % of the samples measured; compare {times[0]:.1f} s of {times[1]:.1f} s, "
          f"whole job {less:.1f} s of {more:.1f} s of processor", flush=True)
    return apart, less, more


def bench_families(build):
    all_terms, less, more = [], 0.0, 0.0
    for name in families.names():
        model, example = families.make(name)
        with tempfile.TemporaryDirectory() as folder:
            try:
                program = torch.export.export(model, (example,), dynamic_shapes=({0: torch.export.Dim("batch", min=2, max=64)},))
            except Exception as error:  # PyTorch fixes the batch of some networks itself
                print(f"{name}: torch.export refuses: {str(error).splitlines()[0][:100]}", flush=True)
                continue
            path, data = pathlib.Path(folder) / "model.pt2", pathlib.Path(folder) / "data.npz"
            torch.export.save(program, path)
            generator = torch.Generator().manual_seed(1)
            numpy.savez(data, x=torch.randn(128, *example.shape[1:], generator=generator).numpy())
            try:
                apart, sampled, whole = bench(build, name, path, ["--data", data])
            except subprocess.CalledProcessError as error:
                print(f"{name}: {error.stderr.strip().splitlines()[-1]}", flush=True)
                continue
        all_terms, less, more = all_terms + apart, less + sampled, more + whole
    print(f"all: {spread(all_terms)}; whole jobs {less:.0f} s of {more:.0f} s of processor", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--models", default="resnet18,mobilenet_v2")
    parser.add_argument("--samples", default="")
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--files", default=str(pathlib.Path(tempfile.gettempdir()) / "quantscope-bench"))
    options = parser.parse_args()
    for name in filter(None, options.samples.split(",")):
        calib = SAMPLES / f"{name}.calib.npz" if (SAMPLES / f"{name}.calib.npz").exists() else SAMPLES / "calib.npz"
        test = calib.with_name(calib.name.replace("calib", "test"))
        bench(options.build, name, SAMPLES / f"{name}.pt2", ["--data", calib, "--compare-on", test])
    for name in filter(None, options.models.split(",")):
        model, data = models.files(name, options.files)
        bench(options.build, name, model, ["--data", data])
    if options.families:
        bench_families(options.build)


main()
