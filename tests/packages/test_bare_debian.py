# SPDX-License-Identifier: Apache-2.0
"""The packages on a bare Debian 12: installed, run, removed without a trace.

    BUILD=build python3 tests/packages/test_bare_debian.py

Makes the packages with CPack and a bare system with debootstrap (or takes the one that QS_BARE names), then goes there by
chroot. Needs root, debootstrap and a Debian mirror; exit code 77 without them.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

BUILD = pathlib.Path(os.environ.get("BUILD") or pathlib.Path(os.environ["QUANTSCOPE"]).parents[1])
SKIP = 77
KEPT = ("/etc", "/var/lib", "/var/cache", "/var/log", "/tmp", "/root", "/proc", "/dev", "/sys", "/run")


def host(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, **options)


class Bare:
    """A bare Debian 12 in a folder, with this machine's mirror."""

    def __init__(self, root):
        self.root = root
        if not (root / "usr/bin/dpkg").exists():
            sources = "".join(path.read_text() for path in pathlib.Path("/etc/apt").rglob("*.sources"))
            mirror = [line.split()[1] for line in sources.splitlines() if line.startswith("URIs:")][:1]  # else debootstrap's own
            host("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root, *mirror, stdout=subprocess.DEVNULL)
            for folder in ("etc/apt/apt.conf.d", "etc/ssl/certs"):
                shutil.copytree(f"/{folder}", root / folder, dirs_exist_ok=True, symlinks=True)
            shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        for name in ("proc", "dev"):
            subprocess.run(["mount", "--bind", f"/{name}", root / name], check=False)

    def close(self):
        for name in ("proc", "dev"):
            subprocess.run(["umount", self.root / name], check=False)

    def run(self, command):
        proxies = {key: value for key, value in os.environ.items() if key.lower().endswith("_proxy") or key.startswith("SSL_")}
        done = subprocess.run(["chroot", self.root, "bash", "-ec", command], capture_output=True, text=True, timeout=1800,
                              env={"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive",
                                   "LC_ALL": "C.UTF-8", **proxies})
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def files(self):
        """What lies outside of what a package manager keeps for itself."""
        found = set()
        for folder, names, entries in os.walk(self.root):
            place = "/" + str(pathlib.Path(folder).relative_to(self.root))
            names[:] = [name for name in names if not (place.rstrip("/") + "/" + name).replace("//", "/").startswith(KEPT)]
            found |= {(place + "/" + entry).replace("//", "/") for entry in entries}
        return found


def use(bare, program, share, what):
    """The main job: doctor, a quantize of the sample, the window's picture."""
    told = bare.run(f"{program} doctor --device cpu")
    assert "int8 engine" in told and "BAD" not in told, told
    bare.run("rm -rf /tmp/work && mkdir /tmp/work")
    samples = f"{share}/quantscope/samples"
    bare.run(f"cd /tmp/work && {program} quantize {samples}/digits.pt2 --data {samples}/calib.npz --device cpu --out out --json > told.json")
    result = json.loads((bare.root / "tmp/work/told.json").read_text())
    decibel = result["outputs"][0]["cumulative"]["sqnr_db"]
    assert decibel > 25, decibel
    assert (bare.root / "tmp/work/out/model.int8.ts.pt").exists()
    bare.run(f"cd /tmp/work && QT_QPA_PLATFORM=offscreen {program}-ui {samples}/digits.pt2 --data {samples}/calib.npz "
             "--screenshot window.png --size 1280x800")
    facts = json.loads((bare.root / "tmp/work/window.png.json").read_text())
    assert facts["layout"] == "done" and facts["nodes_drawn"] > 3, facts
    if folder := os.environ.get("QS_PICTURES"):
        shutil.copy(bare.root / "tmp/work/window.png", pathlib.Path(folder) / f"bare_{what}.png")
    print(f"{what}: doctor, quantize ({decibel:.2f} dB) and the window ran", flush=True)


def only(pattern):
    found = sorted((BUILD / "packages").glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


def with_deb(bare, deb):
    shutil.copy(deb, bare.root / "tmp")
    before = bare.files()
    bare.run(f"apt-get update -qq && apt-get install -y -qq --no-install-recommends /tmp/{deb.name}")
    use(bare, "quantscope", "/usr/share", "deb")
    owned = bare.run("dpkg -L quantscope").split()
    assert "/usr/share/man/man1/quantscope.1" in owned and "/usr/share/mime/packages/quantscope.xml" in owned
    assert not [path for path in owned if "/cud" in path and (bare.root / path[1:]).stat().st_size > 2**20]
    bare.run("apt-get purge -y -qq quantscope && apt-get autoremove -y -qq --purge")
    left = {path for path in bare.files() - before if "quantscope" in path or not path.startswith("/usr/share/mime/")}
    assert not left, f"left behind: {sorted(left)[:20]}"
    print(f"deb: removed, nothing left of {len(owned)} files", flush=True)


def with_archive(bare, archive):
    shutil.rmtree(bare.root / "opt/somewhere", ignore_errors=True)
    (bare.root / "opt/somewhere").mkdir(parents=True)
    host("tar", "--zstd", "-xf", archive, "-C", bare.root / "opt/somewhere", "--strip-components=1")
    needs = (bare.root / "opt/somewhere/share/doc/quantscope/NEEDS").read_text().strip()
    bare.run(needs.replace("apt-get install", "apt-get install -y -qq --no-install-recommends"))
    use(bare, "/opt/somewhere/bin/quantscope", "/opt/somewhere/share", "archive")
    shutil.rmtree(bare.root / "opt/somewhere")


def main():
    if os.geteuid() != 0 or not (shutil.which("debootstrap") or os.environ.get("QS_BARE")):
        print("needs root and debootstrap")
        return SKIP
    shutil.rmtree(BUILD / "packages", ignore_errors=True)
    host("cpack", "--config", BUILD / "CPackConfig.cmake", cwd=BUILD, stdout=subprocess.DEVNULL)
    deb, archive = only("*.deb"), only("*.tar.zst")
    for package in (deb, archive):
        print(f"{package.name}: {package.stat().st_size / 2**20:.0f} MiB", flush=True)
    bare = Bare(pathlib.Path(os.environ.get("QS_BARE") or BUILD / "bare"))
    try:
        with_deb(bare, deb)
        with_archive(bare, archive)
    finally:
        bare.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
