# SPDX-License-Identifier: Apache-2.0
"""Small networks that between them call what real ones call; a linear layer or a convolution in each gives the quantizer something to do."""
import torch
from torch import nn
from torch.nn import functional as F


class Step(nn.Module):
    """A linear layer before a function of its output and the inputs."""

    def __init__(self, function, width=8, made=8):
        super().__init__()
        self.linear = nn.Linear(width, made)
        self.function = function

    def forward(self, x):
        return self.function(self.linear(x))


class Two(Step):
    """The same with a second input."""

    def forward(self, x, y):
        return self.function(self.linear(x), y)


class Image(nn.Module):
    """A convolution before a function of its output."""

    def __init__(self, function, channels=4):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3, padding=1)
        self.function = function

    def forward(self, x):
        return self.function(self.conv(x))


class Convolutions(nn.Module):
    """Strides, groups, dilation, padding by word, transposed, in one and three dimensions."""

    def __init__(self):
        super().__init__()
        self.same = nn.Conv2d(3, 8, (3, 4), padding="same", dilation=(2, 1))
        self.grouped = nn.Conv2d(8, 8, 3, stride=2, groups=4, bias=False)
        self.up = nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.line = nn.Conv1d(6, 4, 5, padding=2)
        self.space = nn.Conv3d(1, 2, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)

    def forward(self, x):
        x = F.relu(self.bn(self.same(x)))
        x = self.up(self.grouped(x))
        line = self.line(x.flatten(2))
        return line, self.space(x.unsqueeze(1)).flatten(1, 2)


class Attention(nn.Module):
    """Heads by view and transpose, a mask of bools, one of floats, a causal one, rotary positions, root mean square norms."""

    def __init__(self, width=16, heads=4, words=40, length=12):
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.scale = nn.Parameter(torch.rand(width) + 0.5)
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width)

    def heads_of(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def rotated(self, x):
        length = x.shape[-2]
        angle = torch.arange(length, dtype=torch.float32, device=x.device)[:, None] * torch.exp(-torch.arange(x.shape[-1] // 2).float())[None]
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], dim=-1)

    def forward(self, ids, seen):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        q, k, v = (self.heads_of(part) for part in self.qkv(self.norm(x)).chunk(3, dim=-1))
        mask = seen[:, None, None, :].expand(-1, -1, ids.shape[1], -1)
        far = (1.0 - seen[:, None, None, :].float()) * torch.finfo(torch.float32).min
        a = F.scaled_dot_product_attention(self.rotated(q), self.rotated(k), v, attn_mask=mask)
        b = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        weights = torch.softmax(torch.einsum("bhqd, bhkd -> bhqk", q, k) / 2.0 + far, dim=-1)
        joined = (a + b + weights @ v).transpose(1, 2).reshape(ids.shape[0], ids.shape[1], -1)
        x = x + self.out(joined)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale
        return x + self.down(F.silu(self.gate(x))), x[:, 0].argmax(-1)


class Recurrent(nn.Module):
    """Two layers in both directions, batch first or not; states returned."""

    def __init__(self, kind, **options):
        super().__init__()
        self.inner = kind(6, 5, **options)
        ways = 2 if options.get("bidirectional") else 1
        self.head = nn.Linear(5 * ways, 3)

    def forward(self, x):
        made, state = self.inner(x)
        state = state if isinstance(state, tuple) else (state,)
        return self.head(made), *state


class Bags(nn.Module):
    """Embedding bags of the three modes."""

    def __init__(self):
        super().__init__()
        self.sum, self.mean, self.max = (nn.EmbeddingBag(20, 8, mode=mode) for mode in ("sum", "mean", "max"))
        self.head = nn.Linear(8, 4)

    def forward(self, ids, offsets):
        return self.head(self.sum(ids, offsets) + self.mean(ids, offsets)) + self.max(ids, offsets)[:, :4]


def shapes(x):
    a = x.reshape(x.shape[0], 4, -1).permute(2, 0, 1).flatten(0, 1).unsqueeze(-1)
    b = x.view(x.shape[0] * 2, -1).unflatten(1, (2, -1)).squeeze(1).movedim(0, 1).contiguous()
    c = torch.stack([part.sum() for part in x.split([2, 3, 3], dim=1)]) + torch.cat(x.unbind(1)[:2]).mean()
    d = x[:, None].expand(-1, 3, -1).repeat(1, 2, 1) + x.repeat_interleave(2, dim=0).sum()
    e = F.pad(x, (1, 2), value=0.5).roll(3, 1).flip(1)[:, 1::2]
    f = torch.diff(x, n=2, prepend=x[:, :1]), torch.diagonal(x[:1].reshape(1, 2, 4), 1, 1, 2), torch.hstack([x, x]), torch.vstack([x[0], x[1]])
    return *f, a, b, c, d, e, x.tile(2, 1), x.tril() + x.triu(1) + torch.zeros(x.shape[0], 1)


def places(x):
    index = torch.tensor([[0, 2], [1, 3]])
    picked = x[:, index] + x[:, [3, 1]].unsqueeze(1)
    paired = x[torch.tensor([0, 1, 0]), torch.tensor([2, 3, 4])]
    gathered = x.gather(1, torch.zeros(x.shape[0], 3, dtype=torch.int64) + 2)
    added = torch.zeros_like(x).scatter_add(1, torch.ones(x.shape[0], 8, dtype=torch.int64), x)
    written = x.scatter(1, torch.zeros(x.shape[0], 1, dtype=torch.int64), 7.0).index_select(1, torch.tensor([0, 5]))
    put = torch.index_put(x, (torch.tensor([0, 1]), torch.tensor([1, 1])), torch.tensor([9.0, 8.0]))
    values, order = x.topk(3, dim=1)
    best, where = x.max(dim=1, keepdim=True)
    rows = x.index_add(1, torch.tensor([0, 2]), x[:, :2], alpha=0.5).index_fill(0, torch.tensor([1]), 3.0).index_copy(1, torch.tensor([4]), x[:, 7:])
    return rows, picked, paired, gathered, added, written, put, values, order, best, where, torch.sort(x, dim=1, descending=True)[0]


def reductions(x):
    v, m = torch.var_mean(x, dim=1)
    return (x.sum(), x.mean((0, 1)), x.amax(1), x.amin(0, keepdim=True), x.std(1), v, m, x.prod(1), x.logsumexp(1), x.norm(dim=1), x.norm(p=3, dim=1),
            torch.linalg.vector_norm(x, ord=float("inf"), dim=1), x.cumsum(1), (x > 0).any(1), (x > -9).all(), x.argmin(1), torch.argmax(x), *torch.std_mean(x, 0), torch.count_nonzero(x > 0, 1))


def arithmetic(x, y):
    mask = (x > y) & ~(x.abs() < 0.1) | (x == 0)
    z = torch.where(mask, x, y * 2) + torch.clamp(x, -0.5, 0.7) - x.clamp_min(0.1).clamp_max(y) + torch.maximum(x, y) + torch.addcmul(x, x, y, value=0.5)
    z = z + x.masked_fill(mask, -1.0) + torch.lerp(x, y, 0.3) + x.remainder(0.7) + torch.div(x, 0.3, rounding_mode="floor") + x.floor_divide(0.6) + (1.5 - x)
    z = z + x.sign() * x.abs().sqrt() + x.exp().log1p() + torch.rsqrt(x * x + 1) + x.erf() + x.sin() * x.cos() + x.tanh() + x.square() + x.pow(3) + 2.0 ** x
    z = z + torch.atan2(x, y) + torch.hypot(x, y) + torch.frac(x) + torch.logit(torch.sigmoid(x), 1e-3)
    whole = (x * 10).to(torch.int64)
    return z, whole // 3, whole % 3, whole.float() / 4, x.round() + x.trunc(), torch.nan_to_num(x / (x - x)), (x.double() + 1).float(), whole.bool()


def activations(x):
    total = F.leaky_relu(x) + F.elu(x) + F.celu(x, 1.3) + F.selu(x) + F.gelu(x) + F.gelu(x, approximate="tanh") + F.silu(x) + F.mish(x) + F.softplus(x, 2.0)
    total = total + F.hardswish(x) + F.hardsigmoid(x) + F.hardtanh(x, -0.4, 0.9) + F.relu6(x * 5) + F.logsigmoid(x) + F.softsign(x) + F.softshrink(x, 0.2)
    return total + F.hardshrink(x, 0.3) + F.threshold(x, 0.1, -2.0), F.glu(x, 1), F.log_softmax(x, 1), F.softmin(x, 1)


def pools(x):
    return (F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.max_pool2d(x, 2, dilation=2), F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
            F.avg_pool2d(x, 2, ceil_mode=True, count_include_pad=False), F.adaptive_avg_pool2d(x, (5, 3)), F.adaptive_avg_pool2d(x, 1), F.adaptive_max_pool2d(x, (4, 2)),
            F.max_pool1d(x.flatten(2), 4), F.adaptive_avg_pool1d(x.flatten(2), 7), F.avg_pool3d(x.unsqueeze(1), 2))


def sizes(x):
    size = (11, 17)
    return (F.interpolate(x, scale_factor=2), F.interpolate(x, size=size), F.interpolate(x, size=size, mode="bilinear"), F.interpolate(x, scale_factor=1.5, mode="bilinear"),
            F.interpolate(x, size=size, mode="bilinear", align_corners=True), F.interpolate(x, scale_factor=2.0, mode="bicubic"), F.interpolate(x, size=size, mode="nearest-exact"),
            F.unfold(x, (3, 2), padding=1, stride=2), F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(x, 2), F.pad(x, (1, 2, 3, 0), mode="reflect"), F.pad(x, (1, 1, 1, 1), mode="replicate"),
            F.grid_sample(x, torch.tanh(x[:, :2].permute(0, 2, 3, 1)), align_corners=False))


def norms(x):
    scale = torch.linspace(0.5, 1.5, 4)
    return (F.group_norm(x, 2, scale, -scale), F.instance_norm(x, weight=scale), F.layer_norm(x, x.shape[2:]), F.normalize(x, dim=1),
            F.batch_norm(x, scale, scale, training=False), F.rms_norm(x, [8], torch.linspace(0.5, 1.5, 8)))


def special(x):
    bounds = torch.tensor([-1.0, 0.0, 0.5])
    whole = torch.stack([torch.isclose(x, x + 1e-9), x.signbit()])
    return (x.erfc() + torch.sinc(x) + torch.deg2rad(x) + torch.heaviside(x, x) + torch.copysign(x, -x), torch.fmax(x, -x) + torch.fmin(x, x * 2), torch.xlogy(x.abs(), x.abs() + 1),
            whole, torch.bucketize(x, bounds), torch.bucketize(x, bounds, right=True), torch.searchsorted(bounds, x), x.take(torch.tensor([0, 5])), x.fliplr(), x.flipud(),
            *x.kthvalue(3, 1), x.median(1)[0])


def distances(x):
    return F.cosine_similarity(x, x.roll(1, 0) + 1, dim=1), F.pairwise_distance(x, x.roll(1, 0)), torch.cdist(x, x * 2 + 1), torch.cdist(x, x + 1, p=1), torch.linalg.norm(x, dim=1)


def patches(x):
    return F.fold(F.unfold(x, 2, stride=2), (8, 8), 2, stride=2) + F.fold(F.unfold(x, 3, padding=1), (8, 8), 3, padding=1)


class Rotary(nn.Module):
    """Positions as complex numbers, which ONNX has not; batch and length are open."""

    def __init__(self):
        super().__init__()
        self.words, self.q, self.out = nn.Embedding(40, 16), nn.Linear(16, 16), nn.Linear(16, 8)
        angle = torch.outer(torch.arange(32).float(), 1 / 10 ** (torch.arange(4).float() / 2))
        self.register_buffer("turn", torch.polar(torch.ones_like(angle), angle))

    def forward(self, ids):
        x = self.q(self.words(ids)).unflatten(-1, (2, 8))
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], 4, 2))
        turned = torch.view_as_real(pairs * self.turn[:ids.shape[1]].view(1, ids.shape[1], 1, 4)).flatten(-2)
        return self.out(turned.flatten(-2))


class Branches(nn.Module):
    """A branch and a loop that the data decide."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        from torch._higher_order_ops import while_loop

        x = self.first(x)
        x = torch.cond(x.sum() > 0, lambda x: x.relu() + 1, lambda x: x * 2, (x,))
        rounds, x = while_loop(lambda i, v: (i < 5) & (v.abs().sum() > 1e-3), lambda i, v: (i + 1, v * 0.5 + 0.25), (torch.tensor(0), x))
        return self.last(x), rounds


def made(generator, *shape):
    return torch.randn(*shape, generator=generator)


def cases():
    """name: (module, inputs, whether their first dimension is left open)."""
    g = torch.Generator().manual_seed(11)
    torch.manual_seed(11)
    rows, image = made(g, 4, 8), made(g, 4, 3, 8, 8)
    ids = torch.randint(0, 40, (4, 12), generator=g)
    seen = torch.arange(12)[None] < torch.tensor([12, 9, 5, 7])[:, None]
    sequence = made(g, 4, 7, 6)
    bags = (torch.randint(0, 20, (17,), generator=g), torch.tensor([0, 5, 5, 11]))
    return {
        "shapes": (Step(shapes), (rows,), True), "places": (Step(places), (rows,), True), "reductions": (Step(reductions), (rows,), True),
        "arithmetic": (Two(arithmetic), (rows, made(g, 4, 8)), True), "activations": (Step(activations), (rows,), True), "pools": (Image(pools), (image,), False),
        "sizes": (Image(sizes), (image,), True), "norms": (Image(norms), (image,), True), "convolutions": (Convolutions(), (image,), True),
        "attention": (Attention(), (ids, seen), True),
        "lstm": (Recurrent(nn.LSTM, num_layers=2, bidirectional=True, batch_first=True), (sequence,), False), "gru": (Recurrent(nn.GRU, num_layers=2), (sequence,), False),
        "rnn": (Recurrent(nn.RNN, bidirectional=True, batch_first=True), (sequence,), False), "bags": (Bags(), bags, False),
        "special": (Step(special), (rows,), True), "distances": (Step(distances), (rows,), False), "patches": (Image(patches), (image,), False), "rotary": (Rotary(), (ids,), True),
        "branches": (Branches(), (rows,), False),
    }
