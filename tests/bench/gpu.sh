#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a machine with a GPU has to show, in ten minutes: abilities, GPU tests, figures beside PyTorch.
# Needs the built program and a Python with the same torch, torchvision and numpy; no Qt.
#   tests/bench/gpu.sh [PROGRAM] [--device cuda|cpu] [--quick]
#     PROGRAM   the command line, ./build/bin/quantscope without it
#     --quick   one small network, to try this script
#   PYTHON=PATH   another Python than the build's own or the first of the path
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=./build/bin/quantscope device=cuda quick=()
while [ $# -gt 0 ]; do
    case "$1" in
        --device) device="${2:?--device needs cuda or cpu}"; shift ;;
        --quick) quick=(--quick) ;;
        -*) echo "usage: tests/bench/gpu.sh [PROGRAM] [--device cuda|cpu] [--quick]" >&2; exit 2 ;;
        *) program="$1" ;;
    esac
    shift
done
if [ ! -x "$program" ]; then
    echo "gpu.sh: $program: no such program; build the target quantscope, or name the program" >&2
    exit 2
fi
program=$(realpath "$program")
build=$(dirname "$(dirname "$program")")
python=${PYTHON:-}
for one in .venv/bin/python "$(command -v python3)"; do
    [ -z "$python" ] && [ -n "$one" ] && "$one" -c "import torch, torchvision, numpy" 2>/dev/null && python=$one
done
export OMP_WAIT_POLICY=PASSIVE QUANTSCOPE="$program" QUANTSCOPE_SOURCE="$PWD"
deadline=$((SECONDS + 600)) failed=0

part() { printf '\n== %s (%d s of 600)\n' "$1" $((600 - deadline + SECONDS)); }
left() { echo $((deadline - SECONDS > 1 ? deadline - SECONDS : 1)); }

part "doctor"
timeout "$(left)" "$program" doctor --device "$device" || failed=1
if [ "$device" != cpu ] && [ $failed = 1 ] && [ ! -e /dev/nvidia0 ] && [ ! -e /dev/dxg ]; then
    echo "no device: this machine has no GPU; --device cpu tries the script"
    exit 1
fi

# The tests with the label gpu, without those of Qt where it is missing.
gpu_tests() {
    if [ "$device" = cpu ]; then
        echo "left out: they need a device"
        return
    fi
    if command -v ctest >/dev/null && [ -e "$build/CTestTestfile.cmake" ]; then
        timeout 200 ctest --test-dir "$build" -L gpu -j 2 --timeout 150 2>&1 | grep -vE '^ +Start|^Test project|^$'
        return "${PIPESTATUS[0]}"
    fi
    local bad=0 script
    if [ -x "$build/tests/tst_kernels_gpu" ]; then
        timeout 60 "$build/tests/tst_kernels_gpu" | tail -3 || bad=1
    else
        echo "tst_kernels_gpu: left out, it is not built (it needs Qt)"
    fi
    for script in sparse_conv_gpu extensions float_among_kernels non_finite custom_modules; do
        timeout 60 "$python" "tests/cli/test_$script.py" >"/tmp/gpu_test.$$" 2>&1
        case $? in
            0) echo "cli/test_$script: passed" ;;
            77) echo "cli/test_$script: skipped" ;;
            124) echo "cli/test_$script: ended after 60 s" ;;
            *) echo "cli/test_$script: FAILED"; grep -E "^FAIL|Error" "/tmp/gpu_test.$$" | head -5; bad=1 ;;
        esac
        rm -f "/tmp/gpu_test.$$"
    done
    return $bad
}
part "GPU tests"
gpu_tests || failed=1

part "figures"
if [ -z "$python" ]; then
    echo "left out: no Python with torch, torchvision and numpy (PYTHON=PATH names one)"
    failed=1
else
    timeout "$(left)" "$python" tests/bench/gpu/bench_gpu.py "$program" --device "$device" "${quick[@]}" --minutes $(($(left) / 60))
    case $? in
        0) ;;
        77) echo "no figures: there is no device" ;;
        124) echo "ended: the ten minutes are over"; failed=1 ;;
        *) failed=1 ;;
    esac
fi
part "done"
exit $failed
