# SPDX-License-Identifier: Apache-2.0
"""Mutated files for every reader: none may crash, hang, take gigabytes or be told in words of a library's insides.

    fuzz.py READ_HOSTILE --count 30                 as in the suite
    fuzz.py READ_HOSTILE --count 2000 --seed 7      2000 a reader
    fuzz.py READ_HOSTILE --reader npz --keep DIR    one reader; what fails is kept in DIR
"""

import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from mutate import mutated
from seeds import make_seeds

LEAKS = re.compile(r"c10::|at::(?!:)\w|INTERNAL ASSERT|report a bug|report this|\bstd::|stoll|stoull|\bstoi\b|map::at|json\.exception|vector::|basic_string|"
                   r"bad_alloc|bad optional|/pytorch/|torch/csrc|\.cpp:\d|\.h:\d|\.cc:\d|[\x00-\x1f\x7f\x9b\u202a-\u202e]|torch::|nlohmann|simdjson|\b_M_\w|"
                   r"\bIValue|TensorImpl|unordered_map|PytorchStream|Exception raised|\benforce\b|CAFFE|UndefinedTensor|libzip|__cxx|terminate called|what\(\)|\b0x[0-9a-f]{8,}")
BY_NAME = ("result", "extension", "run")
BAD = ("crash", "hang", "memory", "thrown")


def read_all(program, reader, model, paths):
    """The outcome and the message for each path."""
    done = subprocess.run([program, reader, str(model)], input="\n".join(map(str, paths)) + "\n", capture_output=True, text=True,
                          errors="replace", check=False)
    lines = done.stdout.split("\n")[:-1]
    assert len(lines) == len(paths), (reader, done.returncode, len(lines), len(paths), done.stderr[-500:])
    return [line.split("\t", 1) for line in lines]


class Round:
    """One run: its mutations, what became of them."""

    def __init__(self, options, folder):
        self.options, self.folder = options, Path(folder)
        self.counts = collections.defaultdict(collections.Counter)
        self.failures = []

    def batch(self, reader, seeds, model, rng, size):
        place = self.folder / reader
        place.mkdir(exist_ok=True)
        paths = []
        for number in range(size):
            seed, form = rng.choice(seeds)
            path = place / f"{number}{seed.suffix}"
            if reader in BY_NAME:  # is read by its name, with what stands beside it
                path = place / str(number) / "kept" / seed.name
                path.parent.mkdir(parents=True)
                for beside in seed.parent.iterdir():
                    if beside.is_file() and beside.stat().st_size < 1 << 20:
                        shutil.copy(beside, path.parent)
            path.write_bytes(mutated(seed.read_bytes(), form, rng))
            paths.append(path)
        for path, (outcome, message) in zip(paths, read_all(self.options.program, reader, model, paths)):
            leak = next((found for found in LEAKS.finditer(message) if not self.is_quoted(found.group(), path)), None)
            self.counts[reader]["leak" if outcome == "refused" and leak else outcome] += 1
            if outcome in BAD or leak:
                self.failures.append((reader, outcome, path, message))
                if self.options.keep:
                    Path(self.options.keep).mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, Path(self.options.keep) / f"{reader}_{outcome}_{len(self.failures)}{path.suffix}")
        shutil.rmtree(place)

    @staticmethod
    def is_quoted(word, path):
        """Whether it is an address that the file itself holds, as torch.ao's dumps do: `<function relu at 0x7f85ba69f740>`."""
        return word.startswith("0x") and word in path.read_text(errors="replace")

    def run(self):
        seeds, model = make_seeds(self.folder)
        readers = [self.options.reader] if self.options.reader else sorted(seeds)
        for reader in readers:  # a reader that refuses its own seed tests nothing
            for (path, _), (outcome, message) in zip(seeds[reader], read_all(self.options.program, reader, model, [path for path, _ in seeds[reader]])):
                assert outcome == "read", (reader, path, outcome, message)
        rngs = {reader: random.Random(f"{self.options.seed} {reader}") for reader in readers}
        end = time.monotonic() + (self.options.seconds or 1e9)
        size = 25 if self.options.seconds else min(100, self.options.count)
        while time.monotonic() < end:
            wanted = [reader for reader in readers if not self.options.count or sum(self.counts[reader].values()) < self.options.count]
            if not wanted:
                break
            for reader in wanted:
                if time.monotonic() < end:
                    self.batch(reader, seeds[reader], model, rngs[reader], size)

    def report(self):
        columns = ("read", "refused", "crash", "hang", "memory", "thrown", "leak")
        print("| reader | files | " + " | ".join(columns) + " |")
        for reader, counts in sorted(self.counts.items()):
            print(f"| {reader} | {sum(counts.values())} | " + " | ".join(str(counts[column]) for column in columns) + " |")
        for reader, outcome, path, message in self.failures[:40]:
            print(f"{reader} {outcome} {path.name}: {message[:300]}")
        return 1 if self.failures else 0


def main():
    warnings.simplefilter("ignore")
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("--seconds", type=float, default=0)
    words.add_argument("--count", type=int, default=0)
    words.add_argument("--seed", default="quantscope")
    words.add_argument("--reader")
    words.add_argument("--keep")
    options = words.parse_args()
    if not options.seconds and not options.count:
        options.seconds = 45
    with tempfile.TemporaryDirectory() as folder:
        fuzzing = Round(options, folder)
        fuzzing.run()
        return fuzzing.report()


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.exit(main())
