# SPDX-License-Identifier: Apache-2.0
"""What `quantscope tune` reaches beside other packages: torchao's SmoothQuant, NNCF's accuracy control, auto_quantize of nvidia-modelopt.

    bench_peers.py BUILD [--peers torchao,nncf,modelopt] [--models ...] [--size 96] [--files FOLDER]

BUILD is the build folder (target quantscope). Set OMP_WAIT_POLICY=PASSIVE. Each package must be importable where this runs; a peer whose package is not
is skipped with the reason. Their requirements differ from the project's, so each goes into an environment of its own, with torch 2.11 for the CPU:

    pip install torchao==0.18.0
    pip install nncf==3.4.0 openvino==2026.4.1
    pip install nvidia-modelopt==0.47.0 requests

Both sides get the same 64 samples; both are measured by one function in PyTorch on 64 others, against the float outputs. One line for each network: what
ours reaches, what the peer reaches, seconds of both by the clock. Exits with 1 where ours is worse than the bound that each peer's file names."""
import importlib
import os
import sys
import warnings

import networks

PEERS = ("torchao", "nncf", "modelopt")


def main():
    parser = networks.arguments("")
    parser.add_argument("--peers", default=",".join(PEERS))
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ["QUANTSCOPE"] = f"{options.build}/bin/quantscope"  # before the oracles that the networks import
    import peer_cases

    code, wanted = 0, options.models
    for name in options.peers.split(","):
        peer = importlib.import_module(f"peer_{name}")
        try:
            print(peer.version(), flush=True)
        except ImportError as error:
            print(f"{name}: skipped: {error}", flush=True)
            continue
        options.models = wanted or ",".join(peer.NETWORKS)
        code |= networks.run_each(options, lambda program, network, given, peer=peer: peer.bench(program, peer_cases.make(network, given.files, given.size)))
    return code


if __name__ == "__main__":
    sys.exit(main())
