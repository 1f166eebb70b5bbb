# SPDX-License-Identifier: Apache-2.0
"""gpu.sh and what it starts, on a machine without a GPU: small on the CPU, one clear line for a device; the counter of calls."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "cli")]
import count_cuda  # noqa: E402
from harness import PROGRAM, in_full, main  # noqa: E402

# Stands for the runtime library: each call gives back a number that shows its arguments came through.
RUNTIME = """
#include <stdlib.h>
typedef struct { unsigned x, y, z; } Dim3;
int cudaMalloc(void **at, size_t n) { *at = malloc(n); return 0; }
int cudaFree(void *at) { free(at); return 0; }
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream) { return (int)n + kind; }
int __cudaLaunchKernel(void *kernel, Dim3 grid, Dim3 block, void **args, size_t shared, void *stream) { return (int)(100 * grid.z + 10 * block.x + shared); }
int cudaStreamSynchronize(void *stream) { return 0; }
"""
CALLER = """
#include <stddef.h>
#include <unistd.h>
typedef struct { unsigned x, y, z; } Dim3;
int cudaMalloc(void **, size_t); int cudaFree(void *); int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int __cudaLaunchKernel(void *, Dim3, Dim3, void **, size_t, void *); int cudaStreamSynchronize(void *);
int main(void) {
    void *a, *b; Dim3 grid = {1, 2, 3}, block = {4, 5, 6};
    cudaMalloc(&a, 1000); cudaMalloc(&b, 500); cudaFree(a); cudaMalloc(&a, 200);
    int sum = cudaMemcpyAsync(a, b, 7, 1, 0) + cudaMemcpyAsync(a, b, 9, 2, 0) + cudaMemcpyAsync(a, b, 9, 2, 0);
    sum += __cudaLaunchKernel(a, grid, block, 0, 2, 0);
    cudaStreamSynchronize(0);
    _exit(sum == 8 + 11 + 11 + 342 ? 5 : 6); /* as the program ends: nothing is written at exit */
}
"""


def test_calls_are_counted_and_passed_on(folder):
    library = count_cuda.built(folder)
    if not library:
        print("no C compiler")
        return
    (folder / "runtime.c").write_text(RUNTIME)
    (folder / "caller.c").write_text(CALLER)
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "runtime.c", "-o", "libruntime.so"], cwd=folder, check=True)
    subprocess.run(["cc", "-w", "caller.c", "-o", "caller", "./libruntime.so"], cwd=folder, check=True)
    done = subprocess.run(["./caller"], cwd=folder, env=count_cuda.counting(library, folder / "calls"), check=False)
    counts = count_cuda.counted(folder / "calls")
    assert done.returncode == 5, done.returncode
    wanted = {"launches": 1, "copies_to_device": 1, "bytes_to_device": 7, "copies_to_host": 2, "bytes_to_host": 18, "stream_waits": 1, "device_allocations": 3,
              "device_bytes": 700, "peak_device_bytes": 1500, "device_waits": 0}
    assert {name: counts[name] for name in wanted} == wanted, counts


def script(*words):
    return subprocess.run([HERE.parent / "gpu.sh", PROGRAM, *words], capture_output=True, text=True, timeout=500, check=False,
                          env={**os.environ, "PYTHON": sys.executable, "CUDA_VISIBLE_DEVICES": ""})


@in_full
def test_it_runs_on_the_cpu(folder):
    done = script("--device", "cpu", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("== doctor", "== GPU tests", "left out: they need a device", "resnet18, histogram: calibration / torch float", "resnet18, minmax: calibration",
                  "resnet18, per channel: calibration", "comparison / two forwards", "images/s", "start-up", "predicted for batches of", "it ran on the CPU",
                  "above their bounds:"):
        assert words in done.stdout, f"'{words}' is not in:\n{done.stdout}{done.stderr}"


def test_no_device_is_said(folder):
    if Path("/dev/nvidia0").exists():
        print("there is a device")
        return
    done = script("--quick")
    assert done.returncode == 1 and "no device: this machine has no GPU" in done.stdout and "figures" not in done.stdout, done.stdout + done.stderr
    bench = subprocess.run([sys.executable, HERE / "bench_gpu.py", PROGRAM, "--quick"], capture_output=True, text=True, check=False)
    assert bench.returncode == 77 and "no device: PyTorch sees no GPU" in bench.stdout, bench.stdout + bench.stderr


def test_wrong_words(folder):
    done = script("--fast")
    assert done.returncode == 2 and done.stderr.startswith("usage: "), done.stderr
    done = subprocess.run([HERE.parent / "gpu.sh", folder / "none"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no such program" in done.stderr, done.stderr


if __name__ == "__main__":
    main(__name__)
