# SPDX-License-Identifier: Apache-2.0
"""Steps of training beside the same steps of torch.ao's prepared model in eager mode, and what a training brings.

    bench_train.py BUILD [--models resnet18,mobilenet_v2] [--steps 8] [--gain mobilenet_v2] [--files FOLDER]

BUILD is the build folder (target quantscope). A step's time is the difference between a long and a short training, so that start and import do not
count; both sides update the same weights from the same batches by SGD. Set OMP_WAIT_POLICY=PASSIVE and OMP_NUM_THREADS=2. `--gain`: this network
with qconfig x86_qat, calibrated, then trained by self-distillation with every option at its default, and with learned scales.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import models

RATE = 1e-4
RECIPE = {"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86_qat"}}
AS_TORCH = ("--from-scratch", "--no-guard", "--optimizer", "sgd", "--lr", str(RATE), "--schedule", "constant", "--freeze-bn", "never")
EAGER = """
import sys, resource
sys.path.insert(0, sys.argv[1])
import models, torch
from torch.ao.quantization import get_default_qat_qconfig_mapping
from torch.ao.quantization.quantize_fx import prepare_qat_fx
net, images, steps = models.network(sys.argv[2]), models.images(), int(sys.argv[3])
prepared = prepare_qat_fx(net.train(), get_default_qat_qconfig_mapping("x86"), (images[:8],))
optimizer = torch.optim.SGD(prepared.parameters(), lr=float(sys.argv[4]))
teacher = models.network(sys.argv[2])
for step in range(steps):
    batch = images[step % models.BATCHES * models.BATCH:][:models.BATCH]
    with torch.no_grad():
        clean = teacher(batch)
    loss = ((prepared(batch) - clean) ** 2).sum() / (clean ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def measured(command):
    """Processor seconds, peak memory in MB and the output of a process."""
    wrapped = [sys.executable, "-c", "import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
               "sys.stderr.write(done.stderr); used = resource.getrusage(resource.RUSAGE_CHILDREN); "
               "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.returncode, done.stdout]))", *command]
    done = subprocess.run(wrapped, capture_output=True, text=True, check=True)
    seconds, peak, code, text = json.loads(done.stdout)
    if code:
        sys.exit(f"{' '.join(command)}: exit code {code}\n{done.stderr}")
    return seconds, peak, text


def step_time(run, steps):
    """Processor seconds of a step, and the peak of the longer run."""
    short, _, _ = run(steps)
    long, peak, _ = run(3 * steps)
    return (long - short) / (2 * steps), peak


def bench_steps(build, name, steps, folder):
    model, data = models.files(name, folder)
    recipe = pathlib.Path(folder) / "x86_qat.json"
    recipe.write_text(json.dumps(RECIPE))
    with tempfile.TemporaryDirectory() as out:
        ours = step_time(lambda n: measured([f"{build}/bin/quantscope", "train", model, "--recipe", str(recipe), "--data", data, "--out", out, "--steps",
                                             str(n), "--device", "cpu", *AS_TORCH]), steps)
        theirs = step_time(lambda n: measured([sys.executable, "-W", "ignore", "-c", EAGER, str(pathlib.Path(__file__).parent), name, str(n), str(RATE)]),
                           steps)
    print(f"{name}: a step takes {ours[0]:.2f} s of processor, torch.ao's {theirs[0]:.2f}: ratio {ours[0] / theirs[0]:.2f}; "
          f"memory {ours[1]:.0f} MB of {theirs[1]:.0f}: ratio {ours[1] / theirs[1]:.2f}", flush=True)


def bench_gain(build, name, folder, *options):
    model, data = models.files(name, folder)
    recipe = pathlib.Path(folder) / "x86_qat.json"
    recipe.write_text(json.dumps(RECIPE))
    with tempfile.TemporaryDirectory() as out:
        seconds, _, text = measured([f"{build}/bin/quantscope", "train", model, "--recipe", str(recipe), "--data", data, "--out", out, "--device", "cpu",
                                     "--json", *options])
        made = json.loads(text)
        before, best = made["points"][0], made["points"][made["best"]]
        print(f"{' '.join((name, *options))}: {before['guard_db']:.2f} to {best['guard_db']:.2f} dB on the guard after {best['step']} steps, "
              f"{seconds:.0f} s of processor", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--models", default="resnet18,mobilenet_v2")
    parser.add_argument("--gain", default="")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--files", default="/tmp/quantscope-bench")
    given = parser.parse_args()
    for name in filter(None, given.models.split(",")):
        bench_steps(given.build, name, given.steps, given.files)
    for name in filter(None, given.gain.split(",")):
        bench_gain(given.build, name, given.files)
        bench_gain(given.build, name, given.files, "--learn-scales")


if __name__ == "__main__":
    main()
