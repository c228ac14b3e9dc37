#!/usr/bin/env python3
"""bench/dense/figures.py: figures of doc/measurements/dense.md from the tables that bench_trsv -csv wrote

usage: figures.py TABLE.csv FOLDER
"""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import math
import sys

COLOURS = ["#000000", "#c0504d", "#4f81bd", "#9bbb59", "#8064a2", "#e5a84f", "#4bacc6", "#7f7f7f", "#d37fb5", "#5b7f3b"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 460, 60, 34, 170, 48


def ticks(low, high):
    """1-2-5 values between low and high"""
    values = [m * 10.0**e for e in range(-3, 7) for m in (1, 2, 5)]
    return [v for v in values if low <= v <= high]


def figure(path, title, unit, curves, marks=()):
    """curves: (name, [(n, value)]); both axes logarithmic; marks: horizontal lines (value, text)"""
    points = [p for _, c in curves for p in c]
    low_x, high_x = min(p[0] for p in points), max(p[0] for p in points)
    low_y = min(p[1] for p in points) / 1.15
    high_y = max([p[1] for p in points] + [m[0] for m in marks]) * 1.15
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(n):
        return LEFT + (right - LEFT) * math.log(n / low_x) / math.log(high_x / low_x)

    def y(v):
        return bottom - (bottom - TOP) * math.log(v / low_y) / math.log(high_y / low_y)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>', f'<text x="{LEFT}" y="20" font-size="14">{title}</text>']
    for v in ticks(low_y, high_y):
        out.append(f'<line x1="{LEFT}" y1="{y(v):.1f}" x2="{right}" y2="{y(v):.1f}" stroke="#dddddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:g}</text>')
    for n in [2**k for k in range(3, 15)]:
        if low_x <= n <= high_x:
            out.append(f'<line x1="{x(n):.1f}" y1="{TOP}" x2="{x(n):.1f}" y2="{bottom}" stroke="#eeeeee"/>'
                       f'<text x="{x(n):.1f}" y="{bottom + 16}" text-anchor="middle">{n}</text>')
    out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle">n</text>'
               f'<text x="14" y="{(TOP + bottom) / 2}" transform="rotate(-90 14 {(TOP + bottom) / 2})" text-anchor="middle">{unit}</text>')
    for v, text in marks:
        out.append(f'<line x1="{LEFT}" y1="{y(v):.1f}" x2="{right}" y2="{y(v):.1f}" stroke="#999999" stroke-dasharray="5 4"/>'
                   f'<text x="{LEFT + 4}" y="{y(v) - 4:.1f}" fill="#777777">{text}</text>')
    labels = []
    for k, (name, curve) in enumerate(curves):
        colour = COLOURS[k % len(COLOURS)]
        dash = ' stroke-dasharray="3 3"' if name == "floor of bytes" else ""
        line = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in curve)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6"{dash}/>')
        labels.append([y(curve[-1][1]), x(curve[-1][0]), name, colour])
    labels.sort()
    previous = 0.0
    for label in labels:  # names beside the ends of their curves, none over another
        previous = max(label[0] + 4, previous + 14)
        out.append(f'<text x="{max(label[1] + 6, right + 6):.1f}" y="{previous:.1f}" fill="{label[3]}">{label[2]}</text>')
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


def main():
    table, folder = sys.argv[1:3]
    with open(table, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))

    def curve(kind, op, value):
        return [(int(r["n"]), v) for r in rows if r["type"] == kind and r["op"] == op for v in [value(r)] if math.isfinite(v)]

    names = [("cuBLAS", "cuBLAS"), ("shared memory", "shared"), ("registers A", "reg A"), ("registers B", "reg B"),
             ("one warp", "warp"), ("launches", "launch"), ("grid, nothing cached", "g none"),
             ("grid, read ahead", "scale"), ("clusters", "clust"), ("stored inverses", "prepard")]
    forms = [(name, curve("d", "N", lambda r, c=column: float(r[c]))) for name, column in names]
    floor = [("floor of bytes", [p for p in curve("d", "N", lambda r: float(r["floor"])) if p[1] > 1])]
    figure(f"{folder}/trsv_forms.svg", "dtrsv, lower, one H200: time of every form", "us in a graph", forms + floor)
    ratio = [(f"{what}, {kind}{' transposed' if op == 'T' else ''}",
              curve(kind, op, lambda r, c=column: float(r["cuBLAS"]) / float(r[c])))
             for what, column in (("stored", "prepard"), ("one shot", "auto"))
             for kind, op in (("d", "N"), ("d", "T"), ("s", "N"), ("c", "N"), ("z", "N"))]
    figure(f"{folder}/trsv_ratio.svg", "Ratio of cuBLAS's time to ours", "times faster", ratio, [(8, "8 times"), (4, "4 times")])
    percent = [(name, [p for p in curve(kind, op, lambda r, c=column: 100 * float(r["floor"]) / float(r[c])) if p[0] >= 512])
               for name, kind, op, column in (("cuBLAS, d", "d", "N", "cuBLAS"), ("one shot, d", "d", "N", "auto"),
                                              ("stored, d", "d", "N", "prepard"), ("stored, d transposed", "d", "T", "prepard"),
                                              ("stored, s", "s", "N", "prepard"), ("stored, c", "c", "N", "prepard"),
                                              ("stored, z", "z", "N", "prepard"))]
    figure(f"{folder}/trsv_percent.svg", "Triangle read once / time, in percent of the read bandwidth", "%", percent,
           [(90, "90 %")])


main()
