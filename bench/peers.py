#!/usr/bin/env python3
"""bench/peers.py: `libsolver bench` beside CHOLMOD, MUMPS and PARDISO on the same files, on one machine

usage: peers.py LIBSOLVER [--peers DIR] [--rounds R] [--threads T] [--csv FILE] [--small] [PROBLEM...]

DIR, or $LIBSOLVER_PEERS, holds the peers' measuring programs, which print a line a file in words and numbers, `name solver key value
key value ...`:
  cpu -b|-m FILE...            CHOLMOD and MUMPS, MUMPS alone
  pardiso -spd|-sym FILE...    oneMKL PARDISO
PROBLEM: a problem that `libsolver generate` makes, or a name in the folder $LIBSOLVER_MATRICES; those of the table without one.
--small: also the real matrices of known.tsv in that folder with n < 2000 that are known to be nonsingular.

In each round every program runs once, one after the other, ours first; each reads a file three times in one process, and its first
row is left out: what is compared are warm calls.  Figures are medians over the rounds, in milliseconds, with the ratio of the best
peer to ours behind: below 1 we are behind, and the cell is marked.  `total` is analysis, first factorization and one solve; the best
peer is the one with the least total, not the best of each phase.  A peer counts only where its own backward error, without
refinement, is at most 1e-10 and not 0: a program whose maximum passes over NaN prints 0 for it, and a right solution of more than a
diagonal has rounding errors.  Where none counts, the best of them stands in brackets and is left out of the means.
SPDX-License-Identifier: BSD-3-Clause"""
import argparse
import csv
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROBLEMS = ["lap3d:50", "lap2d:500", "vec3d:20", "elas_armadillo", "bcsstk18", "slam_sphere2500", "aug3dcqp", "kkt_cont-201",
            "ncvxqp1", "acopf_case2869pegase_it30", "stokes64"]
PHASES = ["analyze", "refactorize", "solve 1", "solve 16", "total"]
SMALL = 2000   # order below which a matrix is small
RIGHT = 1e-10  # backward error up to which a solution counts
REPEATS = 3    # of a file in one process


def parse_ours(text):
    """Lines of `libsolver bench` -> [(kind, row)]; row: seconds by phase, and `error`."""
    rows = []
    for line in text.splitlines():
        r = json.loads(line)
        seconds = [r["analyze_s"], r["refactorize_s"], r["solve_s"]["1"], r["solve_s"]["16"]]
        seconds.append(r["analyze_s"] + r["factorize_s"] + r["solve_s"]["1"])
        error = r["backward_error"]
        rows.append((r["kind"], {**dict(zip(PHASES, seconds)), "error": math.inf if error is None else error}))
    return rows


def parse_peers(text):
    """Lines of the peers' programs -> [(solver, row)], like parse_ours.  Where a program times only one factorization, it counts as
    first and later.  A failed one has an infinite error, and so has one that may hide NaN."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        values = dict(zip(words[2::2], words[3::2]))
        if len(words) < 2 or "analyse" not in values:
            continue
        error = float(values.get("berr", "nan"))
        hides_nan = error == 0 and int(values.get("nnz", 1)) != int(values.get("n", 0))
        failed = hides_nan or "NOT-SPD" in words or int(values.get("err", 0)) != 0 or int(values.get("info", 0)) < 0
        first, refactorize = float(values["factor"]), float(values.get("refactor", values["factor"]))
        analyze, solve_1, solve_16 = (float(values[key]) for key in ("analyse", "solve1", "solve16"))
        seconds = [analyze, refactorize, solve_1, solve_16, analyze + first + solve_1]
        rows.append((words[1].split("-")[0], {**dict(zip(PHASES, seconds)),
                                               "error": error if error >= 0 and not failed else math.inf}))
    return rows


def median_row(rows):
    """Medians by phase of rows of one solver, and the worst error."""
    row = {phase: statistics.median(r[phase] for r in rows) for phase in PHASES}
    return {**row, "error": max(r["error"] for r in rows)}


def best_peer(peers, phase):
    """(name, seconds, counts) of the fastest peer that is right, or of the fastest of all, which does not count."""
    right = [(row[phase], name) for name, row in peers.items() if row["error"] <= RIGHT]
    every = [(row[phase], name) for name, row in peers.items()]
    seconds, name = min(right or every or [(math.nan, "none")])
    return name, seconds, bool(right)


def ratios(ours, peers):
    """phase -> (best peer, its seconds / ours, counts).  A peer's clock may show 0."""
    found = {phase: best_peer(peers, phase) for phase in PHASES}
    return {phase: (name, seconds / ours[phase], counts) for phase, (name, seconds, counts) in found.items()}


def geometric_mean(values):
    """Of the values that are numbers above 0; nan without any."""
    known = [v for v in values if v > 0]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else math.nan


def cell(ours, name, ratio, counts):
    return f"{1e3 * ours:9.3f} {ratio:6.2f} {'<' if counts and ratio < 1 else ' '}{name if counts else f'({name})':<9}"


def table(results):
    """Lines; results: [(problem, ours, {peer: row})]."""
    lines = ["ms of ours, time of the best peer / ours; <: we are behind",
             f"{'':<26}" + "".join(f"{phase:^28}" for phase in PHASES) + "error"]
    all_ratios = {phase: [] for phase in PHASES}
    for problem, ours, peers in results:
        cells = ratios(ours, peers)
        for phase, (_, ratio, counts) in cells.items():
            all_ratios[phase].append(ratio if counts else math.nan)
        wrong = "" if ours["error"] <= RIGHT else " WRONG"
        lines.append(f"{problem:<26}" + " ".join(cell(ours[phase], *cells[phase]) for phase in PHASES) +
                     f" {ours['error']:.0e}{wrong}")
    means = " ".join(f"{'':9} {geometric_mean(all_ratios[phase]):6.2f}           " for phase in PHASES)
    every = [r for phase in PHASES for r in all_ratios[phase]]
    behind = sum(r < 1 for r in every)
    lines.append(f"{'geometric mean':<26}{means}")
    lines.append(f"all cells: {geometric_mean(every):.2f}; behind in {behind} of {sum(r == r for r in every)}")
    return lines


# ---- running -----------------------------------------------------------------------------------------------


def run(command, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads),
                   "MKL_NUM_THREADS": str(threads)}
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False).stdout


def find(problem, tool, folder):
    """The file of a problem, made where it has to be."""
    if ":" in problem:
        path = pathlib.Path(folder, problem.replace(":", "_") + ".mtx")
        subprocess.run([tool, "generate", problem, "-o", str(path)], check=True, stdout=subprocess.DEVNULL)
        return path
    matrices = os.environ.get("LIBSOLVER_MATRICES")
    for suffix in (".mtx", ".mtx.gz"):
        path = pathlib.Path(matrices or ".", problem + suffix)
        if path.exists():
            return path
    sys.exit(f"no {problem}.mtx in the folder LIBSOLVER_MATRICES ({matrices or 'not set'})")


def small_problems():
    """Names of the real matrices of known.tsv with n < SMALL that are known to be nonsingular."""
    path = pathlib.Path(os.environ.get("LIBSOLVER_MATRICES", "."), "known.tsv")
    if not path.exists():
        sys.exit(f"no {path}: LIBSOLVER_MATRICES must name the folder of the matrices")
    with open(path, newline="") as table_of_matrices:
        return [m["name"] for m in csv.DictReader(table_of_matrices, delimiter="\t")
                if int(m["n"]) < SMALL and m["expect"] == "ok" and not m["type"].startswith("complex")]


def measure(path, tool, peers, rounds, threads):
    """(ours, {peer: row}) of one file."""
    ours, theirs = [], {}
    for _ in range(rounds):
        rows = parse_ours(run([tool, "bench", *[str(path)] * REPEATS, "--backend", "cpu", "--threads", str(threads)], threads))
        ours.extend(row for _, row in rows[1:] or rows)
        definite = rows[0][0] == "cholesky"
        for command in ([peers / "cpu", "-b" if definite else "-m"], [peers / "pardiso", "-spd" if definite else "-sym"]):
            by_solver = {}
            for solver, row in parse_peers(run([*map(str, command), *[str(path)] * REPEATS], threads)):
                by_solver.setdefault(solver, []).append(row)
            for solver, rows in by_solver.items():
                theirs.setdefault(solver, []).extend(rows[1:] or rows)
    return median_row(ours), {solver: median_row(rows) for solver, rows in theirs.items()}


def write_csv(path, results):
    with open(path, "w", newline="") as to:
        out = csv.writer(to)
        out.writerow(["problem", "solver", *PHASES, "error"])
        for problem, ours, peers in results:
            for solver, row in {"libsolver": ours, **peers}.items():
                out.writerow([problem, solver, *(f"{row[phase]:.7f}" for phase in PHASES), f"{row['error']:.1e}"])


def main():
    p = argparse.ArgumentParser(description="libsolver bench beside the peers' measuring programs")
    p.add_argument("tool", metavar="LIBSOLVER")
    p.add_argument("problems", nargs="*", metavar="PROBLEM")
    p.add_argument("--peers", default=os.environ.get("LIBSOLVER_PEERS"))
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--csv", help="all solvers' medians, in seconds")
    p.add_argument("--small", action="store_true", help="also the nonsingular real matrices of known.tsv with n < 2000")
    a = p.parse_intermixed_args()
    if not a.peers or not pathlib.Path(a.peers, "cpu").exists() or not pathlib.Path(a.peers, "pardiso").exists():
        sys.exit("--peers or LIBSOLVER_PEERS must name the folder of the peers' programs, cpu and pardiso")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for problem in a.problems + small_problems() if a.small else a.problems or PROBLEMS:
            path = find(problem, a.tool, folder)
            results.append((problem, *measure(path, a.tool, pathlib.Path(a.peers), a.rounds, a.threads)))
            print(f"{problem}: {a.rounds} rounds done", file=sys.stderr)
    print("\n".join(table(results)))
    if a.csv:
        write_csv(a.csv, results)


if __name__ == "__main__":
    main()
