#!/usr/bin/env python3
"""The rooms of the code: a room uses only those that the table below names, by what its files
include and by what its objects call, and no files of a program call one another in a cycle.  Prints
the rooms with their arrows.

usage: test_rooms.py BUILD NM
SPDX-License-Identifier: BSD-3-Clause"""
import collections
import graphlib
import json
import os
import pathlib
import re
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent

# room -> rooms that it may use, besides its own.  A file is in the longest of these that its path
# begins with.  PUBLIC: what users see, public headers and calls, of any room.
PUBLIC = "public interface"
DEVICE = ["base", "dense/cuda/device"]
LIBRARY = {
    "base": [],
    "ordering": ["base"],
    "ordering/nd": ["base", "ordering"],
    "dense": ["base"],
    "dense/cpu": ["base"],
    "dense/cuda/device": ["base", "dense"],
    "dense/cuda/batched": [*DEVICE, "dense"],
    "dense/cuda/level3": [*DEVICE, "dense", "dense/cuda/batched", "dense/cuda/potrf", "dense/cuda/trsm"],
    "dense/cuda/potrf": [*DEVICE, "dense"],
    "dense/cuda/trsm": [*DEVICE, "dense"],
    "dense/cuda/trsv": [*DEVICE, "dense"],
    "gpu/device": DEVICE,
    "gpu/tree": ["base"],
    "gpu/plan": ["base", "gpu/tree"],
    "gpu/factor": [*DEVICE, "gpu/device", "gpu/invert"],
    "gpu/invert": [*DEVICE, "dense/cpu", "gpu/device", "gpu/tree", "gpu/plan"],
    "gpu/solve": [*DEVICE, "gpu/device", "gpu/plan"],
    "gpu/substitute": [*DEVICE, "gpu/device", "gpu/factor", "gpu/solve"],
    "gpu/packed": ["base", "gpu/device", "gpu/tree", "gpu/plan", "gpu/factor", "gpu/invert",
        "gpu/solve", "gpu/substitute"],
    "gpu/refine": [*DEVICE, "ordering", "gpu/device", "gpu/packed", "gpu/solve"],
    "gpu/library": ["base", "dense", "dense/cuda/batched", "dense/cuda/level3", "dense/cuda/potrf",
        "dense/cuda/trsm", "dense/cuda/trsv", "gpu/batch", "gpu/device", "gpu/factor", "gpu/invert",
        "gpu/refine", "gpu/solve", "gpu/substitute"],
    "gpu/batch": [*DEVICE, "gpu/device", "gpu/factor", "gpu/refine", "gpu/solve", "gpu/substitute"],
    "solver": ["base"],
    "solver/matching": ["base", "ordering"],
    "solver/cpu/plan": ["base", "ordering"],
    "solver/cpu/factor": ["base", "ordering", "dense/cpu", "solver/matching", "solver/cpu/plan"],
    "solver/cpu/solve": ["base", "ordering", "dense/cpu", "solver/cpu/plan", "solver/cpu/factor"],
    "solver/cpu/policy": ["base", "dense/cpu", "solver/cpu/plan", "solver/cpu/factor",
        "solver/cpu/solve"],
    "solver/cpu": ["base", "dense/cpu", "solver/cpu/plan", "solver/cpu/factor", "solver/cpu/solve",
        "solver/cpu/policy"],
    "solver/gpu": ["base", "ordering", "gpu/device", "gpu/factor", "gpu/packed", "gpu/refine",
        "solver/cpu"],
    "solver/order": ["base", "ordering", "ordering/nd", "solver", "solver/matching", "solver/input"],
    "solver/input": ["base", "ordering"],
    "solver/phases": ["base", "ordering", "gpu/device", "gpu/factor", "gpu/refine", "gpu/batch", "gpu/substitute", "solver", "solver/matching", "solver/cpu",
        "solver/gpu", "solver/order", "solver/input"],
}
USERS = {
    "cli": [PUBLIC],
    "examples": [PUBLIC],
    "bench": [PUBLIC, "cli", *LIBRARY],
    "test": [PUBLIC, "cli", "bench", *LIBRARY],
}
MAY_USE = {**LIBRARY, **USERS}
FORWARDS = "gpu/library/forward.c" # stands for functions of other rooms, whose headers are included
SEARCHED = [".", "base", "solver", "dense", "cli", "test/support"] # after the file's own folder
SUFFIXES = {".c", ".h", ".cu", ".cuh"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


def room_of(path):
    """The room of a path relative to the repository, or None."""
    folder = pathlib.PurePath(path).parent
    return next((str(p) for p in [folder, *folder.parents] if str(p) in MAY_USE), None)


def is_public(header):
    return header.name.startswith("libsolver") and header.suffix == ".h"


def resolve(file, name):
    """The header of ours that is meant, relative to the repository, or None."""
    for folder in [file.parent, *(REPOSITORY / place for place in SEARCHED)]:
        if (folder / name).is_file():
            return (folder / name).resolve().relative_to(REPOSITORY)
    return None


def read_includes(arrows):
    """Adds the arrows of all #includes; returns what is wrong with some whatever their arrows."""
    wrong, seen = [], collections.Counter()
    tops = {room.split("/")[0] for room in MAY_USE}
    files = [p for top in tops for p in (REPOSITORY / top).rglob("*") if p.suffix in SUFFIXES]
    for file in sorted(files):
        own = file.relative_to(REPOSITORY)
        room = room_of(own)
        if room is None:
            wrong.append(f"{own}: is in none of the rooms")
            continue
        text = file.read_text()
        for match in INCLUDE.finditer(text):
            seen[room] += 1
            bracket, name = match.groups()
            header = resolve(file, name)
            place = f"{own}:{text.count(chr(10), 0, match.start()) + 1}: {name}"
            if header is None:
                if bracket == '"':
                    wrong.append(f"{place} is not found")
            elif is_public(own) and not (is_public(header) and name == header.name):
                wrong.append(f"{place} cannot be installed: public headers include one another by bare"
                    " names and nothing else of ours")
            elif not is_public(header):
                arrows[room, room_of(header)].append(f"{place} is included")
            elif PUBLIC not in MAY_USE[room] and room_of(header) != room and is_public(header):
                arrows[room, room_of(header)].append(f"{place} is included")
    wrong += [f"{room}: no #include was found" for room in MAY_USE if not seen[room]]
    return wrong


def read_objects(build, nm):
    """[(source, symbols defined, symbols wanted)] of the library and the tool."""
    objects = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = os.path.relpath(pathlib.Path(entry["directory"]) / entry["file"], REPOSITORY)
        object_file = build / entry["output"]
        beside = entry["output"].startswith("test/") or room_of(source) in ["test", "bench", "examples"]
        if not beside and object_file.is_file():
            objects.append((source, object_file))
    listed = subprocess.run([nm, "-A", *(str(o) for _, o in objects)], check=True,
        capture_output=True, text=True).stdout
    defined, wanted = collections.defaultdict(set), collections.defaultdict(set)
    for line in listed.splitlines():
        name, _, rest = line.partition(":")
        *_, kind, symbol = rest.split()
        if kind == "U":
            wanted[name].add(symbol)
        elif kind in "TDBRC": # weak ones are inline functions, each object's own
            defined[name].add(symbol)
    return [(source, defined[str(o)], wanted[str(o)]) for source, o in objects]


def read_calls(objects, arrows):
    """Adds the arrows of what objects call; returns the calls {source: {sources called}} of files."""
    calls = collections.defaultdict(set)
    for program in ["library", "cli"]:
        own = [o for o in objects if (room_of(o[0]) == "cli") == (program == "cli")]
        where = {symbol: source for source, defined, _ in own for symbol in defined if source != FORWARDS}
        library = {} if program == "library" else {symbol: source for source, defined, _ in objects
            for symbol in defined if room_of(source) != "cli"}
        for source, defined, wanted in own:
            for symbol in wanted - defined:
                called = where.get(symbol)
                if called is None and not symbol.startswith("libsolver_"):
                    called = library.get(symbol)
                if called in (None, source):
                    continue
                calls[source].add(called)
                arrows[room_of(source), room_of(called)].append(f"{source} calls {symbol} of {called}")
    return calls


def find_cycle(graph):
    """Some cycle of {node: {nodes}} as a list that ends where it begins, or None."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def main():
    build, nm = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    arrows = collections.defaultdict(list) # (room, room used) -> why
    wrong = read_includes(arrows)
    objects = read_objects(build, nm)
    calls = read_calls(objects, arrows)
    if not any(source.startswith("solver/phases/") and wanted for source, _, wanted in objects):
        wrong.append("no objects of solver/phases were found: nothing was checked")
    for room in MAY_USE:
        used = sorted({b for a, b in arrows if a == room and b != room})
        print(f"{room:18} -> {', '.join(used) or '-'}")
    for (room, used), reasons in sorted(arrows.items()):
        if used != room and used not in MAY_USE[room]:
            wrong += [f"{room} must not use {used}: {why}" for why in reasons[:5]]
    cycle = find_cycle({room: [u for u in used if u in MAY_USE] for room, used in MAY_USE.items()})
    if cycle:
        wrong.append("the table of rooms has a cycle: " + " -> ".join(cycle))
    while cycle := find_cycle(calls):
        wrong.append("files call one another: " + " <- ".join(cycle))
        calls[cycle[1]].discard(cycle[0]) # to look for more
    print(f"{len(objects)} objects, {sum(map(len, calls.values()))} calls between files")
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
