# SPDX-License-Identifier: Apache-2.0
"""Writes one array into the folder given in every way that a file can hold it."""
import pathlib
import sys

import numpy as np
import torch

folder = pathlib.Path(sys.argv[1])
# 10 MB: parts of it are read in pieces where the order of the elements is not that of the samples.
x = np.arange(200 * 3 * 65 * 64, dtype="f4").reshape(200, 3, 65, 64)
np.savez(folder / "rows.npz", x=x)
np.savez_compressed(folder / "rows_packed.npz", x=x)
np.savez(folder / "columns.npz", x=np.asfortranarray(x))
np.savez_compressed(folder / "columns_packed.npz", x=np.asfortranarray(x))
np.savez_compressed(folder / "noise_packed.npz", x=np.random.default_rng(1).random((64, 16384), dtype="f4"))

t = torch.from_numpy(x)
torch.save(t, folder / "plain.pt")
torch.save(t.contiguous(memory_format=torch.channels_last), folder / "channels_last.pt")
torch.save(t.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0), folder / "columns.pt")
torch.save(torch.cat([t[:50], t])[50:], folder / "slice.pt")
torch.save([t[:60], t[60:120], t[120:]], folder / "calls.pt")
wide = torch.zeros(200, 3, 65, 128)
wide[..., ::2] = t
torch.save(wide[..., ::2], folder / "every_second.pt")
