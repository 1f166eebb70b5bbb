# SPDX-License-Identifier: Apache-2.0
"""Writes good and bad data files into the folder given."""
import pathlib
import pickle
import sys
import zipfile

import numpy as np
import torch

folder = pathlib.Path(sys.argv[1])
x = np.arange(10 * 3, dtype="f4").reshape(10, 3)
ids = np.arange(10 * 2, dtype="i8").reshape(10, 2)
labels = np.arange(10) % 4


def npz(name, **arrays):
    np.savez(folder / f"{name}.npz", **arrays)


def spoiled(value):
    bad = x.copy()
    bad[4, 1] = value
    return bad


npz("named", ids=ids, x=x, labels=labels)
npz("ordered", a=x, b=ids)
np.savez_compressed(folder / "packed.npz", a=x, b=ids)
npz("columns", x=np.asfortranarray(x), ids=np.asfortranarray(ids))
npz("half_named", ids=ids, other=x)
npz("one_missing", x=x)
npz("too_many", x=x, ids=ids, more=x)
npz("double", x=x.astype("f8"), ids=ids)
npz("narrow", x=x, ids=ids.astype("i4"))
npz("bytes", x=x.astype("u1"), ids=ids.astype("u1"))
npz("half", x=x.astype("f2"), ids=ids)
npz("whole", x=x, ids=ids.astype("f4"))
npz("fractions", x=x, ids=ids + 0.5 * (ids == 13))
npz("finer", x=ids.repeat(2, 1)[:, :3] + (1 << 24), ids=ids)
npz("huge", x=np.where(x == 13, 1e300, x.astype("f8")), ids=ids)
npz("complex", x=x.astype("c8"), ids=ids)
npz("rank", x=x.reshape(10, 3, 1), ids=ids)
npz("dims", x=x[:, :2].copy(), ids=ids)
npz("uneven", x=x, ids=ids[:7])
npz("nan", x=spoiled(np.nan), ids=ids)
npz("inf", x=spoiled(-np.inf), ids=ids)
npz("scalar", x=np.float32(1), ids=ids)
npz("empty", x=x[:0], ids=ids[:0])
npz("few_labels", x=x, ids=ids, labels=labels[:3])
npz("many_labels", x=x, ids=ids, labels=np.arange(11) % 4)
npz("float_labels", x=x, ids=ids, labels=labels.astype("f4"))
npz("three", x=x[:3], ids=ids[:3])

tx, tids = torch.from_numpy(x), torch.from_numpy(ids)
torch.save((tx, tids), folder / "tuple.pt")
torch.save({"ids": tids, "x": tx}, folder / "dict.pt")
torch.save((tx.T.contiguous().T, torch.cat([tids, tids], 1)[:, :2]), folder / "views.pt")
torch.save((tx.to_sparse(), tids), folder / "sparse.pt")
torch.save([(tx[:4], tids[:4]), (tx[4:5], tids[4:5]), (tx, tids)], folder / "list.pt")
torch.save([(tx[:4].double(), tids[:4].int()), (tx[4:].double(), tids[4:].int())], folder / "narrow_calls.pt")
torch.save([(tx[:4], tids[:4] + 0.25)], folder / "fraction_call.pt")
torch.save([(tx[:4],)], folder / "short_call.pt")
torch.save([{"x": tx, "ids": tids}, {"x": tx, "ids": tids, "typo": tx}], folder / "stray_call.pt")
torch.save([(tx, tids), (torch.where(tx == 5, torch.inf, tx), tids)], folder / "inf_call.pt")
torch.save([(tx[:4], "word")], folder / "word_call.pt")
torch.save("word", folder / "word.pt")
torch.save((tx, tids), folder / "old.pt", _use_new_zipfile_serialization=False)
torch.save(torch.nn.Linear(2, 2), folder / "module.pt")
(folder / "raw.pt").write_bytes(pickle.dumps({"a": 1}, protocol=2))
(folder / "garbage.pt").write_bytes(b"not a tensor file at all")
(folder / "void.npz").write_bytes(b"")
(folder / "text.csv").write_text("1,2,3")


def with_short_record(source, target):
    """A copy of a saved file whose first storage lost its second half."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for item in old.infolist():
            content = old.read(item)
            new.writestr(item.filename, content[: len(content) // 2] if item.filename.endswith("/data/0") else content)


with_short_record(folder / "tuple.pt", folder / "beyond.pt")
good = (folder / "tuple.pt").read_bytes()
(folder / "cut.pt").write_bytes(good[: len(good) // 2])


class Marker:
    """Would write a file if a reader executed it."""

    def __reduce__(self):
        return (open, (str(folder / "executed"), "w"))


torch.save([tx, Marker()], folder / "hostile.pt")
