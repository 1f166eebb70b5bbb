# SPDX-License-Identifier: Apache-2.0
"""A real recurrent model: the speaker encoder that the pip package Resemblyzer ships (three LSTM layers), on speech by espeak-ng.

Each mode's embeddings are compared with the float model's (cosine), beside torch.ao's own where it has that mode. Skipped, with the reason,
where the package or espeak-ng cannot be had."""
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import wave
import zipfile

import numpy as np
import torch
from torch import nn
import torch.ao.quantization as tq

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import SOURCE, run_good  # noqa: E402
import lstm_oracle  # noqa: E402

PACKAGE = "Resemblyzer==0.1.4"
RATE, WINDOW, HOP, MELS, FRAMES = 16000, 400, 160, 40, 160
SKIPPED = 77
TEXTS = ["The quick brown fox jumps over the lazy dog near the river bank.", "Engineers measure what every layer loses between float and int8.",
         "Numbers that were never checked are numbers that nobody should trust.", "A small change of scale moves the whole distribution to the left."]
VOICES = ["en-us", "en-gb", "en-us+f3", "en-gb+m7", "en-us+croak", "en-gb+f5", "en-us+m3", "en-gb+whisper"]


class Encoder(nn.Module):
    """The package's network, written from its description: LSTM(40, 256, 3), a linear of the last hidden state, relu, unit length."""

    def __init__(self, explicit=False):
        super().__init__()
        self.lstm, self.linear, self.relu = nn.LSTM(MELS, 256, 3, batch_first=True), nn.Linear(256, 256), nn.ReLU()
        self.explicit = explicit

    def forward(self, mels, h=None, c=None):
        _, (hidden, _) = self.lstm(mels, (h, c)) if self.explicit else self.lstm(mels)
        raw = self.relu(self.linear(hidden[-1]))
        return raw / torch.norm(raw, dim=1, keepdim=True)


def weights(folder):
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, PACKAGE], capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        skip(f"pip has no {PACKAGE} here")
    with zipfile.ZipFile(wheels[0]) as archive:
        archive.extract("resemblyzer/pretrained.pt", folder)
    return torch.load(folder / "resemblyzer" / "pretrained.pt", map_location="cpu", weights_only=False)["model_state"]


def mel_filters():
    """Slaney's mel filters, each of unit area: linear below 1 kHz, logarithmic above."""
    def to_mel(hz):
        return hz * 3 / 200 if hz < 1000 else 15 + 27 * math.log(hz / 1000) / math.log(6.4)

    def to_hz(mel):
        return mel * 200 / 3 if mel < 15 else 1000 * math.exp((mel - 15) * math.log(6.4) / 27)

    edges = np.array([to_hz(m) for m in np.linspace(0, to_mel(RATE / 2), MELS + 2)])
    bins = np.linspace(0, RATE / 2, WINDOW // 2 + 1)
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]


def speech(text, voice, folder):
    path = folder / "say.wav"
    subprocess.run(["espeak-ng", "-v", voice, "-w", path, text], check=True, capture_output=True)
    with wave.open(str(path)) as file:
        rate, raw = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16) / 32768.0
    wanted = np.arange(int(len(raw) * RATE / rate)) * rate / RATE
    sound = np.interp(wanted, np.arange(len(raw)), raw)
    return sound * (10 ** (-30 / 20) / max(np.sqrt(np.mean(sound ** 2)), 1e-9))


def mels(sound, filters):
    spectrum = torch.stft(torch.tensor(sound), WINDOW, HOP, window=torch.hann_window(WINDOW, dtype=torch.float64), center=True,
                          pad_mode="constant", return_complex=True).abs() ** 2
    return (torch.tensor(filters) @ spectrum).T.float()


def utterances(folder):
    """[samples, 160 frames, 40 mels]."""
    filters, pieces = mel_filters(), []
    for voice in VOICES:
        for text in TEXTS:
            frames = mels(speech(text, voice, folder), filters)
            pieces += [frames[start:start + FRAMES] for start in range(0, len(frames) - FRAMES + 1, FRAMES)]
    return torch.stack(pieces)


def cosine(wanted, made):
    return torch.nn.functional.cosine_similarity(wanted, made).mean().item()


def weight_only(folder):
    """A backend with LSTM weights alone in int8, which none of torch.ao's own has."""
    document = json.loads((SOURCE / "resources" / "backends" / "x86.json").read_text())
    document["name"] = "weights"
    for entry in document["patterns"]:
        if entry["pattern"] == ["torch.nn.LSTM"]:
            entry["dtype_configs"] = [{"input_dtype": "float32", "output_dtype": "float32", "weight_dtype": "qint8", "bias_dtype": "float32"}]
    path = folder / "weights.json"
    path.write_text(json.dumps(document))
    own = {"activation": {"observer": "placeholder", "dtype": "float32"},
           "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}
    return {"backend": str(path), "qconfigs": {"own": own}, "mapping": {"global": None, "object_type": [["torch.nn.LSTM", "own"]]}}


def recipes(folder):
    def only(name):
        return {"backend": "x86", "mapping": {"global": None, "object_type": [["torch.nn.LSTM", name], ["torch.nn.Linear", name]]}}

    return {"static": {"backend": "x86"}, "dynamic": only("default_dynamic"), "float16_dynamic": only("float16_dynamic"),
            "weight_only": weight_only(folder)}


def torch_ao(model, calibration, test):
    """torch.ao's embeddings by mode."""
    explicit = Encoder(explicit=True).eval()
    explicit.load_state_dict(model.state_dict())

    def full(batch):
        zeros = torch.zeros(3, len(batch), 256)
        return batch, zeros, zeros

    _, _, static = lstm_oracle.quantize(explicit, tq.get_default_qconfig_mapping("x86"), [full(b) for b in calibration])
    dynamic = tq.quantize_dynamic(model, {nn.LSTM, nn.Linear}, dtype=torch.qint8)
    half = tq.quantize_dynamic(model, {nn.LSTM, nn.Linear}, dtype=torch.float16)
    with torch.no_grad():
        return {"static": static(*full(test)), "dynamic": dynamic(test), "float16_dynamic": half(test)}


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(SKIPPED)


def main():
    if not shutil.which("espeak-ng"):
        skip("espeak-ng is not installed")
    torch.set_num_threads(2)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = Encoder().eval()
        state = {k: v for k, v in weights(folder).items() if k in model.state_dict()}
        model.load_state_dict(state)
        data = utterances(folder)
        data = data[torch.randperm(len(data), generator=torch.Generator().manual_seed(1))]
        calibration, test = list(data[:32].split(8)), data[32:48]
        print(f"{len(data)} utterances of {FRAMES} frames")
        torch.export.save(torch.export.export(model, (calibration[0],)), folder / "model.pt2")
        torch.save([(b,) for b in calibration], folder / "data.pt")
        with torch.no_grad():
            wanted = model(test)
        theirs = {mode: cosine(wanted, made) for mode, made in torch_ao(model, calibration, test).items()}
        failed = 0
        for mode, recipe in recipes(folder).items():
            path = folder / f"{mode}.json"
            path.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "calibration": {"batch_size": 8, "batches": 4}, **recipe}))
            run_good("quantize", folder / "model.pt2", "--recipe", path, "--data", folder / "data.pt", "--device", "cpu", "--export",
                     "torchscript", "--out", folder / mode)
            script = torch.jit.load(folder / mode / "model.int8.ts.pt")
            with torch.no_grad():
                made = torch.cat([script(batch) for batch in test.split(8)])
            mine = cosine(wanted, made)
            if mode in ("static", "dynamic"):
                good = mine > theirs[mode] - 0.02
            else:
                good = mine >= {"weight_only": 0.985, "float16_dynamic": 0.999}[mode]
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'} {mode}: cosine {mine:.4f}" + (f", torch.ao {theirs[mode]:.4f}" if mode in theirs else ""), flush=True)
            if mode == "static":
                failed += report(json.loads((folder / mode / "result.json").read_text()))
    sys.exit(1 if failed else 0)


def report(result):
    """The layers of the static form are told apart: where the loss is."""
    node = next(n for n in result["nodes"] if n["op"] == "aten.lstm.input")
    lost = {entry["name"]: entry["error"]["sqnr_db"] for entry in node["interior"]}
    for layer in range(3):
        values = {name.rsplit(".", 1)[-1]: db for name, db in lost.items() if name.startswith(f"layers.{layer}.")}
        print(f"    layer {layer}: " + ", ".join(f"{name} {db:.1f} dB" for name, db in values.items()), flush=True)
    return len(lost) != 21


if __name__ == "__main__":
    main()
