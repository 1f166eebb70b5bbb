# SPDX-License-Identifier: Apache-2.0
"""Models with open dimensions: arithmetic on sizes, guards, sizes that depend on data. They run at several sizes as in PyTorch,
keep their ranges when written back, and data outside a range are refused in one line. Without --all exports that are not strict,
where there are such."""
import pathlib
import tempfile
import unittest

import torch
from torch.export import Dim

from oracle_run import ALL, check_model, main, run_tool

torch.set_num_threads(1)


class Arithmetic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv1d(4, 4, 3, stride=2, padding=1)

    def forward(self, x):
        batch, _, time = x.shape
        y = self.conv(x)
        half = y.shape[2]
        wide = y.reshape(batch * half, 4)
        steps = torch.arange(batch * half, dtype=x.dtype).unsqueeze(1) + time % 3
        padded = torch.nn.functional.pad(wide * steps, (0, 2, 0, torch.sym_max(batch, 5) - batch))
        return padded, padded.new_zeros(half + 1, time * 2 + 1, (time // 2) % 3 + 1), wide.mean() / (time * 0.5)


class Numbers(torch.nn.Module):
    """Sizes as numbers: divided, rounded, compared, returned."""

    def forward(self, x):
        rows, columns = x.shape
        scale = columns / rows
        return x * scale, rows, torch.full((2,), rows * rows * 0.5), x.sum(0) * torch.sym_min(rows, columns), rows * 2 - columns


class Guarded(torch.nn.Module):
    def forward(self, x, y):
        torch._check(x.shape[0] >= 3)
        torch._check(y.shape[0] == 2 * x.shape[0] + 1)
        return torch.cat([x, y[: x.shape[0]]], 1) + y[-1].sum()


class Nonzero(torch.nn.Module):
    def forward(self, x):
        places = x.gt(0).nonzero()
        chosen = torch.masked_select(x, x < 0.5)
        return places, chosen * 2, places.shape[0] + 1


class Item(torch.nn.Module):
    def forward(self, x, n):
        count = n.item()
        torch._check(count >= 1)
        torch._check(count <= x.shape[0])
        return x[:count].sum(0), torch.zeros(count * 2) + count, x.narrow(0, 0, count)


class Repeats(torch.nn.Module):
    def forward(self, x, times):
        return torch.repeat_interleave(x, times, dim=0)


class Upsamples(torch.nn.Module):
    def forward(self, x):
        size = (x.shape[2] * 2 + 1, x.shape[3] // 2)
        return torch.nn.functional.interpolate(x, size=size, mode="bilinear", align_corners=False)


class Windows(torch.nn.Module):
    def forward(self, x):
        batch, height, width, channels = x.shape
        x = x.view(batch, height // 2, 2, width // 2, 2, channels)
        return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, channels)


class Symbolic(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(4)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, model, calls, shapes=None, modes=(False, True), decompose=True):
        model = model.eval()
        for strict in modes if ALL else modes[:1]:
            program = torch.export.export(model, calls[0], dynamic_shapes=shapes, strict=strict)
            for made in [program] + [program.run_decompositions()] * decompose:
                check_model(made, model, calls, self.folder)
                # Sizes that depend on data get new numbers whenever a file is read.
                ranges = [{str(k): v for k, v in torch.export.load(self.folder / f"{name}.pt2").range_constraints.items()
                           if str(k).startswith("s")} for name in ("model", "again")]
                self.assertEqual(*ranges)

    def test_arithmetic(self):
        # Lengths that the guards of the export itself accept.
        self.check(Arithmetic(), [(torch.randn(b, 4, t),) for b, t in ((3, 9), (1, 11), (7, 21), (2, 29))],
                   ({0: Dim("batch"), 2: Dim("time", min=3)},), modes=(True,))

    def test_sizes_as_numbers(self):
        self.check(Numbers(), [(torch.randn(r, c),) for r, c in ((6, 4), (3, 5), (9, 2))], ({0: Dim("r", min=2), 1: Dim("c", min=2)},))

    def test_guards(self):
        rows = Dim("rows", min=3, max=20)
        self.check(Guarded(), [(torch.randn(n, 4), torch.randn(2 * n + 1, 4)) for n in (5, 3, 20)],
                   ({0: rows}, {0: 2 * rows + 1}))

    def test_sizes_from_data(self):
        self.check(Nonzero(), [(torch.randn(r, 4),) for r in (5, 2, 9)], ({0: Dim("rows", min=2)},))

    def test_a_size_out_of_a_tensor(self):
        self.check(Item(), [(torch.randn(6, 3), torch.tensor(n)) for n in (2, 6, 4)], ({0: Dim("rows", min=2)}, None))

    def test_repeats(self):
        self.check(Repeats(), [(torch.randn(3, 2), torch.tensor(t)) for t in ([1, 2, 3], [4, 1, 1])])

    def test_upsampling(self):
        shapes = ({2: Dim("h", min=2, max=64), 3: Dim("w", min=4, max=64)},)
        self.check(Upsamples(), [(torch.randn(1, 3, h, w),) for h, w in ((8, 10), (5, 7))], shapes, decompose=False)

    def test_windows(self):
        half = Dim("half", min=2, max=32)
        self.check(Windows(), [(torch.randn(b, h, 6, 3),) for b, h in ((2, 8), (3, 4), (2, 64))], ({0: Dim("b"), 1: 2 * half},))

    def refusal(self, program, calls):
        path = self.folder / "model.pt2"
        torch.export.save(program, path)
        torch.save(calls, self.folder / "data.pt")
        done = run_tool(path, self.folder / "data.pt", self.folder)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done.stderr

    def test_outside_of_a_range(self):
        rows = Dim("rows", min=3, max=20)
        program = torch.export.export(Guarded(), (torch.randn(5, 4), torch.randn(11, 4)), dynamic_shapes=({0: rows}, {0: 2 * rows + 1}))
        for n in (21, 2):
            said = self.refusal(program, [(torch.randn(5, 4), torch.randn(11, 4)), (torch.randn(n, 4), torch.randn(2 * n + 1, 4))])
            for part in ("data.pt", "batch 2", "input 'x'", f"size {n} in dimension 0", "3 to 20"):
                self.assertIn(part, said)
        said = self.refusal(program, [(torch.randn(5, 4), torch.randn(12, 4))])
        for part in ("input 'y'", "size 12 in dimension 0", "takes 11"):
            self.assertIn(part, said)

    def test_two_inputs_of_one_size(self):
        rows = Dim("rows")

        class Adds(torch.nn.Module):
            def forward(self, x, y):
                return x + y

        program = torch.export.export(Adds(), (torch.randn(5, 4), torch.randn(5, 4)), dynamic_shapes=({0: rows}, {0: rows}))
        said = self.refusal(program, [(torch.randn(5, 4), torch.randn(1, 4))])
        self.assertIn("the model takes 5, the size of dimension 0 of 'x'", said)

    def test_a_multiple(self):
        half = Dim("half", min=2, max=32)
        program = torch.export.export(Windows(), (torch.randn(2, 8, 6, 3),), dynamic_shapes=({1: 2 * half},))
        said = self.refusal(program, [(torch.randn(2, 7, 6, 3),)])
        self.assertIn("input 'x' has size 7 in dimension 1", said)


if __name__ == "__main__":
    main()
