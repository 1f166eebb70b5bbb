# SPDX-License-Identifier: Apache-2.0
"""Small pieces that ask much of a reader: deep, self-containing, doubled, endless, of absurd size."""

import functools
import io
import json
import struct
import zipfile
import zlib

DEPTHS = (30, 150, 300, 2000, 30_000)


def chain(sign, part="1"):
    return lambda depth: sign.join([part] * depth)


def around(left, middle, right):
    return lambda depth: left * depth + middle + right * depth


# Every form in which TorchScript's grammar nests an expression; {} is its depth.
EXPRESSIONS = {
    "parentheses": around("(", "1", ")"), "lists": around("[", "", "]"), "tuples": around("(", "1", ",)"), "dictionaries": around("{1: ", "1", "}"),
    "calls": around("torch.neg(", "1", ")"), "calls of calls": lambda depth: "x" + "()" * depth, "methods": lambda depth: "x" + ".t()" * depth,
    "attributes": lambda depth: "self" + ".fc" * depth, "subscripts": lambda depth: "x" + "[0]" * depth, "slices": lambda depth: "x" + "[0:1]" * depth,
    "nested subscripts": around("x[", "0", "]"), "keywords": around("torch.neg(self=", "1", ")"), "starred": around("torch.cat([*", "x", "])"),
    "not": lambda depth: "not " * depth + "True", "minus": lambda depth: "-" * depth + "1", "invert": lambda depth: "~" * depth + "1",
    "plus": chain(" + "), "minus chain": chain(" - "), "times": chain(" * "), "divided": chain(" / "), "floor": chain(" // "), "modulo": chain(" % "),
    "power": chain(" ** "), "and": chain(" and ", "True"), "or": chain(" or ", "True"), "equal": chain(" == "), "unequal": chain(" != "),
    "less": chain(" < "), "least": chain(" <= "), "greater": chain(" > "), "in": chain(" in ", "[1]"), "is": chain(" is ", "None"),
    "is not": chain(" is not ", "None"), "bit and": chain(" & "), "bit or": chain(" | "), "bit xor": chain(" ^ "), "shift": chain(" << "),
    "matmul": chain(" @ ", "x"), "ternary": lambda depth: "1 if True else " * depth + "1", "ternary before": around("(1 if ", "True", " else 0)"),
    "lambda": lambda depth: "lambda: " * depth + "1", "comprehension": around("[", "1", " for i in [1]]"), "commas": lambda depth: "(" + "1, " * depth + ")",
    "annotate": around("annotate(int, ", "1", ")"), "types": lambda depth: f"annotate({'List[' * depth}int{']' * depth}, 1)", "text": lambda depth: "\"a\" " * depth,
    "unchecked": around("unchecked_cast(int, ", "1", ")"), "attributes of calls": lambda depth: "x" + ".t().shape" * depth,
}


def statements(indent, depth, kind):
    """Statements that nest in each other, or follow each other without end."""
    steps = [indent + "  " * step for step in range(min(depth, 2000))]
    if kind == "if":
        return "\n".join(step + "if True:" for step in steps) + f"\n{steps[-1]}  zz = 1"
    if kind == "while":
        return "\n".join(step + "while True:" for step in steps[:200]) + f"\n{steps[min(len(steps), 200) - 1]}  zz = 1"
    if kind == "elif":
        return f"{indent}if True:\n{indent}  zz = 1\n{indent}else:\n{indent}  " + f"if True:\n{indent}    zz = 1"
    if kind == "for":
        return "\n".join(step + "for i in range(9):" for step in steps[:200]) + f"\n{steps[min(len(steps), 200) - 1]}  zz = 1"
    if kind == "doubled":
        return f"{indent}l = [1]\n{indent}for i in range(40):\n{indent}  l = torch.add(l, l)"
    if kind == "doubled text":
        return f"{indent}l = \"aaaaaaaa\"\n{indent}for i in range(60):\n{indent}  l = torch.add(l, l)"
    return "\n".join([indent + "x = torch.neg(x)"] * depth)


STATEMENTS = ("if", "while", "elif", "for", "doubled", "doubled text", "long")


def methods(depth, closed):
    """Methods that call each other; `closed`: the last one the first again."""
    lines = []
    for number in range(depth):
        following = f"(self).m{number + 1}(x, )" if number + 1 < depth else "(self).m0(x, )" if closed else "x"
        lines.append(f"  def m{number}(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n    return {following}")
    return "\n".join(lines)


HEAD = b"\x80\x02"


def pickle_bombs():
    """Instructions, without head and end."""
    number = struct.Struct("<q").pack
    return (
        b"]q\x00h\x00a", b"}q\x00h\x00h\x00s", b"]q\x00(h\x00h\x00h\x00e", b"]" * 100_000 + b"a" * 99_999, b")" + b"\x85" * 100_000, b"}" + b"}K\x01s" * 1000,
        b"]" + b"".join(b"q" + bytes([i]) + b"h" + bytes([i]) + b"\x86" for i in range(60)),
        b"](" + b"".join(b"]q" + bytes([i + 1]) + b"(" + (b"h" + bytes([i])) * 20 + b"e" for i in range(1, 30)) + b"e",
        b"(" * 50_000, b"t" * 10, b"0" * 10, b"a" * 5, b"R", b"b", b"u", b"s", b"Q", b"\x81", b"\x93", b"2" * 5000, b"X\xff\xff\xff\x7fabc", b"\x8d" + number(2**62) + b"a",
        b"\x8b\xff\xff\xff\x7f", b"\x8a\xff" + b"\x7f" * 255, b"\x95" + number(-1), b"r\xff\xff\xff\x7f", b"j\xff\xff\xff\x7f", b"cos\nsystem\n", b"c__main__\nNet\n)R",
        b"ctorch\nFloatStorage\n)R", b"ctorch._utils\n_rebuild_tensor_v2\n)R", b"ctorch._utils\n_rebuild_tensor_v2\nN\x85R", b"U\x05\xff\xfe\x00\x1b[", b"G\x7f\xf8\0\0\0\0\0\0", b"\x8a\x08" + number(-2**63),
        b"\x8a\x08" + number(2**31), b"K\x00K\x00\x86", b"N", b"\x88", b"X\x00\x00\x00\x00", b"ccollections\nOrderedDict\n)R", b"P1\n", b"I99999999999999999999\n", b"L-9L\n", b"F1e999\n", b"S'x'\n")


def tree(depth, kind="builtins.tuple", width=1):
    """A tree specification as torch.export writes one."""
    leaf = '{"type":null,"context":null,"children_spec":[]}'
    head, tail = '{"type":"' + kind + '","context":"null","children_spec":[', "]}"
    return "[1," + head * depth + ",".join([leaf] * width) + tail * depth + "]"


def texts(rng):
    """Texts that a program's JSON may be asked to read as something: trees, paths of modules, sizes, code."""
    depth = rng.choice(DEPTHS)
    kind = rng.choice(("builtins.tuple", "builtins.list", "builtins.dict", "collections.namedtuple", "nobody"))
    path = ".".join(["block"] * depth)
    return rng.choice((
        lambda: tree(depth, kind), lambda: tree(2, kind, depth), lambda: tree(1, "builtins.tuple", depth), lambda: tree(depth)[:-rng.randrange(1, 20)],
        lambda: ";".join([f"L__self__,{path},torch.nn.modules.container.Sequential"] * 3), lambda: ";".join(f"L{i},a.b{i},torch.nn.Linear" for i in range(min(depth, 5000))),
        lambda: "," * depth, lambda: ";" * depth, lambda: "File \"/x.py\", line 99999999999999999999, in forward\n" * min(depth, 100), lambda: "(" * depth + "s0" + ")" * depth,
        lambda: "+".join(["s0"] * depth), lambda: "Max(" * depth + "1" + ", 2)" * depth, lambda: "2**" * depth + "9", lambda: "Mod(s0, 0)", lambda: "9**9**9**9", lambda: "-9223372036854775808",
        lambda: "a\x1b[31m\x07\r\nb\0c", lambda: "\ud800", lambda: "x" * depth, lambda: "../" * depth, lambda: "torch.ops.aten.nothing.default", lambda: "torch.ops.higher_order.while_loop"))()


OPERATORS = ("zeros.default", "repeat.default", "index.Tensor", "linalg_inv.default", "cholesky.default", "constant_pad_nd.default", "upsample_nearest2d.vec",
             "embedding.default", "gather.default", "conv2d.default", "linear.default", "svd.default", "nonzero.default", "item.default", "view.default", "expand.default",
             "as_strided.default", "split.Tensor", "chunk.default", "unbind.int", "cat.default", "stack.default", "one_hot.default", "arange.default", "full.default", "set_.default",
             "resize_.default", "copy_.default", "sym_size.int", "_assert_scalar.default", "dropout.default", "bernoulli.default", "lstm.input", "fft_fft.default", "nothing.default")

BLOCK = 1 << 24


@functools.lru_cache(1)
def packed_zeros():
    """(a block's deflate data that may be repeated, the end of such data)"""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(b"\0" * BLOCK) + packer.flush(zlib.Z_FULL_FLUSH)
    return first, zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def zip_bomb(name, blocks, told=None):
    """An archive of one record of `blocks` times 16 MiB of zeros; `told` is the size it claims."""
    block, end = packed_zeros()
    data = block * blocks + end
    size = min(blocks * BLOCK if told is None else told, 0xFFFFFFFE)
    checksum = functools.reduce(lambda crc, _: zlib.crc32(bytes(BLOCK), crc), range(min(blocks, 16)), 0)
    name = name.encode()
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, checksum, len(data), size, len(name), 0) + name
    central = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0, checksum, len(data), size, len(name), 0, 0, 0, 0, 0, 0) + name
    return local + data + central + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, len(central), len(local) + len(data), 0)


def damaged_directory(data, rng):
    """An archive whose directory says something else than what is there."""
    data = bytearray(data)
    starts = []
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        starts.append(at)
        at = data.find(b"PK\x01\x02", at + 4)
    if not starts:
        return bytes(data)
    at = rng.choice(starts)
    value = rng.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, rng.randrange(1 << 20)))
    kind = rng.randrange(8)
    if kind == 0:
        struct.pack_into("<I", data, at + 16, value)  # checksum
    elif kind == 1:
        struct.pack_into("<I", data, at + 20, value)  # packed size
    elif kind == 2:
        struct.pack_into("<I", data, at + 24, value)  # size
    elif kind == 3:
        struct.pack_into("<I", data, at + 42, value)  # where it begins
    elif kind == 4:
        struct.pack_into("<H", data, at + 10, rng.choice((1, 8, 9, 12, 14, 95, 99, 0xFFFF)))  # how it is packed
    elif kind == 5:
        struct.pack_into("<H", data, at + 8, rng.choice((1, 8, 0x41, 0x800, 0xFFFF)))  # flags: encrypted ...
    elif kind == 6:
        struct.pack_into("<H", data, at + 28, value & 0xFFFF)  # length of its name
    else:
        struct.pack_into("<I", data, at + 42, struct.unpack_from("<I", data, rng.choice(starts) + 42)[0])  # another record's place
    return bytes(data)


NAMES = ("../x", "../../../../tmp/x", "/etc/x", "a" * 300, "a" * 60_000, "\\x", "C:\\x", "data/../../x", "x\x1b[31m", "\udcff\udcfe", "", ".", "data/weights/0", "con", "a\nb")


def array_header(header, rng):
    """The text that says what a `.npy` holds, changed."""
    kinds = ("<f4", ">f8", "<U100000", "|O", "|V9", "<f2", "<c16", "|b1", "<m8", "<i9", "[('a', '<f4')]", "f" * 3000)
    counts = ("0", "-1", "2147483648", "9223372036854775807", "9223372036854775808", "4294967296, 4294967296", "1, " * 3000, "(" * 3000 + "1" + ")" * 3000, "nan", "1.5", "True")
    return rng.choice((
        lambda: f"{{'descr': {rng.choice(kinds)!r}, 'fortran_order': False, 'shape': (4, 3), }}",
        lambda: f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rng.choice(counts)},), }}",
        lambda: f"{{'descr': '<f4', 'fortran_order': {rng.choice(('None', '1', 'Tru', 'True', ''))}, 'shape': (4, 3), }}",
        lambda: header.replace("shape", "shape': (1,), 'shape"), lambda: header.replace("'", '"'), lambda: header.rstrip()[:-rng.randrange(1, 12)], lambda: "{" * 3000, lambda: header * 300,
        lambda: header + " " * 60_000, lambda: "\x1b[31m\x00\xff" + header, lambda: header.replace("4", rng.choice(counts)), lambda: header.replace("(", "((((")))()


def array_file(data, rng):
    """A `.npy` with another header, its length right or wrong."""
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = array_header(data[10:end].decode("latin-1"), rng).encode("latin-1")
    version = rng.choice((b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\xff\xff"))
    length = len(header) if rng.random() < 0.8 else rng.choice((0, 1, 0xFFFF, 0xFFFFFFFF))
    return data[:6] + version + (struct.pack("<H", length & 0xFFFF) if version == b"\1\0" else struct.pack("<I", length)) + header + data[end:]


def json_text(text, rng):
    """JSON whose text, rather than its values, is odd."""
    depth = rng.choice((100, 190, 210, 1000, 100_000))
    at = text.find(":", rng.randrange(len(text))) + 1 or text.find(":") + 1
    return rng.choice((
        lambda: text[:at] + rng.choice(("NaN", "Infinity", "-Infinity", "1e999", "-1e-999", "0x10", "01", "+1", ".5", "1.", "'a'", "True", "9" * 400, "[1,]", "//c\n1", "\\u0041")) + "," + text[at:],
        lambda: text[:at] + "[" * depth + "1" + "]" * depth + ',"z":' + text[at:], lambda: text[:at] + '{"a":' * depth + "1" + "}" * depth + ',"z":' + text[at:], lambda: text[:at] + "[" * depth,
        lambda: "\ufeff" + text, lambda: text + text, lambda: text + "\0", lambda: "[" * depth, lambda: text.replace('":', '\\u0000":', 1), lambda: text.replace('"', '"\\ud800', 3),
        lambda: text.replace("{", '{"format":"quantscope.recipe","format":3,', 1), lambda: "{" + ",".join(f'"k{i}":1' for i in range(20_000)) + "}", lambda: text.replace(",", ",\r\n\t", 50), lambda: text[:rng.randrange(len(text))]))()


def image_header(data, rng):
    """Absurd sizes in an image's head."""
    size = rng.choice((0, 1, 65_535, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1))
    if data[:4] == b"\x89PNG":
        head = b"IHDR" + struct.pack(">II", size, rng.choice((1, size))) + bytes((rng.choice((1, 8, 16, 3)), rng.choice((0, 2, 3, 6, 9)), 0, 0, rng.choice((0, 1))))
        return data[:12] + head + struct.pack(">I", zlib.crc32(head)) + data[33:]
    if data[:2] == b"BM":
        data = bytearray(data)
        struct.pack_into("<I", data, 18, size)
        struct.pack_into("<I", data, 22, rng.choice((1, size, 0x80000000)))
        struct.pack_into("<H", data, 28, rng.choice((0, 1, 4, 8, 16, 24, 32, 99)))
        struct.pack_into("<I", data, rng.choice((10, 14, 30, 46)), rng.choice((0, 1, 3, size)))
        return bytes(data)
    if data[:1] == b"P":
        return data[:2] + f"\n{rng.choice((size, -1, '9' * 30, '#' * 3000))} {rng.choice((1, size, ''))}\n{rng.choice((255, 0, 65_535, 1 << 31, -1))}\n".encode() + data[15:]
    return data[:rng.randrange(len(data))]


def archive_with(records, rng):
    """Bytes of an archive of (name, content), now and then packed, doubled or with a bomb in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED,) * 9 + (zipfile.ZIP_DEFLATED,))) as made:
        for name, content in records:
            made.writestr(zipfile.ZipInfo(name.encode("utf-8", "replace").decode()), content, compress_type=None)
    return out.getvalue()


def program_of(program, rng):
    """A program of torch.export with its graph changed: chains, cycles, other operators, doubled nodes."""
    graph = program.get("graph_module", {}).get("graph", {})
    nodes = graph.get("nodes", [])
    if not nodes:
        return program
    at, kind = rng.randrange(len(nodes)), rng.randrange(9)
    copy = json.loads(json.dumps(nodes[at]))
    names = list(graph.get("tensor_values", {}))
    if kind == 0:
        nodes[at]["target"] = "torch.ops.aten." + rng.choice(OPERATORS)
    elif kind == 1:
        nodes.insert(at, copy)
    elif kind == 2:
        nodes.extend([copy] * rng.choice((100, 3000)))
    elif kind == 3:  # reads what comes later, itself for one
        for held in nodes[at].get("inputs", []):
            if "as_tensor" in held.get("arg", {}):
                held["arg"]["as_tensor"] = {"name": rng.choice(names)}
    elif kind == 4:
        rng.shuffle(nodes)
    elif kind == 5:
        for value in graph.get("tensor_values", {}).values():
            value["sizes"] = [{"as_int": rng.choice((0, -1, 2**31, 2**63 - 1))}] * rng.choice((1, 4, 70))
    elif kind == 6:  # a chain
        before = json.loads(json.dumps(nodes[at]))
        for number in range(rng.choice((300, 3000, 30_000))):
            node = json.loads(json.dumps(before))
            for held in node.get("outputs", []):
                if isinstance(held.get("as_tensor"), dict):
                    held["as_tensor"]["name"] = f"chain{number}"
            nodes.insert(at + 1, node)
    elif kind == 7:
        metadata = nodes[at].setdefault("metadata", {})
        metadata[rng.choice(("nn_module_stack", "stack_trace", "source_fn_stack", "torch_fn"))] = texts(rng)
    else:
        for key in ("in_spec", "out_spec"):
            for call in program.get("graph_module", {}).get("module_call_graph", []):
                if call.get("signature") and rng.random() < 0.7:
                    call["signature"][key] = texts(rng)
    return program
