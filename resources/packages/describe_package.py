#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what an installed tree is made of, from what really lies in it.

    describe_package.py PREFIX FACTS

FACTS is the JSON that resources/cmake/Install.cmake writes. In PREFIX/share/doc/quantscope appear `quantscope.spdx.json` (SPDX 2.3: every
program and library with its hashes, where it comes from, and the Debian packages that it needs), `NEEDS` (these packages as
one line for apt-get) and `licences/` (the licence of each part that is not this project's).
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import uuid

# Compiled in from headers: Debian's package, licence.
COMPILED_IN = {part["package"]: part["licence"]
               for part in json.loads((pathlib.Path(__file__).resolve().parents[1] / "licences.json").read_text())["licences"]
               if part.get("compiled_in")}
# Loaded by name at run time, so that no library names it: the icons are SVG.
LOADED = {"quantscope-ui": ["libqt6svg6"]}


def output(*words):
    """Of a program that may be missing, or fail: then empty."""
    try:
        return subprocess.run(words, capture_output=True, text=True).stdout
    except OSError:
        return ""


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def debian_version(package):
    return output("dpkg-query", "-W", "-f", "${Version}", package).strip()


def copyright_file(package):
    return pathlib.Path("/usr/share/doc", package, "copyright")


def owners(names):
    """{library: Debian package} for libraries of this system."""
    places = dict(re.findall(r"^\s+(\S+) .*x86-64.* => (\S+)$", output("ldconfig", "-p"), re.M))
    found = {}
    for name in names:
        place = places.get(name)
        for path in (place, os.path.realpath(place)) if place else ():
            # What dpkg knows as /lib/... may be found as /usr/lib/... and the other way.
            for known in (path, path.removeprefix("/usr"), "/usr" + path):
                owner = re.match(r"([^:,\s]+)", output("dpkg", "-S", known))
                if owner and name not in found:
                    found[name] = owner.group(1)
    return found


class Bill:
    """The SPDX document while it grows."""

    def __init__(self, facts):
        self.packages, self.files, self.relations = [], [], []
        self.version = facts["version"]

    def package(self, name, version, licence, purpose="LIBRARY"):
        key = "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        if all(other["SPDXID"] != key for other in self.packages):
            self.packages.append({"SPDXID": key, "name": name, "versionInfo": version or "unknown",
                                  "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
                                  "licenseDeclared": licence, "copyrightText": "NOASSERTION",
                                  "primaryPackagePurpose": purpose})
        return key

    def relate(self, one, how, other):
        relation = {"spdxElementId": one, "relationshipType": how, "relatedSpdxElement": other}
        if relation not in self.relations:
            self.relations.append(relation)

    def file(self, path, name, owner, licence):
        data = path.read_bytes()
        key = "SPDXRef-File-" + hashlib.sha256(name.encode()).hexdigest()[:16]
        self.files.append({"SPDXID": key, "fileName": "./" + name, "fileTypes": ["BINARY"],
                           "checksums": [{"algorithm": algorithm.upper(), "checksumValue": hashlib.new(algorithm, data).hexdigest()}
                                         for algorithm in ("sha1", "sha256")],
                           "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": [licence], "copyrightText": "NOASSERTION"})
        self.relate(owner, "CONTAINS", key)
        return key

    def text(self):
        hashes = "".join(file["checksums"][1]["checksumValue"] for file in self.files)
        when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp())),
                                               datetime.timezone.utc)
        return json.dumps({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
                           "name": f"quantscope-{self.version}",
                           "documentNamespace": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_OID, hashes)),
                           "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                            "creators": [f"Tool: quantscope-describe_package-{self.version}"]},
                           "packages": self.packages, "files": self.files, "relationships": self.relations},
                          indent=1) + "\n"


def part_of(name, facts):
    """What brought the file: (name, version, licence)."""
    for part in facts["carried"]:
        if name in part["files"]:
            return part["name"], part["version"], part["licence"]
    licence = "GPL-3.0-or-later" if name == "quantscope-ui" else "Apache-2.0"
    return "quantscope", facts["version"], licence


def binaries(prefix):
    return sorted(path for folder in ("bin", "lib") for path in (prefix / folder).rglob("*")
                  if path.is_file() and not path.is_symlink() and is_elf(path))


def describe(prefix, facts, paths):
    """The bill, and the Debian packages that the tree needs."""
    bill = Bill(facts)
    own = bill.package("quantscope", facts["version"], "Apache-2.0 AND GPL-3.0-or-later", "APPLICATION")
    bill.relate("SPDXRef-DOCUMENT", "DESCRIBES", own)
    inside = {path.name for path in paths}
    needs = {path: set(re.findall(r"^\s*NEEDED\s+(\S+)", output("objdump", "-p", str(path)), re.M)) - inside for path in paths}
    found = owners(sorted(set().union(*needs.values())))
    packages = set()
    for path in paths:
        name, version, licence = part_of(path.name, facts)
        owner = own if name == "quantscope" else bill.package(name, version, licence)
        if owner != own:
            bill.relate(own, "CONTAINS", owner)
        key = bill.file(path, str(path.relative_to(prefix)), owner, licence)
        for package in {found[library] for library in needs[path] if library in found} | set(LOADED.get(path.name, ())):
            packages.add(package)
            bill.relate(key, "DYNAMIC_LINK", bill.package(package, debian_version(package), "NOASSERTION"))
    for package, licence in COMPILED_IN.items():
        bill.relate(own, "STATIC_LINK", bill.package(package, debian_version(package), licence))
    return bill, sorted(packages)


def write_licences(folder, facts):
    texts = {package: [copyright_file(package)] for package in COMPILED_IN}
    texts |= {part["name"]: [pathlib.Path(path) for path in part["licences"]] for part in facts["carried"]}
    for name, files in texts.items():
        missing = [str(file) for file in files if not file.is_file()]
        if missing or not files:
            sys.exit(f"describe_package: the licence of {name} is not there: {' '.join(missing)}")
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copyfile(file, folder / name / file.name)


def main():
    prefix, facts = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    paths = binaries(prefix)
    inside = {path.name for path in paths}
    facts["carried"] = [part for part in facts["carried"] if inside & set(part["files"])]
    bill, packages = describe(prefix, facts, paths)
    folder = prefix / "share/doc/quantscope"
    write_licences(folder / "licences", facts)
    (folder / "quantscope.spdx.json").write_text(bill.text())
    (folder / "NEEDS").write_text("apt-get install " + " ".join(packages) + "\n")


if __name__ == "__main__":
    main()
