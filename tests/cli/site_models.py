# SPDX-License-Identifier: Apache-2.0
"""Networks whose values are objects of the class `sites::SparseTensor`, and data for them."""

import typing
from pathlib import Path

import torch

from harness import PROGRAM

PACK = Path(PROGRAM).parent.parent / "extensions" / "sites"
torch.ops.load_library(str(PACK / "libsites.so"))
SparseTensor = torch.classes.sites.SparseTensor


class Layers(torch.nn.Module):
    """What the networks below share: two linear layers of sites, one of images."""

    def __init__(self):
        super().__init__()
        self.w1, self.b1 = torch.nn.Parameter(torch.randn(8, 4) * 0.5), torch.nn.Parameter(torch.randn(8) * 0.1)
        self.w2 = torch.nn.Parameter(torch.randn(5, 8) * 0.3)
        self.relu, self.last = torch.nn.ReLU(), torch.nn.Linear(5 * 36, 3)


class Methods(Layers):
    """Objects by the class's own constructor, property and methods."""

    def forward(self, features, indices):
        x = SparseTensor(features, indices, [6, 6], 2)
        x = torch.ops.sites.linear(x, self.w1, self.b1)
        x = x.replace_feature(self.relu(x.features))
        x = torch.ops.sites.linear(x, self.w2, None)
        return self.last(x.dense().flatten(1)), x.indices


class Operators(Layers):
    """The same by operators of the library."""

    def forward(self, features, indices):
        x = torch.ops.sites.make(features, indices, [6, 6], 2)
        x = torch.ops.sites.linear(x, self.w1, self.b1)
        x = torch.ops.sites.replace_feature(x, self.relu(torch.ops.sites.features(x)))
        x = torch.ops.sites.linear(x, self.w2, None)
        return self.last(torch.ops.sites.dense(x).flatten(1)), torch.ops.sites.indices(x)


class Whole(Layers):
    """A ReLU that takes and gives objects."""

    def forward(self, features, indices):
        x = torch.ops.sites.linear(SparseTensor(features, indices, [6, 6], 2), self.w1, self.b1)
        x = torch.ops.sites.relu(x)
        x = torch.ops.sites.linear(x, self.w2, None)
        return self.last(x.dense().flatten(1)), x.indices


class Forked(Layers):
    """An object that two operators read, whose fields meet again, and that leaves the model beside a tensor."""

    def __init__(self):
        super().__init__()
        self.w3 = torch.nn.Parameter(torch.randn(8, 4) * 0.5)

    def forward(self, features, indices):
        x = SparseTensor(features, indices, [6, 6], 2)
        a = torch.ops.sites.linear(x, self.w1, self.b1)
        b = torch.ops.sites.linear(x, self.w3, None)
        y = a.replace_feature(self.relu(a.features) + self.relu(b.features))
        return torch.ops.sites.pooled(y, self.w2), y.dense(), y.indices


class Decides(Layers):
    """Data decide which way an object goes."""

    def forward(self, features, indices):
        x = torch.ops.sites.linear(SparseTensor(features, indices, [6, 6], 2), self.w1, self.b1)
        if bool(features.sum() > 0):
            x = x.replace_feature(self.relu(x.features))
        else:
            x = x.replace_feature(-x.features)
        x = torch.ops.sites.linear(x, self.w2, None)
        return self.last(x.dense().flatten(1)), x.indices


class Returned(Layers):
    """An object is what the model gives."""

    def forward(self, features, indices):
        x = torch.ops.sites.linear(SparseTensor(features, indices, [6, 6], 2), self.w1, self.b1)
        return x.replace_feature(self.relu(x.features))


class Held(Layers):
    """An object that the model holds."""

    def __init__(self, start):
        super().__init__()
        self.start = start

    def forward(self, x):
        return self.last((self.start.get_features() + x).relu().repeat(1, 4)[:, :15].reshape(1, 180)), self.start.dense()


class Places(typing.NamedTuple):
    """Features with their places, as a named tuple."""

    features: torch.Tensor
    indices: torch.Tensor


class Named(Layers):
    """A named tuple goes from layer to layer and is what the model gives."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 5)

    def layer(self, x: Places):
        return Places(self.relu(self.first(x.features)), x.indices)

    def forward(self, features, indices):
        x = self.layer(Places(features, indices))
        return Places(self.second(x.features), x.indices)


def sites(count):
    """Calls: features of twelve sites, two images with six each."""
    torch.manual_seed(3)
    places = torch.tensor([[image, row, (row * 5 + image) % 6] for image in range(2) for row in range(6)])
    return [(torch.randn(12, 4), places.clone()) for _ in range(count)]


def scripted(folder, kind):
    """The model, its file and its data."""
    torch.manual_seed(7)
    model, calls = kind().eval(), sites(4)
    file = folder / "m.pt"
    torch.jit.save(torch.jit.trace(model, calls[0]) if kind is Operators else torch.jit.script(model), file)
    torch.save(calls, folder / "data.pt")
    return model, file, folder / "data.pt"


def register_fake():
    """What torch.export computes shapes with."""

    @torch._library.register_fake_class("sites::SparseTensor")
    class FakeSparse:
        def __init__(self, features, indices, shape, batch):
            self.features, self.indices, self.shape, self.batch = features, indices, shape, batch

        @classmethod
        def __obj_unflatten__(cls, flat):
            return cls(**dict(flat))

        def get_features(self):
            return self.features

        def dense(self):
            return self.features.new_empty(self.batch, self.features.shape[1], *self.shape)
