#!/usr/bin/env python3
"""What packagers are given fits the project: options of Meson that recipes set exist, the version is one, Debian's list of
symbols has every public function and no other, and each package has files that an installation makes.

usage: test_packaging.py HEADER...
SPDX-License-Identifier: BSD-3-Clause"""
import ast
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_exports import declared

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT_IN = {"b_ndebug", "default_library", "optimization", "werror"}


def text(name):
    return (REPOSITORY / name).read_text()


def unknown_options(name):
    known = BUILT_IN | set(re.findall(r"^option\('(\w+)'", text("meson_options.txt"), re.MULTILINE))
    used = set(re.findall(r"-D(\w+)=", text(name)))
    return [f"{name}: nothing of Meson is set"] * (not used) + [f"{name}: there is no option {o}" for o in sorted(used - known)]


def versions():
    version = re.search(r"version: '([^']+)'", text("meson.build"))[1]
    found = {"debian/changelog": re.search(r"\(([\d.]+)-", text("debian/changelog"))[1],
        "CITATION.cff": re.search(r'^version: "?([\d.]+)', text("CITATION.cff"), re.MULTILINE)[1],
        "packaging/spack/package.py": max(re.findall(r'version\("([\d.]+)"', text("packaging/spack/package.py")))}
    return [f"{name} is of {other}, meson.build of {version}" for name, other in found.items() if other != version]


def symbols(headers):
    listed, there = set(re.findall(r"^ (\w+)@", text("debian/libsolver0.symbols"), re.MULTILINE)), declared(headers)
    return ([f"debian/libsolver0.symbols: {n} is missing" for n in sorted(there - listed)] +
        [f"debian/libsolver0.symbols: there is no function {n}" for n in sorted(listed - there)])


def packages():
    named = set(re.findall(r"^Package: (\S+)", text("debian/control"), re.MULTILINE))
    sorted_out = {p.stem for p in (REPOSITORY / "debian").glob("*.install")}
    return [f"debian: {p} has no list of files, or no paragraph" for p in sorted(named ^ sorted_out)]


def main():
    ast.parse(text("packaging/spack/package.py"))
    wrong = [w for name in ("debian/rules", "packaging/spack/package.py", "bootstrap") for w in unknown_options(name)]
    wrong += versions() + symbols(sys.argv[1:]) + packages()
    print(*wrong, f"{len(wrong)} faults", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
