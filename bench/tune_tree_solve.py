#!/usr/bin/env python3
"""The constants of the one-launch solve: each of them varied by itself, the others as they are.

usage: tune_tree_solve.py BENCH_TREE_SOLVE [PROBLEM...]

Prints, for each value, the time of a solve in a graph relative to the default's on every problem, and the geometric
mean over them; the best value of each constant is marked.  Every problem is factorized once, the default is measured
at the beginning and at the end, and how far the two lie apart says what differences mean nothing.
SPDX-License-Identifier: BSD-3-Clause"""
import math
import re
import subprocess
import sys

PROBLEMS = "lap2d:150 lap2d:500 lap3d:20 lap3d:30 lap3d:50 vec3d:12 kkt2d:60 kkt2d:150".split()
# constant -> (how it is said, where it stands, default, values)
GRID = {
    "STEP, us": ("-s {}", "gpu/packed/prepare.c", 2.5, [1.5, 2, 3, 3.5, 5]),
    "BYTES_PER_SECOND, TB/s": ("-w {}", "gpu/packed/prepare.c", 2, [1, 1.5, 2.5, 3, 4]),
    "LARGEST_GROUP": ("-t largest_group={}", "gpu/packed/prepare.c", 6000, [1000, 2000, 4000, 10000]),
    "task_cost": ("-t task_cost={}", "gpu/plan/plan.c", 24576, [0, 8192, 16384, 32768, 49152, 98304]),
    "most_parts": ("-t most_parts={}", "gpu/plan/plan.c", 4, [1, 2, 3, 6, 8]),
    "direct_sources": ("-t direct_sources={}", "gpu/plan/plan.c", 1, [2, 3, 4, 8]),
    "sum_outs": ("-t sum_outs={}", "gpu/plan/plan.c", 16, [8, 32, 64, 128]),
    "twice": ("-t twice={}", "gpu/plan/plan.c", 1, [0]),
    "strip_bytes": ("-t strip_bytes={}", "gpu/plan/plan.c", 8192, [0, 16384, 49152]),
}


def settings():
    """(constant, value, arguments that set it, arguments that set it back)"""
    for constant, (how, _, default, values) in GRID.items():
        for value in values:
            yield constant, value, how.format(value).split(), how.format(default).split()


def times_of(bench, problem):
    """us in a graph: the default, every setting, the default."""
    arguments = ["-r", "1", problem]
    for _, _, there, back in settings():
        arguments += [*there, problem, *back]
    done = subprocess.run([bench, *arguments, problem], capture_output=True, text=True)
    times = [float(t) for t in re.findall(r" graph +([0-9.]+) us ", done.stdout)]
    if done.returncode or len(times) != len(list(settings())) + 2:
        sys.exit(f"{problem}: {done.stderr.strip() or 'not all settings were measured'}")
    return times


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    bench, problems = sys.argv[1], sys.argv[2:] or PROBLEMS
    times = {}
    for problem in problems:
        times[problem] = times_of(bench, problem)
        print(f"{problem}: {times[problem][0]:.2f} us, again {times[problem][-1]:.2f}", flush=True)
    ratios = {problem: [t / times[problem][0] for t in times[problem]] for problem in problems}
    names = [problem.rsplit("/", 1)[-1][:10] for problem in problems]
    print("\ntime relative to the default's, in a graph\n\n" + " " * 34 + "".join(f"{name:>11}" for name in names) + "       mean")
    row = "{:24}{:>10}".format
    rows = {}
    for k, (constant, value, _, _) in enumerate(settings(), start=1):
        each = [ratios[problem][k] for problem in problems]
        rows.setdefault(constant, []).append((geometric_mean(each), value, each))
    for constant, found in rows.items():
        default = (1.0, GRID[constant][2], [1.0] * len(problems))
        best = min(found + [default])[0]
        for mean, value, each in sorted(found + [default], key=lambda r: r[1]):
            marks = (" <- best" if mean == best else "") + (" (default)" if value == default[1] else "")
            print(row(constant, f"{value:g}") + "".join(f"{r:11.3f}" for r in each) + f"{mean:11.4f}{marks}")
    drift = [ratios[problem][-1] for problem in problems]
    print(row("the default again", "") + "".join(f"{r:11.3f}" for r in drift) + f"{geometric_mean(drift):11.4f}")


if __name__ == "__main__":
    main()
