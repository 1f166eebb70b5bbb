# SPDX-License-Identifier: Apache-2.0
"""Writes folders of images, and for each way to prepare them what Pillow and torchvision make of them."""
import json
import pathlib
import sys

import numpy as np
import torch
from PIL import Image
from torchvision.datasets import ImageFolder
from torchvision.transforms import InterpolationMode as Mode
from torchvision.transforms import functional as F

folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(5)


def picture(height, width):
    """Smooth colours with some noise, so that rounding matters everywhere."""
    coarse = rng.integers(0, 256, (height // 8 + 2, width // 8 + 2, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.BICUBIC)).astype(int)
    return Image.fromarray(np.clip(smooth + rng.integers(-20, 21, smooth.shape), 0, 255).astype(np.uint8))


def prepared(path, block, channels=3):
    """torchvision's transforms in the order of its presets."""
    image = Image.open(path).convert("L" if channels == 1 else "RGB")
    if "resize" in block:
        image = F.resize(image, block["resize"], Mode(block.get("interpolation", "bilinear")))
    if "crop" in block:
        image = F.center_crop(image, block["crop"])
    tensor = F.to_tensor(image)
    if block.get("channels") == "bgr":
        tensor = tensor.flip(0)
    if "mean" in block:
        tensor = F.normalize(tensor, block["mean"], block["std"])
    return tensor.permute(1, 2, 0) if block.get("layout") == "nhwc" else tensor


def case(name, block, channels=3, source="flat"):
    files = sorted((folder / source).glob("img*"), key=lambda path: int(path.stem[3:]))
    tensor = torch.stack([prepared(path, block, channels) for path in files])
    np.savez(folder / f"{name}.npz", x=tensor.numpy())
    recipe = {"format": "quantscope.recipe", "version": 1, "calibration": {"preprocess": block}}
    (folder / f"{name}.json").write_text(json.dumps(recipe))


(folder / "flat").mkdir()
for number, (size, ending) in enumerate([((60, 80), "png"), ((201, 133), "PNG"), ((31, 45), "bmp"), ((90, 90), "ppm"),
                                         ((64, 300), "png")]):
    picture(*size).save(folder / "flat" / f"img{[1, 2, 10, 11, 100][number]}.{ending}")
picture(60, 60).convert("L").save(folder / "flat" / "img101.pgm")
picture(60, 60).convert("RGBA").save(folder / "flat" / "img102.png")
picture(60, 60).convert("P").save(folder / "flat" / "img103.png")
(folder / "flat" / ".hidden.png").write_text("no image")
(folder / "flat" / "notes.txt").write_text("no image")

imagenet = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
case("preset", {"resize": 64, "crop": 56, "interpolation": "bilinear", **imagenet})
for word in ("nearest", "bicubic", "lanczos"):
    case(word, {"resize": 50, "crop": [40, 48], "interpolation": word, **imagenet})
case("sides", {"resize": [33, 47]})
case("enlarged", {"resize": 230, "crop": 224})
case("padded", {"crop": [101, 95]})
case("bgr", {"resize": [32, 32], "channels": "bgr", **imagenet})
case("nhwc", {"resize": [32, 30], "layout": "nhwc"})
case("gray", {"resize": 40, "crop": 32, "mean": [0.5], "std": [0.25]}, channels=1)

(folder / "same").mkdir()
for number in range(5):
    picture(24, 32).save(folder / "same" / f"img{number}.png")
case("same", {}, source="same")
(folder / "photos").mkdir()
for number, size in enumerate([(120, 160), (75, 50), (64, 64)]):
    picture(*size).save(folder / "photos" / f"img{number}.jpg", quality=90)
case("photos", {"resize": 48, "crop": 48}, source="photos")

for name, count in (("b", 6), ("a10", 6), ("a9", 6)):
    (folder / "classes" / name / "more").mkdir(parents=True)
    for number in range(count):
        picture(16, 16).save(folder / "classes" / name / ("more" if number > 3 else "") / f"x{number}.png")
samples = ImageFolder(folder / "classes").samples
np.savez(folder / "classes.npz", labels=np.array([label for _, label in samples]))

for name, text in {"csv": "file,class\nimg0.png,3\nimg1.png,1\n\"img2.png\", 4\nimg3.png,1\nimg4.png,5\n",
                   "txt": "3\n1\n4\n1\n5\n", "words": "img0.png 3\nimg1.png 1\nimg2.png 4\nimg3.png 1\nimg4.png 5\n",
                   "few": "3\n1\n", "unnamed": "img0.png,3\n", "letters": "img0.png,3\nimg1.png,cat\n"}.items():
    target = folder / f"labels_{name}"
    target.mkdir()
    for path in (folder / "same").iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    (target / ("labels.csv" if name == "csv" else "labels.txt")).write_text(text)

(folder / "empty").mkdir()
(folder / "broken").mkdir()
(folder / "broken" / "img0.png").write_bytes((folder / "same" / "img0.png").read_bytes())
(folder / "broken" / "img1.png").write_bytes((folder / "same" / "img1.png").read_bytes()[:300])
(folder / "broken" / "img2.png").write_text("no image at all")
(folder / "overlong").mkdir()
picture(24, 32).save(folder / "overlong" / "img0.jpg", quality=90)
tables = bytearray((folder / "overlong" / "img0.jpg").read_bytes())
at = tables.index(b"\xff\xc4") + 5  # a count for each of 16 lengths of codes
tables[at:at + 16] = b"\xff" * 16
(folder / "overlong" / "img0.jpg").write_bytes(tables)
(folder / "garbage").mkdir()
(folder / "garbage" / "img0.png").write_text("no image at all")
