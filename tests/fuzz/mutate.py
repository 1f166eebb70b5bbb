# SPDX-License-Identifier: Apache-2.0
"""Mutations that keep a file's structure, so that they reach what lies behind its first check."""

import io
import json
import struct
import zipfile

import bombs
import meanings

NUMBERS = (0, 1, -1, 2, 255, 256, 2**31 - 1, 2**31, -2**31, 2**32, 2**53, 2**63 - 1, -2**63, 2**63, 2**64, 10**30, 0.5, -0.0, 1e308, 1e-320)
TEXTS = ("", ".", "..", "/", "a" * 5000, "\x1b[31m", "\u202e", "'", '"', "\\", "%s%n", "aten.add.Tensor", "torch.nn.Linear", "s0", "NaN", "-1",
         "99999999999999999999", "(" * 3000, "[" * 3000, "(a+)+$", "(?=x)", ".".join("abcdefgh" * 40), "/dev/zero", "../../x", "None", "x" * 70000)


def bytes_of(data, rng):
    """Bits, runs and lengths of a text or a binary file."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        if not data:
            return b"\0"
        at, kind = rng.randrange(len(data)), rng.randrange(8)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif kind == 2:
            del data[at:at + rng.choice((1, 4, 16, 200))]
        elif kind == 3:
            data[at:at] = data[at:at + rng.choice((1, 8, 64, 300))] * rng.choice((1, 2, 30))
        elif kind == 4:
            data[at:at + 4] = struct.pack("<I", rng.choice((0, 1, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)))
        elif kind == 5:
            data[at:at + 8] = struct.pack("<q", rng.choice((0, -1, 2**62, -2**63, 2**33)))
        elif kind == 6:
            other = rng.randrange(len(data))
            data[at:at + 16] = data[other:other + 16]
        else:
            del data[rng.randrange(len(data)):]
    return bytes(data)


def places(value, into=None):
    """(holder, key) of everything inside a JSON value."""
    into = [] if into is None else into
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(items):
        into.append((value, key))
        places(part, into)
    return into


def nested(value, depth, rng):
    for _ in range(depth):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def json_of(text, rng):
    """Values replaced, moved, taken out, repeated, nested; keys of another name."""
    if rng.random() < 0.1:
        return bombs.json_text(text, rng)
    value = json.loads(text)
    if isinstance(value, dict) and rng.random() < 0.3:
        value = bombs.program_of(value, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        all_places = places(value)
        if not all_places:
            break
        holder, key = rng.choice(all_places)
        kind = rng.randrange(11)
        if kind < 2:
            holder[key] = rng.choice(NUMBERS)
        elif kind < 4:
            holder[key] = rng.choice(TEXTS) if rng.random() < 0.6 else bombs.texts(rng)
        elif kind == 4:
            holder[key] = rng.choice((None, True, False, [], {}, [[]], [None], {"": None}))
        elif kind == 5:
            del holder[key]
        elif kind == 6:
            other, name = rng.choice(all_places)
            try:
                holder[key] = json.loads(json.dumps(other[name]))
            except (KeyError, IndexError):
                pass
        elif kind == 7:
            holder[key] = nested(holder[key], rng.choice((1, 3, 150, 300)), rng)
        elif kind == 8 and isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = holder.pop(key)
        elif kind == 9 and isinstance(holder, list):
            holder.extend(holder[:50] * rng.choice((1, 3, 100)))
        elif isinstance(holder[key], str):
            text_now = holder[key]
            at = rng.randrange(len(text_now) + 1)
            holder[key] = text_now[:at] + rng.choice(TEXTS) + text_now[at:]
        elif isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool):
            holder[key] = holder[key] * rng.choice((-1, 2, 1000)) + rng.choice((-1, 1))
    return json.dumps(value)


SNIPPETS = ("1 % 0", "torch.add(1, 1)", "(1 // 0)", "-9223372036854775808 // -1", "[" * 500 + "]" * 500, "(" * 2000 + "1" + ")" * 2000,
            "not " * 3000 + "True", "x" + ".t()" * 4000, "(" + " + ".join("1" * 4000) + ")", "torch.zeros([99999999999, 9999])",
            "\"a\".zfill(99999999999)", "uninitialized(Tensor)", "[1, 2][99]", "torch.repeat(x, [2147483647, 2147483647])", "None", "x.y.z",
            "ops.aten.zeros([1000000000000])", "gcd(0, 0)", "annotate(List[int], [])", "1e999", "99999999999999999999999", "fork(x)",
            "ops.aten.save(x, \"/tmp/no\")", "unchecked_cast(int, None)", "[0] * 9999999999", "x[0]" * 3, "\"a\" * 99999999999")


def nested_script(text, rng):
    """Depth of every kind that the grammar knows, where a line of a method stands."""
    lines = text.split("\n")
    inside = [at for at, line in enumerate(lines) if line.startswith("    ") and "=" in line] or [len(lines) - 1]
    at, depth, kind = rng.choice(inside), rng.choice(bombs.DEPTHS), rng.random()
    indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
    if kind < 0.5:
        form = bombs.EXPRESSIONS[rng.choice(sorted(bombs.EXPRESSIONS))](depth)
        lines[at] = (lines[at].split("=")[0] if rng.random() < 0.3 else indent + "zz ") + "= " + form + ("\n" + lines[at] if rng.random() < 0.5 else "")
    elif kind < 0.8:
        lines.insert(at, bombs.statements(indent, depth, rng.choice(bombs.STATEMENTS)))
    else:
        lines.append(bombs.methods(min(depth, 5000), rng.random() < 0.5))
        if rng.random() < 0.7:
            lines.insert(at, indent + "zz = (self).m0(x, )")
    return "\n".join(lines)


def script_of(text, rng):
    """Lines moved, names exchanged, expressions in the place of others."""
    if rng.random() < 0.4:
        return nested_script(text, rng)
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind == 0:
            lines[at] = ""
        elif kind == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif kind in (2, 3) and "=" in lines[at]:
            lines[at] = lines[at].split("=")[0] + "= " + rng.choice(SNIPPETS)
        elif kind == 4 and "=" in lines[at]:
            indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
            lines.insert(at, indent + rng.choice(("while True:\n  " + indent + "z = 1", "if True:\n  " + indent + "z = 1", "z9 = " + rng.choice(SNIPPETS))))
        elif kind == 5:
            words = lines[at].split(" ")
            rng.shuffle(words)
            lines[at] = " ".join(words)
        elif kind == 6:
            lines[at] = bytes_of(lines[at].encode(), rng).decode("utf-8", "replace")
        else:
            lines[at] = lines[at].replace("self", rng.choice(("self.self", "x", "1")))
    return "\n".join(lines)


OPCODES = b"(.0125]}NtalbdeuRsKMJGXqrhj\x80\x81\x85\x86\x87\x88\x89\x8a)cQ"


def pickle_of(data, rng):
    """Instructions put in, taken out and repeated."""
    data = bytearray(data)
    if rng.random() < 0.1:
        return bombs.HEAD + rng.choice(bombs.pickle_bombs()) + b"."
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, kind = rng.randrange(2, max(len(data), 3)), rng.randrange(8)
        if kind == 0:
            data[at:at] = bytes([rng.choice(OPCODES)])
        elif kind == 1:
            data[at:at] = b"]q\xf0h\xf0a" * rng.choice((1, 3))  # a list that holds itself
        elif kind == 2:
            data[at:at] = b"]" * 5000 + b"a" * 5000
        elif kind == 3:
            data[at:at] = b"\x86q\xf1h\xf1h\xf1" * 40
        elif kind == 4:
            data[at:at + 1] = bytes([rng.choice(OPCODES)])
        elif kind == 5:
            data[at:at] = rng.choice(bombs.pickle_bombs())
        elif kind == 6:  # a number of another size
            found = [place for place in range(2, len(data) - 1) if data[place:place + 1] == b"K"]
            if found:
                at = rng.choice(found)
                data[at:at + 2] = b"\x8a\x08" + struct.pack("<q", rng.choice((0, -1, 2**31, 2**62, -2**63, 2**63 - 1)))
        else:
            data = bytearray(bytes_of(bytes(data), rng))
    return bytes(data)


def record_meaning(name, data, rng):
    """A record that stays well-formed."""
    if name.endswith(".json"):
        return meanings.json_meaning(data.decode(), rng).encode("utf-8", "surrogatepass")
    if name.endswith(".py"):
        return meanings.script_meaning(data.decode(), rng).encode()
    if name.endswith(".pkl"):
        return meanings.pickle_meaning(data, rng)
    if name.endswith(".pt") and data[:2] == b"PK":
        return archive_of(data, rng)
    if name.endswith(".npy"):
        return meanings.array_bytes(rng)
    return bytes_of(data, rng)


def of_record(name, data, rng):
    """By what a record of an archive is."""
    if rng.random() < 0.45:
        return record_meaning(name, data, rng)
    if name.endswith(".json") and rng.random() < 0.9:
        return json_of(data.decode(), rng).encode()
    if name.endswith(".py"):
        return script_of(data.decode(), rng).encode()
    if name.endswith(".pkl"):
        return pickle_of(data, rng)
    if name.endswith(".pt") and data[:2] == b"PK":
        return archive_of(data, rng)
    if name.endswith(".npy") and len(data) > 10 and rng.random() < 0.7:
        return bombs.array_file(data, rng)
    return bytes_of(data, rng)


def archive_of(data, rng):
    """One record changed, the archive sound around it; now and then the archive itself."""
    whole = rng.random()
    if whole < 0.08:
        return bytes_of(data, rng)
    if whole < 0.16:
        return bombs.damaged_directory(data, rng)
    if whole < 0.2:
        return meanings.archive_shape(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        records = [(info.filename, source.read(info)) for info in source.infolist()]
    weights = [8 if name.endswith((".json", ".py", ".pkl")) else 4 if name.endswith((".npy", ".pt")) else 1 for name, _ in records]
    chosen = rng.choices(range(len(records)), weights)[0]
    kind = rng.random()
    if kind < 0.85:
        name, content = records[chosen]
        records[chosen] = (name, of_record(name, content, rng))
    elif kind < 0.9:
        del records[chosen]
    elif kind < 0.95:
        name = rng.choice((*bombs.NAMES, records[chosen][0]))
        records.insert(rng.randrange(len(records) + 1), (name, records[chosen][1] if rng.random() < 0.7 else b"x"))
    elif kind < 0.98:
        records[chosen] = (records[chosen][0], records[rng.randrange(len(records))][1])
    elif rng.random() < 0.5:
        return bombs.zip_bomb(records[chosen][0], rng.choice((1, 64, 1024)), rng.choice((None, None, 10, 0, 0xFFFFFFF0)))
    else:
        records[chosen] = (records[chosen][0], bytes(64 << 20))
    return bombs.archive_with(records, rng)


TAR_FIELDS = {"name": (0, 100), "size": (124, 12), "sum": (148, 8), "type": (156, 1), "link": (157, 100), "magic": (257, 8), "prefix": (345, 155)}
TAR_SIZES = (b"0", b"777", b"00000000010", b"77777777777", b"-1", b"\x80" + bytes(10) + b"\x7f", b"\xff" * 12, b"\x80" + b"\xff" * 11, b"9" * 11, b"")


def tar_headers(data):
    """Where the headers of a sound tar are."""
    at, found = 0, []
    while at + 512 <= len(data) and any(data[at:at + 512]):
        found.append(at)
        at += 512 + (int(data[at + 124:at + 135].rstrip(b"\0 ") or b"0", 8) + 511) // 512 * 512
    return found


def tar_of(data, rng):
    """One field of a header, with its sum made right again; a member's content, left out, repeated or moved; the whole as bytes."""
    data, headers = bytearray(data), tar_headers(data)
    kind, at = rng.random(), rng.choice(headers)
    if kind < 0.15:
        return bytes_of(bytes(data), rng)
    ends = {start: end for start, end in zip(headers, [*headers[1:], headers[-1] + 1024])}
    if kind < 0.5:
        field = rng.choice(sorted(TAR_FIELDS))
        place, length = TAR_FIELDS[field]
        texts = {"size": TAR_SIZES, "type": tuple(bytes([code]) for code in b"\0001234567gxLKSVMDNA~"), "magic": (b"ustar  \0", b"", b"USTAR\x0000", b"ustar\x0099")}
        text = rng.choice(texts.get(field, (b"", b"../../up.x.npy", b"a" * length, b".", b"/", b"s0.x.npy", b"s0.cls", b"\x1b[31m.npy", b"\xff\xfe.npy", rng.randbytes(length))))
        data[at + place:at + place + length] = text[:length].ljust(length, b"\0")
        if field != "sum":
            data[at + 148:at + 156] = b" " * 8
            data[at + 148:at + 156] = b"%06o\0 " % sum(data[at:at + 512])
        return bytes(data)
    if kind < 0.7:
        name = bytes(data[at:at + 100]).rstrip(b"\0").decode(errors="replace")
        size = int(data[at + 124:at + 135], 8)
        made = of_record(name, bytes(data[at + 512:at + 512 + size]), rng)[:size]
        return bytes(data[:at + 512]) + made.ljust(size, b"\0") + bytes(data[at + 512 + size:])
    part, rest = bytes(data[at:ends[at]]), bytes(data[:at]) + bytes(data[ends[at]:])
    if kind < 0.8:
        return rest
    to = rng.choice([0, *(place for place in headers if place < len(rest))])
    return rest[:to] + part * rng.choice((1, 2)) + rest[to:]


def mutated(data, form, rng):
    """A mutation of a file's bytes; `form` is "zip", "json", "npy", "image", "tar" or "bytes"."""
    if form == "tar":
        return tar_of(data, rng)
    if form == "zip":
        return archive_of(data, rng)
    if form == "json" and rng.random() < 0.45:
        return meanings.json_meaning(data.decode(), rng).encode("utf-8", "surrogatepass")
    if form == "json" and rng.random() < 0.9:
        made = json_of(data.decode(), rng).encode("utf-8", "surrogatepass")
        return bytes_of(made, rng) if rng.random() < 0.1 else made
    if form == "npy":
        return of_record("x.npy", data, rng)
    if form == "image" and rng.random() < 0.45:
        return meanings.image_meaning(data, rng)
    if form == "image" and rng.random() < 0.4:
        return bombs.image_header(data, rng)
    return bytes_of(data, rng)
