# SPDX-License-Identifier: Apache-2.0
"""Mutations by what a file says, which leave it well-formed: names that become one, values of another type, other operators and types
in a script, other arguments of a pickle's instructions, sound arrays of every kind, chunks of images with right checksums."""

import functools
import io
import json
import pickletools
import re
import struct
import zipfile
import zlib

import numpy as np

EXTREMES = (0, 1, -1, 2, 7, 255, 65_536, 2**31 - 1, 2**31, -2**31, 2**32, 2**53 + 1, 2**63 - 1, -2**63, 2**63, 2**64, 10**40)


def leaves(value, kind, into):
    """Every value of that type inside a JSON value."""
    if isinstance(value, kind):
        into.append(value)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        leaves(part, kind, into)
    return into


def holders(value, into):
    for key, part in list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()):
        into.append((value, key))
        holders(part, into)
    return into


def retyped(value, rng):
    """The same value in another type."""
    if isinstance(value, bool) or value is None:
        return rng.choice((int(bool(value)), str(value), [value], {}))
    if isinstance(value, (int, float)):
        return rng.choice((str(value), [value], float(value) if abs(value) < 1e300 else 0.5, bool(value), {"as_int": value}, -value, None))
    if isinstance(value, str):
        return rng.choice((list(value[:50]), [value], {value: value}, len(value), value.upper(), value.encode().hex(), None))
    if isinstance(value, list):
        return rng.choice((dict(enumerate(value)), value[::-1], value[:1], [value, value], json.dumps(value)[:2000], None, [None] * len(value)))
    return rng.choice((list(value.values()), [[key, part] for key, part in value.items()], {str(key).upper(): part for key, part in value.items()}, json.dumps(value)[:2000], None))


def json_meaning(text, rng):
    value = json.loads(text)
    everywhere = holders(value, [])
    if not everywhere:
        return text
    kind = rng.randrange(9)
    if kind == 0:  # two names are one
        names = sorted(set(leaves(value, str, []))) or ["a"]
        one, other = rng.choice(names), rng.choice(names)
        return text.replace(json.dumps(one), json.dumps(other))
    if kind == 1:
        for _ in range(rng.choice((1, 1, 3))):
            holder, key = rng.choice(everywhere)
            holder[key] = retyped(holder[key], rng)
    elif kind == 2:  # two parts change places
        (one, here), (other, there) = rng.choice(everywhere), rng.choice(everywhere)
        copies = json.loads(json.dumps([one[here], other[there]]))
        one[here], other[there] = copies[1], copies[0]
    elif kind == 3:  # a key that stands twice
        at = rng.choice([match.start() for match in re.finditer(r'"[^"\\]*": ?', text)] or [0])
        key = re.match(r'"[^"\\]*": ?', text[at:])
        return text[:at] + (key.group(0) if key else "") + rng.choice(("null", "[]", "{}", "-1", '"x"')) + "," + text[at:]
    elif kind == 4:  # every number of one place in all rows
        wanted, number = rng.choice(everywhere)[1], rng.choice(EXTREMES)
        for holder, key in everywhere:
            if key == wanted and isinstance(key, str) and not isinstance(holder[key], (dict, list)):
                holder[key] = number
    elif kind == 5:  # lists without their last, or first
        for holder, key in everywhere:
            if isinstance(holder[key], list) and rng.random() < 0.2:
                holder[key] = holder[key][1:] if rng.random() < 0.5 else holder[key][:-1]
    elif kind == 6:  # a key taken out everywhere
        wanted = rng.choice(everywhere)[1]
        for holder, key in everywhere:
            if key == wanted and isinstance(holder, dict):
                holder.pop(key, None)
    elif kind == 7:  # a part that repeats
        holder, key = rng.choice(everywhere)
        if isinstance(holder, list):
            holder[key:key] = [holder[key]] * rng.choice((2, 500))
        else:
            holder[f"{key}_"] = holder[key]
    else:  # numbers in the text, as it stands
        numbers = [match.span() for match in re.finditer(r"(?<![\w.\"])-?\d+(\.\d+)?(?![\w.\"])", text)]
        for start, end in sorted(rng.sample(numbers, min(len(numbers), rng.choice((1, 1, 4)))), reverse=True):
            text = text[:start] + str(rng.choice((*EXTREMES, 0.5, "1e400", "-0", "0.1e-400"))) + text[end:]
        return text
    return json.dumps(value)


TYPES = ("int", "float", "bool", "str", "Tensor", "Optional[Tensor]", "List[int]", "List[List[int]]", "List[Tensor]", "Dict[str, Tensor]", "Dict[int, str]", "Tuple[int, Tensor]",
         "Tuple[()]", "Future[Tensor]", "Device", "NoneType", "Any", "Generator", "number", "Storage", "Stream", "Layout", "__torch__.Net", "__torch__.torch.nn.modules.linear.Linear",
         "Optional[List[Optional[int]]]", "Union[int, str]", "complex", "QScheme", "Await[int]", "RRef[Tensor]")
LITERALS = ("None", "True", "-1", "0", "9223372036854775807", "-9223372036854775808", "1.5", "nan", "inf", '"mean"', "[]", "[0]", "[-1]", "[0, 0, 0, 0, 0]", "[2147483647, 2147483647]",
            "CONSTANTS.c0", "CONSTANTS.c9999", "self", "x", "(x, x)", "{}", '{"a": 1}', 'torch.device("cuda:7")', 'torch.device("nowhere")', "1j", "annotate(Optional[int], None)", "[x, x]", "0.0")


@functools.lru_cache(1)
def operator_names():
    import torch

    return sorted({schema.name.split("::")[1] for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")})


def calls(text):
    return [match.span(2) for match in re.finditer(r"\b(torch|ops\.\w+)\.(\w+)(?=\()", text)]


def script_meaning(text, rng):
    for _ in range(rng.choice((1, 1, 2))):
        kind = rng.randrange(8)
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        found = calls(text)
        if kind < 2 and found:  # another operator
            start, end = rng.choice(found)
            text = text[:start] + rng.choice(operator_names()) + text[end:]
        elif kind == 2:  # another type
            found = [match.span() for match in re.finditer(r"(?<=: )(Tensor|int|float|bool|str|List\[\w+\]|Optional\[\w+\])|(?<=-> )\w+", text)]
            if found:
                start, end = rng.choice(found)
                text = text[:start] + rng.choice(TYPES) + text[end:]
        elif kind == 3:  # another argument
            found = [match.span() for match in re.finditer(r"(?<=[(, ])(-?\d+\.?\d*|True|False|None|[a-z_]\w{0,12}|CONSTANTS\.c\d+|\[[^\[\]]*\])(?=[,)])", text)]
            if found:
                start, end = rng.choice(found)
                text = text[:start] + rng.choice(LITERALS) + text[end:]
        elif kind == 4:  # an operator on anything
            indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
            arguments = ", ".join(rng.choice(LITERALS) for _ in range(rng.randrange(7)))
            lines.insert(at, f"{indent}zz = torch.{rng.choice(operator_names())}({arguments})")
            text = "\n".join(lines)
        elif kind == 5:  # members of a class
            lines.insert(at, rng.choice(("  __parameters__ = [\"weight\", \"weight\", \"none\"]", "  training : Tensor", "  weight : int", "  x : __torch__.Net", "class Net(Module):", "  __buffers__ = 1",
                                         "  def __setstate__(self, state: int) -> NoneType:\n    return None", "  def __getstate__(self) -> int:\n    return 1", "  def forward(self, x: Tensor) -> Tensor:\n    return x",
                                         "  @property\n  def size(self) -> int:\n    return 1", "class E(Enum):\n  A : int = 1", "class T(NamedTuple):\n  a : Tensor\n  b : T", "  __annotations__[\"0\"] = Tensor",
                                         "@torch.jit.export", "import os", "op_version_set = 99", "op_version_set = -1", "class I(Interface):\n  def f(self) -> I:\n    pass")))
            text = "\n".join(lines)
        elif kind == 6:  # names that become one
            names = sorted(set(re.findall(r"\b[a-z_]\w*\b", text)))
            text = re.sub(rf"\b{re.escape(rng.choice(names))}\b", rng.choice(names), text) if names else text
        else:  # lines of a method in another order
            end = min(len(lines), at + rng.choice((2, 5, 20)))
            part = lines[at:end]
            rng.shuffle(part)
            text = "\n".join(lines[:at] + part + lines[end:])
    return text


GLOBALS = ("torch LongStorage", "torch QInt8Storage", "torch BoolStorage", "torch ComplexFloatStorage", "torch UntypedStorage", "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_tensor_v3",
           "torch._utils _rebuild_parameter", "torch._utils _rebuild_qtensor", "torch._utils _rebuild_sparse_tensor", "torch._utils _rebuild_meta_tensor_no_storage", "collections OrderedDict",
           "torch.jit._pickle build_intlist", "torch.jit._pickle build_tensorlist", "torch.jit._pickle restore_type_tag", "builtins eval", "builtins int", "__torch__ Net", "torch device", "torch Size",
           "torch per_tensor_affine", "torch float64", "torch.storage _load_from_bytes", "torch.ao Nothing", "copyreg _reconstructor", "numpy.core.multiarray _reconstruct")


def with_argument(name, argument, rng):
    """The instruction with another argument; None where it has none that is known."""
    if name in ("BININT", "BININT1", "BININT2", "LONG1"):
        number = rng.choice((*EXTREMES, argument + 1, argument - 1, argument * 2))
        size = number.bit_length() // 8 + 1
        return b"\x8a" + bytes([size]) + number.to_bytes(size, "little", signed=True)
    if name == "BINUNICODE":
        text = rng.choice(("", argument + "x", argument[:-1], "0", "cpu", "cuda:0", "meta", "../x", "a" * 3000, "\x1b[31m", "-1", "weight", "99999999999999999999", "privateuseone:0"))
        return b"X" + struct.pack("<I", len(text.encode())) + text.encode()
    if name == "GLOBAL":
        return b"c" + rng.choice(GLOBALS).replace(" ", "\n").encode() + b"\n"
    if name in ("BINPUT", "BINGET"):
        return (b"q" if name == "BINPUT" else b"h") + bytes([rng.choice((0, 1, argument, max(argument - 1, 0), (argument + 1) % 256, 255))])
    if name == "BINFLOAT":
        return b"G" + struct.pack(">d", rng.choice((float("nan"), float("inf"), 1e308, -0.0, 5e-324)))
    if name in ("NEWTRUE", "NEWFALSE", "NONE", "EMPTY_TUPLE", "EMPTY_LIST", "EMPTY_DICT"):
        return rng.choice((b"\x88", b"\x89", b"N", b")", b"]", b"}", b"K\x00"))
    return None


def pickle_meaning(data, rng):
    try:
        steps = [(code, argument, place) for code, argument, place in pickletools.genops(data)]
    except Exception:  # it is none any more
        return data
    ends = [place for _, _, place in steps[1:]] + [len(data)]
    parts = [bytes(data[place:end]) for (_, _, place), end in zip(steps, ends)]
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, kind = rng.randrange(len(parts)), rng.random()
        if kind < 0.65:
            code, argument, _ = steps[min(at, len(steps) - 1)]
            changed = with_argument(code.name, argument, rng)
            parts[at] = changed if changed is not None else parts[at]
        elif kind < 0.75:
            parts[at] = b""
        elif kind < 0.85:
            parts[at] = parts[at] * 2
        else:
            other = rng.randrange(len(parts))
            parts[at], parts[other] = parts[other], parts[at]
    return b"".join(parts)


def any_array(rng):
    """A sound array of a kind that nobody expects."""
    shape = rng.choice(((), (0,), (4, 0, 3), (4, 3, 6, 6), (12,), (1,) * 20, (3, 4), (2, 3, 6, 6), (12, 3, 6, 6)))
    kind = rng.choice(("f2", "f4", "f8", ">f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", "c8", "c16", "U3", "S2", "M8[s]", "m8[ns]", "V5", "f4,i2", "O", "g"))
    if kind == "O":
        return np.full(shape, None)
    array = np.zeros(shape, np.dtype(kind))
    if kind[-2:] in ("f2", "f4", "f8") and array.size and rng.random() < 0.5:
        array.flat[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, 6e4))
    return np.asfortranarray(array) if rng.random() < 0.2 else array


def array_bytes(rng):
    out = io.BytesIO()
    np.save(out, any_array(rng), allow_pickle=True)
    return out.getvalue()


def png_chunks(data):
    chunks, at = [], 8
    while at + 12 <= len(data):
        size = struct.unpack(">I", data[at:at + 4])[0]
        chunks.append((data[at + 4:at + 8], data[at + 8:at + 8 + size]))
        at += 12 + size
    return chunks


def png_meaning(data, rng):
    chunks = png_chunks(data)
    at, kind = rng.randrange(len(chunks)), rng.randrange(6)
    name, content = chunks[at]
    if kind == 0:
        chunks.insert(at, chunks[rng.randrange(len(chunks))])
    elif kind == 1:
        del chunks[at]
    elif kind == 2:  # more or fewer pixels than the header says
        chunks[at] = (b"IDAT", zlib.compress(bytes(rng.choice((0, 1, 100, 1 << 16, 1 << 24)))))
    elif kind == 3:
        chunks.insert(rng.randrange(len(chunks)), rng.choice(((b"PLTE", bytes(rng.choice((0, 2, 3, 768, 900)))), (b"tRNS", bytes(rng.choice((0, 1, 6, 300)))), (b"CgBI", b"\0\0\0\0"), (b"ABCD", b"x"))))
    elif kind == 4 and name == b"IHDR":
        content = bytearray(content)
        content[8:13] = bytes(rng.choice(((1, 0), (2, 3), (8, 3), (16, 6), (16, 4), (4, 2), (8, 1)))) + bytes((rng.randrange(2), 0, rng.randrange(3)))
        chunks[at] = (name, bytes(content))
    else:
        content = bytearray(content) or bytearray(1)
        content[rng.randrange(len(content))] = rng.randrange(256)
        chunks[at] = (name, bytes(content))
    return data[:8] + b"".join(struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content)) for name, content in chunks)


OTHER_IMAGES = (b"GIF89a\xff\xff\xff\xff\xf7\0\0" + bytes(768) + b",\0\0\0\0\xff\xff\xff\xff\0\x08\xff", b"8BPS\0\x01" + bytes(6) + b"\0\x03\0\0\xff\xff\0\0\xff\xff\0\x08\0\x03" + bytes(40),
                b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 99999 +X 99999\n\x02\x02\xff\xff", b"\0\0\x02" + bytes(9) + b"\xff\xff\xff\xff\x18\0" + bytes(20), b"\0\0\x0a" + bytes(9) + b"\xff\x7f\xff\x7f\x20\0" + b"\xff" * 99,
                b"S\x80\xf64" + bytes(84) + b"PICT" + b"\xff\xff\xff\xff" + bytes(12), b"P7\nWIDTH 9\nHEIGHT 9\nDEPTH 3\nMAXVAL 255\nENDHDR\n", b"RIFF\xff\xff\xff\xffWEBPVP8 ", b"<svg/>", b"\xff\xd8\xff\xe0", b"P6 3 3 65535 " + bytes(17))


def image_meaning(data, rng):
    if rng.random() < 0.2:
        return rng.choice(OTHER_IMAGES)
    if data[:4] == b"\x89PNG":
        return png_meaning(data, rng)
    if data[:2] == b"\xff\xd8":  # one segment of a JPEG: another length, size, table or number of components
        data = bytearray(data)
        starts = [at for at in range(2, len(data) - 4) if data[at] == 0xFF and data[at + 1] in (0xC0, 0xC2, 0xC4, 0xDA, 0xDB, 0xDD, 0xE0, 0xEE)]
        at = rng.choice(starts) if starts else 2
        if rng.random() < 0.3:
            data[at + 1] = rng.choice((0xC0, 0xC1, 0xC2, 0xC4, 0xC9, 0xDA, 0xDB, 0xD9, 0xDD))
        else:
            place = at + 2 + rng.randrange(18)
            data[place:place + 1] = bytes([rng.choice((0, 1, 2, 0x11, 0x44, 0x7F, 0xFF))])
        return bytes(data)
    return data[:2] + bytes(data[2:60]).replace(b"\n", rng.choice((b" ", b"\n#x\n", b"\r\n", b""))) + data[60:]


def archive_shape(data, rng):
    """The same records in an archive of another shape."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        records = [(info.filename, source.read(info)) for info in source.infolist()]
    kind = rng.randrange(7)
    if kind == 0:
        return b"#!/bin/sh\n" * rng.choice((1, 1000)) + data
    if kind == 1:
        return data + data
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))) as made:
        if kind == 2:
            made.comment = b"PK\x05\x06" + bytes(rng.choice((18, 4000)))
        root = {3: "other/", 4: "", 5: "a/" * 200}.get(kind)
        for name, content in records:
            given = name if root is None else root + name.split("/", 1)[-1]
            if kind == 6:
                given = rng.choice((given, given.upper(), given + "/", "./" + given))
            made.writestr(zipfile.ZipInfo(given), content, compress_type=None)
    return out.getvalue()
