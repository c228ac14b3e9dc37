#!/usr/bin/env python3
"""Makes the systems of this folder:  make.py LIBSOLVER FOLDER  (LIBSOLVER: the tool).  README.md describes them.

SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import subprocess
import sys


def write(folder, name, comment, n, entries, field="real"):
    """entries: {(i, j): value} with i >= j, 1-based."""
    lines = [f"%%MatrixMarket matrix coordinate {field} symmetric", f"% {comment}", f"{n} {n} {len(entries)}"]
    for (i, j), value in sorted(entries.items(), key=lambda item: (item[0][1], item[0][0])):
        lines.append(f"{i} {j}" + ("" if field == "pattern" else f" {value!r}"))
    (folder / f"{name}.mtx").write_text("\n".join(lines) + "\n")


def add_edge(entries, i, j, weight):
    """Adds weight (e_i - e_j)(e_i - e_j)^T."""
    for place, value in (((i, i), weight), ((j, j), weight), ((max(i, j), min(i, j)), -weight)):
        entries[place] = entries.get(place, 0) + value


def grid_edges(m, first=1):
    """Edges of an m x m grid of nodes first, first + 1, ..."""
    for y in range(m):
        for x in range(m):
            node = first + y * m + x
            if x + 1 < m:
                yield node, node + 1
            if y + 1 < m:
                yield node, node + m


def make_five(folder):
    entries = {(1, 1): 4, (2, 1): 1, (2, 2): 3, (3, 2): -1, (3, 3): 2, (4, 1): 2, (5, 3): 1, (5, 4): -3}
    write(folder, "five", "5 x 5, indefinite; right-hand side for x = (1, 2, 3, 4, 5) in five_b.mtx", 5, entries)
    x = [1, 2, 3, 4, 5]
    b = [0] * 5
    for (i, j), value in entries.items():
        b[i - 1] += value * x[j - 1]
        if i != j:
            b[j - 1] += value * x[i - 1]
    text = "%%MatrixMarket matrix array real general\n% A x for x = (1, 2, 3, 4, 5)\n5 1\n"
    (folder / "five_b.mtx").write_text(text + "".join(f"{value}\n" for value in b))


def make_two_islands(folder):
    entries = {}
    for m, first in ((10, 1), (7, 101)):
        for i, j in grid_edges(m, first):
            add_edge(entries, i, j, 1 + (i + j) % 3)
    write(folder, "two_islands", "graph Laplacian of two weighted grids, 10 x 10 and 7 x 7", 149, entries, "integer")


def make_path(folder):
    n = 200
    entries = {(i + 1, i): 1 for i in range(1, n)}
    write(folder, "path", "adjacency matrix of a path of 200 nodes", n, entries, "pattern")


def make_shifted_scaled(folder):
    m = 14
    entries = {(i, i): 4 - 1.5 for i in range(1, m * m + 1)}
    entries.update({(j, i): -1.0 for i, j in grid_edges(m)})
    scale = [10.0 ** (7 * i % 21 - 10) for i in range(m * m + 1)]
    scaled = {(i, j): value * scale[i] * scale[j] for (i, j), value in entries.items()}
    write(folder, "shifted_scaled", "D (lap2d:14 - 1.5 I) D, D from 1e-10 to 1e10", m * m, scaled)


def make_delays(folder):
    leaves, border = 60, 90
    entries = {(i, i): 1e-13 for i in range(1, leaves + 1)}
    for i in range(1, leaves + 1):
        for k in range(5):
            entries[leaves + (i + 17 * k) % border + 1, i] = 1.0 if k == 0 else 0.125 * (1 + (i + k) % 3)
    for k in range(1, border + 1):
        entries[leaves + k, leaves + k] = 2.0
        if k < border:
            entries[leaves + k + 1, leaves + k] = -1.0
    write(folder, "delays", "saddle point; no leaf of the elimination tree holds a stable pivot", leaves + border,
          entries)


def make_quasidefinite(folder):
    m = 9
    half = m * m
    entries = {}
    for i, j in grid_edges(m):
        add_edge(entries, i, j, 1.0)
    for i in range(1, half + 1):
        entries[i, i] += 0.01
        entries[half + i, i] = 1.0
        entries[half + i, half + i] = -1e-3
        if i < half:
            entries[half + i + 1, i] = -1.0
    write(folder, "quasidefinite", "[H B^T; B -C], H and C positive definite", 2 * half, entries)


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for specification in ("lap2d:16", "vec3d:3", "kkt2d:20"):
        target = folder / (specification.replace(":", "_") + ".mtx")
        subprocess.run([tool, "generate", specification, "-o", str(target)], check=True)
    for make in (make_five, make_two_islands, make_path, make_shifted_scaled, make_delays, make_quasidefinite):
        make(folder)


main()
