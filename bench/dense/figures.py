#!/usr/bin/env python3
"""bench/dense/figures.py: pictures of doc/measurements/dense.md from the tables that bench_trsv -csv and
bench_host_trsv wrote

usage: figures.py TABLE.csv DEVICE FOLDER [HOST.csv]    DEVICE: what the pictures call it, such as H100;
                                                        without HOST.csv: the ratios and the percentages alone
"""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import math
import sys

# a curve's colour, on a white page and on a dark one, and the shape of its markers, so that it is told
# from the others without colours too
COLOURS = [("#1f2328", "#e6edf3"), ("#b3261e", "#ff8a80"), ("#1a5fb4", "#79b8ff"), ("#2e7d32", "#7ee787"),
           ("#7b3fa0", "#d2a8ff"), ("#9a5b00", "#ffb757"), ("#00717a", "#56d4dd"), ("#5c6670", "#adb8c4"),
           ("#a8327a", "#ff9bce"), ("#5f6b00", "#d3d96c")]
SHAPES = ["circle", "square", "up", "diamond", "down", "cross"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 860, 480, 70, 44, 210, 56
LINE = 15  # from label to label


def style():
    """Colours of the page, and of the curves in groups of class c0, c1 ..."""
    def curves(dark):
        return "\n".join(f".c{k} * {{ stroke: {pair[dark]} }} .c{k} .fill {{ fill: {pair[dark]} }}" for k, pair in enumerate(COLOURS))
    return f"""<style>
text {{ font: 12px sans-serif; fill: #1f2328 }} .title {{ font-size: 15px; font-weight: bold }} .quiet {{ fill: #57606a }}
.page {{ fill: #ffffff }} .grid {{ stroke: #e3e6ea }} .axis, .mark {{ stroke: #6e7781 }}
{curves(False)}
.curve {{ fill: none; stroke-width: 1.6 }} .lead {{ stroke-width: .6 }} text.fill {{ stroke: none }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3 }} .quiet {{ fill: #adb8c4 }} .page {{ fill: #0d1117 }} .grid {{ stroke: #2d333b }} .axis, .mark {{ stroke: #8b949e }}
{curves(True)}
text.fill {{ stroke: none }}
}}
</style>"""


def ticks(low, high):
    """1-2-5 values between low and high, more of them where these are near each other"""
    values = [m * 10.0**e for e in range(-3, 7) for m in ((1, 2, 3, 4, 5, 6, 8) if high < 20 * low else (1, 2, 5))]
    return [v for v in values if low <= v <= high]


def marker(shape, x, y):
    points = {"square": "-3,-3 3,-3 3,3 -3,3", "up": "0,-4 4,3 -4,3", "diamond": "0,-4.5 4.5,0 0,4.5 -4.5,0", "down": "0,4 4,-3 -4,-3"}
    if shape == "circle":
        return f'<circle class="fill" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    if shape == "cross":
        return f'<path class="curve" d="M{x - 3:.1f} {y - 3:.1f}l6 6m0-6l-6 6"/>'
    places = (tuple(map(float, p.split(","))) for p in points[shape].split())
    return '<polygon class="fill" points="' + " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in places) + '"/>'


def spread(places, low, high):
    """These heights, moved as little as keeps labels LINE apart, between low and high."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    moved = [places[k] for k in order]
    for _ in range(1000):
        for a in range(len(moved) - 1):
            gap = LINE - (moved[a + 1] - moved[a])
            if gap > 0:
                moved[a], moved[a + 1] = moved[a] - gap / 2, moved[a + 1] + gap / 2
        moved = [min(max(m, low), high) for m in moved]
    return {k: m for k, m in zip(order, moved)}


def figure(path, title, says, unit, curves, marks=(), percent=False):
    """curves: (name, [(n, value)]); both axes logarithmic, but that of percentages, 0 to 100; marks: horizontal
    lines (value, text); says: what the picture shows, for those who do not see it"""
    points = [p for _, c in curves for p in c]
    low_x, high_x = min(p[0] for p in points), max(p[0] for p in points)
    low_y = min(p[1] for p in points) / 1.15
    high_y = max([p[1] for p in points] + [m[0] for m in marks]) * 1.15
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(n):
        return LEFT + (right - LEFT) * math.log(n / low_x) / math.log(high_x / low_x)

    def y(v):
        if percent:
            return bottom - (bottom - TOP) * v / 100
        return bottom - (bottom - TOP) * math.log(v / low_y) / math.log(high_y / low_y)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">',
           f"<title>{title}</title>", f"<desc>{says}</desc>", style(), '<rect class="page" width="100%" height="100%"/>',
           f'<text class="title" x="{LEFT}" y="24">{title}</text>']
    for v in range(0, 101, 10) if percent else ticks(low_y, high_y):
        out.append(f'<line class="grid" x1="{LEFT}" y1="{y(v):.1f}" x2="{right}" y2="{y(v):.1f}"/>'
                   f'<text x="{LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v:g}</text>')
    for n in [2**k for k in range(3, 15)]:
        if low_x <= n <= high_x:
            out.append(f'<line class="grid" x1="{x(n):.1f}" y1="{TOP}" x2="{x(n):.1f}" y2="{bottom}"/>'
                       f'<text x="{x(n):.1f}" y="{bottom + 18}" text-anchor="middle">{n}</text>')
    middle = (TOP + bottom) / 2
    out.append(f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{bottom}H{right}"/>'
               f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 14}" text-anchor="middle">order n of the triangle</text>'
               f'<text x="18" y="{middle}" transform="rotate(-90 18 {middle})" text-anchor="middle">{unit}</text>')
    for v, text in marks:
        out.append(f'<line class="mark" x1="{LEFT}" y1="{y(v):.1f}" x2="{right}" y2="{y(v):.1f}" stroke-dasharray="5 4"/>'
                   f'<text class="quiet" x="{LEFT + 6}" y="{y(v) - 5:.1f}">{text}</text>')
    labels = spread([y(curve[-1][1]) for _, curve in curves], TOP, bottom)
    for k, (name, curve) in enumerate(curves):
        floor = name.startswith("floor")
        line, dash = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in curve), ' stroke-dasharray="2 3"' if floor else ""
        out.append(f'<g class="c{k % len(COLOURS)}"><polyline class="curve" points="{line}"{dash}/>')
        if not floor:
            out += [marker(SHAPES[k % len(SHAPES)], x(n), y(v)) for n, v in curve]
        n, v = curve[-1]
        out.append(f'<line class="lead" x1="{x(n) + 5:.1f}" y1="{y(v):.1f}" x2="{right + 14}" y2="{labels[k]:.1f}"/>'
                   f'<text class="fill" x="{right + 18}" y="{labels[k] + 4:.1f}">{name}</text></g>')
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


def curve(table, kind, op, value, low=0, high=math.inf):
    """(n, value(row)) of a type and op, where there is one."""
    return [(int(r["n"]), v) for r in table if r["type"] == kind and r["op"] == op and low <= int(r["n"]) <= high
            for v in [value(r)] if math.isfinite(v)]


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def draw_forms(table, device, folder, host):
    """Every form in double precision, and the host beside them."""
    def times(names, low=0, high=math.inf):
        return [(name, curve(table, "d", "N", lambda r, c=column: float(r[c]), low, high)) for name, column in names]

    small = [("cuBLAS", "cuBLAS"), ("registers A", "reg A"), ("registers B", "reg B"), ("shared memory", "shared"),
             ("inverted blocks of 16", "panels"), ("one warp", "warp"), ("clusters", "clust"), ("stored inverses", "prepard")]
    figure(f"{folder}/trsv_small.svg", f"dtrsv up to n = 128, lower: every form, one {device}",
           "Time over order. Every form is at or below cuBLAS; registers B is the fastest one-shot form up to 16, "
           "the warp at 32, clusters from 64 on; stored inverses take about 2 us everywhere.", "time in a graph, us", times(small, high=128))
    large = [("cuBLAS", "cuBLAS"), ("launches, 128 columns", "l 128"), ("launches, 1024 columns", "l 1024"),
             ("grid, nothing cached", "g none"), ("grid, counter, ahead", "c ahead"), ("grid, packets, ahead", "ahead"),
             ("clusters", "clust"), ("stored inverses", "prepard")]
    floor = [("floor of bytes", [p for p in curve(table, "d", "N", lambda r: float(r["floor"]), 128) if p[1] > 1])]
    figure(f"{folder}/trsv_forms.svg", f"dtrsv from n = 128, lower: every form, one {device}",
           "Time over order, with the time in which the triangle could be read. Stored inverses are lowest everywhere and "
           "come near that time at the largest orders; clusters lead the one-shot forms up to 6144, the grid beyond.",
           "time in a graph, us", times(large, low=128) + floor)

    def rate(points):
        return [(n, 4e-3 * n * (n + 1) / us) for n, us in points]

    lines = [(f"{name}, {device}", rate(points)) for name, points in times([("cuBLAS", "cuBLAS"), ("one shot", "auto"),
                                                                           ("stored inverses", "prepard")], 32)]
    figure(f"{folder}/trsv_processors.svg", f"dtrsv: bytes of the triangle over time, one {device} and its host",
           "GB/s over order. The host's MKL is ahead of one-shot solves up to about 300 and of stored inverses up to 128, and "
           "stays within what its caches deliver; the GPU's solves go on rising with the order.", "triangle read once, GB/s",
           [("MKL on the host", rate([(int(r["n"]), float(r["us"])) for r in host if r["op"] == "N"]))] + lines)


def draw_types(table, device, folder):
    """All types: how many times cuBLAS, and what part of the bandwidth."""
    for what, column, file, mark in (("one shot", "auto", "once", 4), ("stored inverses", "prepard", "stored", 8)):
        ratio = [(f"{kind}{', transposed' if op == 'T' else ''}",
                  curve(table, kind, op, lambda r, c=column: float(r["cuBLAS"]) / float(r[c])))
                 for kind, op in (("s", "N"), ("d", "N"), ("d", "T"), ("c", "N"), ("z", "N"))]
        figure(f"{folder}/trsv_ratio_{file}.svg", f"trsv, {what}: cuBLAS's time over ours, one {device}",
               f"Ratio over order for the four types. It rises from small orders to a maximum between 500 and 4000 and falls "
               f"where the bytes of the triangle begin to count; {mark} was asked for.", "times as fast as cuBLAS", ratio, [(mark, f"{mark} times")])
    percent = [(name, curve(table, kind, op, lambda r, c=column: 100 * float(r["floor"]) / float(r[c]), 512))
               for name, kind, op, column in (("cuBLAS, d", "d", "N", "cuBLAS"), ("one shot, d", "d", "N", "auto"),
                                              ("stored, d", "d", "N", "prepard"), ("stored, s", "s", "N", "prepard"),
                                              ("stored, c", "c", "N", "prepard"), ("stored, z", "z", "N", "prepard"))]
    figure(f"{folder}/trsv_percent.svg", f"trsv: share of the read bandwidth, one {device}",
           "The time of reading the triangle once as a percentage of the time of the solve, over order. It rises with the "
           "order; stored inverses are ahead of one-shot solves, and these of cuBLAS, at every one.", "percent of the read bandwidth", percent,
           percent=True)


def main():
    table, device, folder = sys.argv[1:4]
    rows = [r for r in read(table) if r["uplo"] == "L" and r["diag"] == "N"]
    draw_types(rows, device, folder)
    if len(sys.argv) > 4:
        draw_forms(rows, device, folder, read(sys.argv[4]))


main()
