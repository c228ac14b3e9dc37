#!/usr/bin/env python3
"""Includes go one way: a folder sees only those below it, and what is built on the library only its public headers.

usage: test_includes.py
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent

# folder -> folders whose headers it may include, besides its own.  PUBLIC: public headers of any folder.
PUBLIC = "public headers"
MAY_INCLUDE = {
    "base": [],
    "ordering": ["base"],
    "dense": ["base"],
    "gpu": ["base", "ordering", "dense"],
    "solver": ["base", "ordering", "dense", "gpu"],
    "cli": [PUBLIC],
    "examples": [PUBLIC],
    "bench": [PUBLIC, "base", "ordering", "dense", "gpu", "solver", "cli"],
    "test": [PUBLIC, "base", "ordering", "dense", "gpu", "solver", "cli"],
}
SEARCHED = [".", "base", "solver", "dense", "cli", "test/support"]  # where the compiler looks, after the file's own folder
SUFFIXES = {".c", ".h", ".cu", ".cuh"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def is_public(header):
    return header.name.startswith("libsolver") and header.suffix == ".h"


def resolve(file, name):
    """The header of ours that is meant, relative to the repository, or None."""
    for folder in [file.parent, *(REPOSITORY / place for place in SEARCHED)]:
        if (folder / name).is_file():
            return (folder / name).resolve().relative_to(REPOSITORY)
    return None


def complaint(file, bracket, name):
    """What is wrong with one #include, or None."""
    header = resolve(file, name)
    if header is None:
        return None if bracket == "<" else "is not found"
    own, folder = file.relative_to(REPOSITORY).parts[0], header.parts[0]
    if is_public(file) and not (is_public(header) and name == header.name):
        return "cannot be installed: public headers include one another by bare names and nothing else of ours"
    if folder == own or folder in MAY_INCLUDE[own] or (PUBLIC in MAY_INCLUDE[own] and is_public(header)):
        return None
    return f"goes from {own} to {folder}; {own} may include {', '.join(MAY_INCLUDE[own]) or 'only its own'}"


def main():
    wrong = []
    for folder in MAY_INCLUDE:
        files = sorted(p for p in (REPOSITORY / folder).rglob("*") if p.suffix in SUFFIXES)
        seen = 0
        for file in files:
            text = file.read_text()
            for match in INCLUDE.finditer(text):
                seen += 1
                why = complaint(file, *match.groups())
                if why:
                    line = text.count("\n", 0, match.start()) + 1
                    wrong.append(f"{file.relative_to(REPOSITORY)}:{line}: {match.group(2)} {why}")
        if files and not seen:
            wrong.append(f"{folder}: no #include was found in {len(files)} files")
        print(f"{folder}: {len(files)} files, {seen} includes")
    sources = (p for p in REPOSITORY.glob("[!.]*/*") if p.suffix in SUFFIXES and not p.match("build*/*"))
    unknown = {p.parent.name for p in sources} - set(MAY_INCLUDE)
    wrong += [f"{folder}: has no place in the table of directions" for folder in sorted(unknown)]
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
