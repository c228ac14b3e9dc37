#!/usr/bin/env python3
"""Adds up what Nsight Compute found for the kernels of `bench_papers once`.

usage: ncu --csv --page raw --metrics gpu__time_duration.sum,dram__bytes_read.sum,\
dram__bytes_write.sum,lts__t_bytes.sum --print-units base bench_papers once LABELS > CSV
       kernel_sums.py LABELS CSV

A line for each call: kernels, time in us, MB read from and written to memory and through L2; then
the shares of the time, by what a kernel is for.
SPDX-License-Identifier: BSD-3-Clause"""
import collections
import csv
import re
import sys

PARTS = [  # of a call, by a part of the kernel's name, in this order
    ("guard", "inverse_sums|refuse|conjugate"),
    ("inversion", "invert_kernel"),
    ("copy", "take_kernel|scale_kernel"),
    ("leaf", "mixed_kernel|lanes_kernel|vectors_kernel|product_kernel|trsm_rows"),
    ("trmm", "trmm|trsm"),
    ("product", "."),
]


def rows_of(path):
    with open(path) as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.reader(lines))
    head = rows[0]
    for row in rows[1:]:
        if row[0].isdigit():
            yield dict(zip(head, row))


def main(labels, path):
    calls, inside = [], False
    for row in rows_of(path):
        name = row["Kernel Name"]
        if "marker_kernel" in name:
            inside = not inside
            if inside:
                calls.append([])
        elif inside:
            number = lambda metric: float(row[metric].replace(",", "") or 0)
            calls[-1].append((name, number("gpu__time_duration.sum") / 1e3,
                number("dram__bytes_read.sum") / 1e6, number("dram__bytes_write.sum") / 1e6,
                number("lts__t_bytes.sum") / 1e6))
    with open(labels) as file:
        names = [line.split() for line in file]
    if len(names) != len(calls):
        sys.exit(f"{len(names)} labels, {len(calls)} calls")
    print("call                         n  sides kernels       us  MB read  written   of L2")
    for (name, n, sides), kernels in zip(names, calls):
        sums = [sum(k[m] for k in kernels) for m in (1, 2, 3, 4)]
        shares = collections.Counter()
        before, inverse = None, name.startswith("trsm_inverse")
        for kernel, time, *_ in kernels:
            part = next(p for p, pattern in PARTS if re.search(pattern, kernel))
            if part == "product" and inverse:
                # before the first copy those of the doubling; after a copy that with the inverse
                part = ("inversion" if "copy" not in shares else
                    "by inverse" if before in ("copy", "by inverse") else "update")
                if part == "by inverse" and "splitK" not in kernel and before == part:
                    part = "update"
            shares[part] += time
            before = part
        print(f"{name:22} {n:>7} {sides:>6} {len(kernels):7} {sums[0]:8.1f} {sums[1]:8.1f}"
            f" {sums[2]:8.1f} {sums[3]:7.0f} ", *(f"{p} {t:.0f}" for p, t in shares.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
