#!/usr/bin/env python3
"""Lines of the host code that the tests of a build with -Db_coverage=true have run, by folder; exit
code 1 if a folder has less than 95 % of them. Lines that were not run are listed with --lines.

usage: coverage.py BUILD [--lines [FOLDER_OR_FILE]]
SPDX-License-Identifier: BSD-3-Clause"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

LEAST = 95.0
FOLDERS = ("base", "ordering", "dense/cpu", "gpu", "solver", "solver/cpu", "solver/gpu", "cli")


def folder_of(path):
    """The one of FOLDERS that counts a file, or None: ordering/nd belongs to ordering."""
    inside = [f for f in FOLDERS if path.startswith(f + "/")]
    return max(inside, key=len) if inside else None


def read_counts(build, notes):
    """{(file, line): times run} of one object file."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", str(notes.resolve())], cwd=build, capture_output=True, text=True)
    counts = {}
    for report in done.stdout.splitlines():
        for file in json.loads(report)["files"]:
            path = os.path.relpath(build / file["file"], build.parent) if file["file"].startswith("..") else file["file"]
            if folder_of(path):
                for line in file["lines"]:
                    place = path, line["line_number"]
                    counts[place] = counts.get(place, 0) + line["count"]
    return counts


def shown(lines):
    """Runs of lines: 3-5 8."""
    runs = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def main():
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    notes = list(build.rglob("*.gcno"))
    total = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for counts in pool.map(lambda n: read_counts(build, n), notes):
            for place, count in counts.items():
                total[place] = total.get(place, 0) + count
    listed = sys.argv[3:] or [""]
    if "--lines" in sys.argv:
        for path in sorted({p for p, _ in total if any(p.startswith(name) for name in listed)}):
            missed = [line for (p, line), count in sorted(total.items()) if p == path and count == 0]
            if missed:
                print(f"{path}: {shown(missed)}")
    failed = not total
    for folder in FOLDERS:
        inside = [count for (path, _), count in total.items() if folder_of(path) == folder]
        run = sum(count > 0 for count in inside)
        percent = 100 * run / max(1, len(inside))
        failed |= percent < LEAST
        print(f"{folder:12} {run:6} of {len(inside):6} lines  {percent:5.1f} %{'  TOO FEW' if percent < LEAST else ''}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
