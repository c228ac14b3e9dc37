#!/usr/bin/env python3
"""The library, shared or static, shows what the public headers declare, and nothing else.

usage: test_exports.py NM LIBSOLVER.SO|LIBSOLVER.A HEADER...
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import subprocess
import sys


def exported(nm, library):
    which = "--extern-only" if library.endswith(".a") else "--dynamic"
    lines = subprocess.run([nm, which, "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in lines.splitlines() if len(line.split()) == 3}


def declared(headers):
    """Names in declarations LIBSOLVER_API TYPE NAME(...)."""
    names = set()
    for header in headers:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", pathlib.Path(header).read_text(), flags=re.DOTALL)
        text = re.sub(r"^\s*#.*(\\\n.*)*$", "", text, flags=re.MULTILINE)
        names |= set(re.findall(r"\bLIBSOLVER_API\b[^;(]*?(\w+)\s*\(", text))
    return names


def main():
    nm, library, *headers = sys.argv[1:]
    symbols, names = exported(nm, library), declared(headers)
    wrong = [f"exported, but not named libsolver_*: {s}" for s in sorted(symbols) if not s.startswith("libsolver_")]
    wrong += [f"exported, but in no public header: {s}" for s in sorted(symbols - names) if s.startswith("libsolver_")]
    wrong += [f"declared in a public header, but not exported: {s}" for s in sorted(names - symbols)]
    if len(names) < 20:
        wrong.append(f"only {len(names)} declarations were found")
    print(f"{len(symbols)} symbols, {len(names)} declarations", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
