#!/usr/bin/env python3
"""doc/architecture.py: draws doc/architecture.svg, the rooms of the code and who uses whom, from the
table of test/project/test_rooms.py

usage: architecture.py > architecture.svg"""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test/project"))
import test_rooms

# One box stands for the rooms of the CPU backend.
CPU = "solver/cpu"


def drawn(room):
    return CPU if room.startswith(CPU + "/") else room


LIBRARY = {}
for room, used in test_rooms.LIBRARY.items():
    LIBRARY.setdefault(drawn(room), set()).update({drawn(u) for u in used} - {drawn(room)})

# room: x, y, what it does
WIDTH, HEIGHT = 1320, 880
BOX_WIDTH, BOX_HEIGHT = 168, 44
PLACES = {
    "solver/phases": (420, 100, "behind the public calls"),
    "solver/input": (30, 190, "views to lower triangle"),
    "solver/order": (220, 190, "chooses the order"),
    "solver/gpu": (650, 190, "GPU backend"),
    "solver": (900, 100, "public header"),
    "solver/cpu": (420, 290, "CPU backend"),
    "gpu/refine": (650, 290, "residuals, refinement"),
    "gpu/batch": (940, 260, "many systems at once"),
    "solver/matching": (220, 370, "scaling by matching"),
    "gpu/packed": (650, 370, "a factor ready to solve"),
    "gpu/factor": (940, 370, "Cholesky on the device"),
    "gpu/library": (1130, 290, "all CUDA code, loaded"),
    "gpu/invert": (560, 460, "inverses of groups"),
    "gpu/substitute": (800, 460, "few solves, L as it is"),
    "ordering": (30, 540, "graphs, trees, supernodes"),
    "dense/cpu": (350, 540, "kernels of a front"),
    "gpu/solve": (740, 540, "the kernel of a solve"),
    "ordering/nd": (30, 630, "nested dissection"),
    "gpu/plan": (560, 630, "tasks of a solve"),
    "gpu/device": (760, 630, "memory, device factor"),
    "dense/cuda/level3": (1130, 400, "large triangles by halves"),
    "dense/cuda/potrf": (980, 490, "Cholesky, one matrix"),
    "dense/cuda/trsm": (1130, 550, "several right-hand sides"),
    "dense/cuda/trsv": (944, 630, "dense triangular solves"),
    "dense/cuda/batched": (1130, 710, "small ones, many at once"),
    "gpu/tree": (560, 710, "groups and layers"),
    "dense/cuda/device": (760, 710, "device functions"),
    "dense": (760, 780, "public dense header"),
}
STYLE = """
text { font: 13px sans-serif; fill: #1b1f24; text-anchor: middle }
.room { font-weight: bold }
.what { font-size: 11px; fill: #57606a }
rect { fill: #f3f6fa; stroke: #57606a; rx: 5 }
.ordering { fill: #e3f1e3 } .dense { fill: #fbeedb } .gpu { fill: #e0ecfa } .solver { fill: #f0e6f6 }
line { stroke: #57606a; stroke-width: 1.2; marker-end: url(#tip) }
path { fill: #57606a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .what { fill: #adb8c4 }
  rect { fill: #22272e; stroke: #8b98a5 }
  .ordering { fill: #1d3a24 } .dense { fill: #43331a } .gpu { fill: #1a3353 } .solver { fill: #3a2748 }
  line { stroke: #8b98a5 } path { fill: #8b98a5 }
}"""


def reachable(room):
    """All rooms below this one."""
    below = {r for r in LIBRARY[room] if r in LIBRARY and r != "base"}
    return below.union(*(reachable(r) for r in below))


def arrows():
    """Who uses whom, without what follows from other arrows."""
    for room in PLACES:
        if room == "gpu/library":
            continue # it hands over the functions of all rooms with CUDA code
        below = {r for r in LIBRARY[room] if r in PLACES}
        for used in sorted(below):
            if not any(used in reachable(other) for other in below - {used}):
                yield room, used


def box(x, y, width, kind, name, what):
    print(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{BOX_HEIGHT}"/>')
    print(f'<text class="room" x="{x + width / 2}" y="{y + 18}">{name}</text>')
    print(f'<text class="what" x="{x + width / 2}" y="{y + 34}">{what}</text>')


def main():
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">')
    print("<title>The rooms of libsolver and who uses whom</title>")
    print("<desc>A box for each folder of the code; an arrow leads from a room to one that it uses.</desc>")
    print(f"<style>{STYLE}\n</style>")
    print('<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"'
        ' orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>')
    users = ["cli: the tool", "examples", "bench", "test"]
    for k, user in enumerate(users):
        name, _, what = user.partition(": ")
        box(30 + 270 * k, 16, 250, "user", name, what or {"examples": "programs to read", "bench": "timings that verify",
            "test": "may see every room"}[name])
    for k, end in enumerate([455, 490, 518, 553]):
        print(f'<line x1="{155 + 270 * k}" y1="60" x2="{end}" y2="100"/>')
    for room, used in arrows():
        (x, y, _), (u, v, _) = PLACES[room], PLACES[used]
        if v == y: # from side to side
            begin, end = (x, u + BOX_WIDTH) if u < x else (x + BOX_WIDTH, u)
            print(f'<line x1="{begin}" y1="{y + BOX_HEIGHT / 2:.0f}" x2="{end}" y2="{v + BOX_HEIGHT / 2:.0f}"/>')
            continue
        # from the side that faces the room used, to the side of it that faces this one
        lean = max(-0.35, min(0.35, (u - x) / 900)) * BOX_WIDTH
        begin, end = (y + BOX_HEIGHT, v) if v > y else (y, v + BOX_HEIGHT)
        print(f'<line x1="{x + BOX_WIDTH / 2 + lean:.0f}" y1="{begin}" x2="{u + BOX_WIDTH / 2 - lean:.0f}" y2="{end}"/>')
    for room, (x, y, what) in PLACES.items():
        box(x, y, BOX_WIDTH, room.split("/")[0], room, what)
    box(30, 832, WIDTH - 60, "base", "base", "statuses, types, memory, messages, the backend's table: used by all")
    print("</svg>")


if __name__ == "__main__":
    main()
