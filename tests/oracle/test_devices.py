# SPDX-License-Identifier: Apache-2.0
"""On a GPU the whole job gives what it gives on the CPU: verdicts, parameters within the bounds of parity, the same SQNR at the
outputs; and how long the stages take on each.

    python test_devices.py [NAME ...]      names as in models.py and zoo.py
"""
import json
import pathlib
import sys
import tempfile
import warnings

import torch

import agreement
import models
import zoo


def encoder():
    """Attention, whose result a GPU lays out in memory otherwise than the CPU that the file was made on."""
    return torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)


def vision_transformer():
    import torchvision

    net = torchvision.models.VisionTransformer(32, 8, 2, 4, 64, 128)
    for parameter in (net.heads.head.weight, net.class_token):  # zeros as they come
        torch.nn.init.normal_(parameter)
    return net


NETWORKS = {**models.CASES, **zoo.CASES,
            "encoder": lambda: zoo.small("encoder", encoder, (6, 16), 37),
            "vision_transformer": lambda: zoo.small("vision_transformer", vision_transformer, (3, 32, 32), 41),
            "swin_t": lambda: models.from_torchvision("swin_t", 1)}
QUICK = ["digits", "tutorial_bn", "mixed", "functional", "sequence", "activations", "skips", "twice", "resnet18", "mobilenet_v2", "encoder",
         "vision_transformer", "swin_t"]


def quantized(paths, folder, device):
    code, _, error = agreement.quantscope("quantize", paths[0], "--data", paths[1], "--device", device, "--export", "torchscript,pt2-reference", "--out", folder)
    assert code == 0, error
    return json.loads((folder / "result.json").read_text())


def check(name):
    """The Report of one network."""
    report = agreement.Report(name)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        folder = pathlib.Path(folder)
        paths = models.write(NETWORKS[name](), folder)
        cpu, gpu = quantized(paths, folder / "cpu", "cpu"), quantized(paths, folder / "gpu", "cuda")
    report.expect(gpu["device"].startswith("cuda"), f"it ran on {gpu['device']}")
    for ours, theirs in zip(gpu["nodes"], cpu["nodes"], strict=True):
        for key in ("name", "quantized", "reason_code"):
            report.expect(ours[key] == theirs[key], f"{theirs['name']}: {key} is {ours[key]}, on the CPU {theirs[key]}")
    report.expect(agreement.observed_of(gpu).keys() == agreement.observed_of(cpu).keys(), "other values are observed")
    known = {"observed": [{"node": node, **found} for node, found in agreement.observed_of(cpu).items()],
             "weights": [{"node": node["name"], **node["weight"]} for node in cpu["nodes"] if node["weight"]]}
    exact = agreement.check_parameters(report, known, gpu, "on the CPU")
    for ours, theirs in zip(gpu["outputs"], cpu["outputs"], strict=True):
        for form in ("cumulative", "lowered"):
            a, b = ours[form]["sqnr_db"], theirs[form]["sqnr_db"]
            report.expect(abs(a - b) <= agreement.OTHER_PARAMETERS_DB, f"{form} of {ours['name']}: {a:.2f} dB, on the CPU {b:.2f}")
    terms = [abs(ours["error"]["isolated"]["sqnr_db"] - theirs["error"]["isolated"]["sqnr_db"])
             for ours, theirs in zip(gpu["nodes"], cpu["nodes"])
             if all((node["error"] or {}).get("isolated") and node["error"]["isolated"]["sqnr_db"] is not None for node in (ours, theirs))]
    report.fact(f"isolated terms apart by {max(terms):.3f} dB at most")
    report.fact("every parameter the same" if exact else "some parameters are others")
    report.fact("s on CPU/GPU: " + ", ".join(f"{stage} {cpu['timing_s'][stage]:.2f}/{seconds:.2f}" for stage, seconds in gpu["timing_s"].items()
                                             if stage in cpu["timing_s"]))
    return report


def main():
    warnings.simplefilter("ignore")
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        sys.exit(77)
    reports = [check(name) for name in sys.argv[1:] or QUICK]
    for report in reports:
        report.print()
    apart = sum(bool(report.problems) for report in reports)
    print(f"{len(reports)} networks, {apart} apart on the two devices")
    sys.exit(1 if apart else 0)


if __name__ == "__main__":
    main()
