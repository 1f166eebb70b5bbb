# SPDX-License-Identifier: Apache-2.0
"""WebDataset shards as data: one tar, a folder, a pattern; the same figures as the same samples in a folder or an .npz."""

import gzip
import io
import json
import tarfile

import numpy as np
import torch
from harness import expect_bad, export_model, main, run, run_good, run_json, write_recipe
from PIL import Image
from torch import nn

SIDE, SAMPLES = 24, 13


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(torch.relu(self.norm(self.conv(x))).mean([2, 3]))


class Scaled(Small):
    def forward(self, x, scale):
        return super().forward(x) * scale


def packed(path, members, form=tarfile.PAX_FORMAT):
    """A tar of (name, content); a content that is a TarInfo is stored as it is."""
    with tarfile.open(path, "w", format=form) as tar:
        for name, content in members:
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            data = b"" if isinstance(content, tarfile.TarInfo) else content
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def image_bytes(pixels, kind="PNG"):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


def array_bytes(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def made(folder, kind="png"):
    """A model, its images in a folder and their members, with labels."""
    torch.manual_seed(7)
    rng = np.random.default_rng(7)
    export_model(Small(), (torch.randn(2, 3, SIDE, SIDE),), folder / "small.pt2")
    (folder / "images").mkdir()
    pixels, members, lines = [], [], []
    for number in range(SAMPLES):
        pixels.append(rng.integers(0, 19 * (number + 1), (SIDE, SIDE, 3), dtype=np.uint8))
        content = image_bytes(pixels[-1], {"png": "PNG", "jpg": "JPEG"}[kind])
        (folder / "images" / f"{number:02}.{kind}").write_bytes(content)
        lines.append(f"{number:02}.{kind},{number % 3}\n")
        members.append([(f"{number:02}.{kind}", content), (f"{number:02}.cls", str(number % 3).encode())])
    (folder / "images" / "labels.csv").write_text("".join(lines))
    values = np.stack(pixels).transpose(0, 3, 1, 2).astype("f4") / np.float32(255)
    np.savez(folder / "same.npz", x=values, labels=np.arange(SAMPLES) % 3)
    return folder / "small.pt2", members, write_recipe(folder, calibration={"batch_size": 4})


def flat(groups):
    return [member for group in groups for member in group]


def figures(folder, model, recipe, data):
    """What a quantization writes that depends on the data: observations, errors, labels."""
    document = run_json("quantize", model, "--recipe", recipe, "--data", data, "--export", "none", "--out", folder / "out")
    return (folder / "out" / "observations.npz").read_bytes(), document["outputs"], document["labels"], document["data"]["calibration_samples"]


def test_one_result_whatever_holds_the_samples(folder):
    model, members, recipe = made(folder)
    packed(folder / "all.tar", flat(members))
    packed(folder / "gnu.tar", flat(members), tarfile.GNU_FORMAT)
    (folder / "shards").mkdir()
    for shard, part in enumerate((members[:3], members[3:4], members[4:])):
        packed(folder / "shards" / f"train-{shard + 8:04}.tar", flat(part))
    named = [(f"{number:02}.json", json.dumps({"caption": "ä", "label": number % 3}).encode()) for number in range(SAMPLES)]
    packed(folder / "json.tar", [one for group, label in zip(members, named) for one in (group[0], label)])
    wanted = figures(folder, model, recipe, folder / "same.npz")
    assert wanted[2] and wanted[3] == SAMPLES, wanted[2:]
    shards = folder / "shards"
    for data in (folder / "images", folder / "all.tar", folder / "gnu.tar", shards, shards / "train-{0008..0010}.tar", shards / "train-{0008,0009,0010}.tar",
                 shards / "tr*.tar", folder / "json.tar"):
        assert figures(folder, model, recipe, data) == wanted, f"{data.name} gives other figures"
    backwards = figures(folder, model, recipe, shards / "train-{0010,0009,0008}.tar")
    assert backwards[2] == wanted[2] and backwards[3] == SAMPLES and backwards[0] != wanted[0], "shards are read in the order given"


def test_compare_and_top1_agree(folder):
    model, members, recipe = made(folder, "jpg")
    packed(folder / "all.tar", flat(members))
    run_good("quantize", model, "--recipe", recipe, "--data", folder / "images", "--export", "none", "--out", folder / "result")
    told = [run_json("compare", model, "--result", folder / "result", "--data", folder / data) for data in ("images", "all.tar")]
    assert told[0]["labels"] and told[0]["labels"] == told[1]["labels"] and told[0]["outputs"] == told[1]["outputs"], told[1]["labels"]


def test_arrays_by_input(folder):
    torch.manual_seed(8)
    model = folder / "scaled.pt2"
    export_model(Scaled(), (torch.randn(2, 3, SIDE, SIDE), torch.rand(2, 1)), model)
    recipe = write_recipe(folder, calibration={"batch_size": 4})
    x, scale = np.random.default_rng(8).standard_normal((SAMPLES, 3, SIDE, SIDE)).astype("f4"), np.linspace(0.5, 1, SAMPLES, dtype="f4")[:, None]
    np.savez(folder / "same.npz", x=x, scale=scale, labels=np.arange(SAMPLES) % 3)
    members = flat([[(f"a/b.c/{n}.scale.npy", array_bytes(scale[n])), (f"a/b.c/{n}.x.npy", array_bytes(np.asfortranarray(x[n]))),
                     (f"a/b.c/{n}.cls", b" %d\n" % (n % 3)), (f"a/b.c/{n}.txt", b"left out")] for n in range(SAMPLES)])
    packed(folder / "named.tar", [("README.md", b"what this is"), (".hidden.npy", b"?"), *members])
    assert figures(folder, model, recipe, folder / "named.tar") == figures(folder, model, recipe, folder / "same.npz")
    packed(folder / "one.tar", flat([[(f"{n}.npy", array_bytes(x[n]))] for n in range(3)]))
    expect_bad("quantize", model, "--data", folder / "one.tar", "--out", folder / "no", contains=["one.tar", "one array a sample", "('x', 'scale')", "KEY.INPUT.npy"], out=folder / "no")
    export_model(Small(), (torch.randn(2, 3, SIDE, SIDE),), folder / "small.pt2")
    np.savez(folder / "x.npz", x=x[:3])
    assert figures(folder, folder / "small.pt2", recipe, folder / "one.tar") == figures(folder, folder / "small.pt2", recipe, folder / "x.npz")
    packed(folder / "doubles.tar", flat([[(f"{n}.x.npy", array_bytes(x[n].astype("f8")))] for n in range(3)]))
    done = run("quantize", folder / "small.pt2", "--recipe", recipe, "--data", folder / "doubles.tar", "--export", "none", "--out", folder / "out")
    assert done.returncode == 0 and "member '0.x.npy'" in done.stderr and "rounded" in done.stderr, done.stderr


def test_the_first_samples_and_nothing_behind_them(folder):
    model, members, _ = made(folder)
    recipe = write_recipe(folder, calibration={"batch_size": 4, "batches": 2})
    broken = [*flat(members[:9]), ("09.png", b"is not read"), ("09.cls", b"none"), ("10.cls", b"0")]
    packed(folder / "all.tar", broken)
    done = run("quantize", model, "--recipe", recipe, "--data", folder / "all.tar", "--export", "none", "--out", folder / "out")
    assert done.returncode == 0 and "the first 8 samples are used: 2 batches of 4" in done.stderr, done.stderr
    packed(folder / "eight.tar", flat(members[:8]))
    first = (folder / "out" / "observations.npz").read_bytes()
    assert first == figures(folder, model, recipe, folder / "eight.tar")[0]


def test_names_of_every_kind(folder):
    model, members, recipe = made(folder)
    wanted = figures(folder, model, recipe, folder / "images")
    long = "d" * 80 + "/" + "e" * 90 + "/"
    for before, form in (("../../up/", tarfile.PAX_FORMAT), ("/abs/", tarfile.PAX_FORMAT), ("grün/猫 ", tarfile.PAX_FORMAT), (long, tarfile.PAX_FORMAT),
                         (long, tarfile.GNU_FORMAT), ("./", tarfile.USTAR_FORMAT)):
        packed(folder / "all.tar", [(before + name, content) for name, content in flat(members)], form)
        assert figures(folder, model, recipe, folder / "all.tar") == wanted, before
    assert not (folder.parent / "up").exists() and not (folder / "up").exists(), "nothing is unpacked"
    packed(folder / "all.tar", [(f"grün/{name}", b"no image" if name == "05.png" else content) for name, content in flat(members)])
    expect_bad("quantize", model, "--recipe", recipe, "--data", folder / "all.tar", "--out", folder / "no", contains=["member 'grün/05.png'"], out=folder / "no")


def test_other_content_is_another_calibration(folder):
    model, members, recipe = made(folder)
    hashes = []
    for data in (members, members[:-1], members):
        for shard in range(2):
            packed(folder / f"s-{shard}.tar", flat(data[shard * 6:shard * 6 + 6 + shard]))
        hashes.append(run_json("quantize", model, "--recipe", recipe, "--data", folder / "s-{0..1}.tar", "--export", "none", "--out", folder / "out")["data"]["calibration_sha256"])
    assert hashes[0] == hashes[2] != hashes[1], hashes
    document = json.loads((folder / "out" / "result.json").read_text())
    assert document["data"]["calibration"] == str(folder / "s-{0..1}.tar"), document["data"]
    run_good("compare", model, "--result", folder / "out", "--data", folder / "s-1.tar")


def link(name, kind, to="00.png"):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return name, info


def bad_archives(folder, members):
    """(file, words of the line)"""
    good = flat(members)
    whole = packed(folder / "whole.tar", good).read_bytes()
    last = good[-2][0]

    def written(name, content):
        (folder / name).write_bytes(content)
        return name

    def of(name, changed):
        packed(folder / name, changed)
        return name

    yield written("cut.tar", whole[:whole.rindex(good[-2][1]) + 100]), [f"member '{last}'", "is truncated"]
    yield written("header.tar", whole[:512 + 300]), ["is truncated"]
    yield written("none.tar", b""), ["is empty"]
    yield written("zeros.tar", bytes(10240)), ["holds no sample"]
    yield written("text.tar", b"no archive at all\n" * 400), ["is not a tar archive"]
    damaged = bytearray(whole)
    damaged[whole.index(b"03.png") + 150] ^= 1  # its header's checksum
    yield written("damaged.tar", bytes(damaged)), ["is damaged after member '02.cls'"]
    yield written("packed.tar.gz", gzip.compress(whole)), ["compressed", "unpack it to a .tar"]
    yield written("packed.tgz", gzip.compress(whole)), ["compressed", "unpack it to a .tar"]
    yield written("hidden.tar", gzip.compress(whole)), ["compressed", "unpack it to a .tar"]
    yield of("image.tar", [(n, b"no image" if n == "04.png" else c) for n, c in good]), ["member '04.png'", "not an image"]
    yield of("webp.tar", [("00.webp", b"RIFF\x10\0\0\0WEBPVP8 "), ("00.cls", b"0")]), ["member '00.webp'", "not an image", ".png or .jpg"]
    yield of("size.tar", [("99.png", image_bytes(np.zeros((9, 9, 3), np.uint8))), ("99.cls", b"0"), *good]), ["9 x 9", "the model takes 24 x 24"]
    yield of("sizes.tar", [*good, ("99.png", image_bytes(np.zeros((9, 9, 3), np.uint8))), ("99.cls", b"1")]), ["member '99.png'", "comes out 9 x 9", "24 x 24"]
    yield of("nolabel.tar", [one for one in good if one[0] != "07.cls"]), ["sample '07'", "has no label"]
    yield of("onelabel.tar", [one for one in good if not one[0].endswith("cls")] + [("99.png", good[0][1]), ("99.cls", b"1")]), ["sample '99'", "has a label"]
    yield of("word.tar", [(n, b"cat" if n == "02.cls" else c) for n, c in good]), ["member '02.cls'", "'cat'", "not a label"]
    yield of("json.tar", [("a.png", good[0][1]), ("a.json", b'{"label": "cat"}')]), ["member 'a.json'", '"label"']
    yield of("badjson.tar", [("a.png", good[0][1]), ("a.json", b'{"label": ')]), ["member 'a.json'", "JSON"]
    yield of("other.tar", [*good, ("99.npy", array_bytes(np.zeros((3, SIDE, SIDE), "f4"))), ("99.cls", b"0")]), ["sample '99'", "has no image"]
    yield of("lone.tar", [*good, ("99.cls", b"0")]), ["sample '99'", "has no image"]
    yield of("two.tar", [("a.png", good[0][1]), ("a.jpg", good[0][1])]), ["sample 'a'", "two members", "'a.png' and 'a.jpg'"]
    yield of("soft.tar", [*good, link("99.png", tarfile.SYMTYPE, "/etc/passwd")]), ["member '99.png'", "is a link"]
    yield of("hard.tar", [*good, link("99.png", tarfile.LNKTYPE)]), ["member '99.png'", "is a link"]
    yield of("texts.tar", [("a.txt", b"x"), ("b.txt", b"y")]), ["no member that feeds the model", ".txt"]
    yield of("shape.tar", [("a.npy", array_bytes(np.zeros((3, 9, 9), "f4")))]), ["member 'a.npy'", "size 24 in dimension 2"]
    yield of("mixed.tar", [("a.npy", array_bytes(np.zeros((3, SIDE, SIDE), "f4"))), ("b.npy", array_bytes(np.zeros((3, SIDE, 9), "f4")))]), ["member 'b.npy'", "another shape", '"batch_size": 1']
    yield of("object.tar", [("a.npy", array_bytes(np.array([None])))]), ["member 'a.npy'", "never read"]
    yield of("noarray.tar", [("a.npy", b"x" * 40)]), ["member 'a.npy'", "not an .npy file"]
    yield "missing-{0..2}.tar", ["missing-0.tar", "no such data file"]
    yield "missing-*.tar", ["names no file"]
    yield "whole{..,}.tar", ["no such data file"]


def test_bad_archives_are_one_line(folder):
    model, members, recipe = made(folder)
    for name, words in bad_archives(folder, members):
        expect_bad("quantize", model, "--recipe", recipe, "--data", folder / name, "--out", folder / "no", contains=[name.split("{")[0].split("*")[0], *words], out=folder / "no")


def test_a_missing_end_is_noted(folder):
    model, members, recipe = made(folder)
    content = packed(folder / "whole.tar", flat(members)).read_bytes()
    end = len(content.rstrip(b"\0")) // 512 * 512 + 512
    (folder / "open.tar").write_bytes(content[:end])
    done = run("quantize", model, "--recipe", recipe, "--data", folder / "open.tar", "--export", "none", "--out", folder / "out")
    assert done.returncode == 0 and "open.tar lacks the mark at the end" in done.stderr, done.stderr
    done = run("quantize", model, "--recipe", recipe, "--data", folder / "whole.tar", "--export", "none", "--out", folder / "out")
    assert done.returncode == 0 and "lacks the mark" not in done.stderr, done.stderr


def test_a_fixed_batch_takes_whole_batches(folder):
    torch.manual_seed(9)
    export_model(Small(), (torch.randn(5, 3, SIDE, SIDE),), folder / "five.pt2", dynamic=False)
    _, members, recipe = made(folder)
    packed(folder / "all.tar", flat(members))
    assert figures(folder, folder / "five.pt2", recipe, folder / "all.tar") == figures(folder, folder / "five.pt2", recipe, folder / "same.npz")
    values = np.zeros((3, SIDE, SIDE), "f4")
    packed(folder / "few.tar", [(f"{n}.npy", array_bytes(values)) for n in range(3)])
    expect_bad("quantize", folder / "five.pt2", "--data", folder / "few.tar", "--out", folder / "no", contains=["holds 3 samples", "takes 5 at a time"], out=folder / "no")


if __name__ == "__main__":
    main(__name__)
