#!/usr/bin/env python3
"""Solves every matrix of a folder with the tool and prints a table; compares it with the folder's known.tsv.

usage: matrices_table.py LIBSOLVER CHECK_SOLUTION [--precision P] [--matching M] [--backend B] [NAME...]

--precision s: the real matrices, c and z: all of them, in that precision; mixed: all of them, with a factor in single precision;
otherwise each in double precision as it is.

In mixed precision an answer may also be that a pivot was perturbed, and an inertia that is not certain may be any; such rows are
not wrong, and are counted by what they say instead.

--matching, --backend: the tool's options, for all of them.

The folder is $LIBSOLVER_MATRICES or ../shared/matrices beside the repository; exit code 77 without it.  The backward
errors are recomputed from the files by check_solution, as the tool solves and with refinement switched off.
SPDX-License-Identifier: BSD-3-Clause"""
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOLERANCE = {"d": 1e-14, "s": 5e-6, "c": 5e-6, "z": 1e-14, "mixed": 1e-14}
# Inertias of known.tsv that are not those of the files; ours must be given as uncertain there.
DISPUTED = {
    "CAex": "56/16/0 in rational arithmetic: every pivot that is zero in floating point is rounding of the file",
    "stokes64": "8448/4098/0: its smallest eigenvalue is -6.2e-17 (norm 5.4) in extended precision",
}
PATIENCE = 300  # seconds for one system
BACKEND = []  # its option


def solve(tool, path, x, *options):
    command = [tool, "solve", str(path), "-o", str(x), "--json", "-", "--threads", "1", *BACKEND, *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, json.loads(done.stdout)


def recomputed(check, path, x, single):
    if not x.exists():
        return float("nan")
    command = [check, *(["--single"] if single else []), str(path), str(x)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def faults_of(known, code, result, inertia_right, error, tolerance, mixed):
    """What is wrong with this answer, in words."""
    faults, status = [], result["status"]
    allowed = {"ok": {"OK", "PERTURBED"}, "singular": {"SINGULAR"}, "either": {"OK", "PERTURBED", "SINGULAR"}}
    modest = {"PERTURBED"} if mixed else set()
    if status not in allowed[known["expect"]] | modest:
        faults.append(f"status {status}, expected {known['expect']}")
    if not error <= tolerance:
        faults.append("backward error")
    if code != (0 if (result["solve"]["backward_error"] or 0) <= tolerance else 3):
        faults.append(f"exit {code}")
    if inertia_right == "no":
        faults.append("inertia")
    return faults


def answer(tool, check, path, precision, matching):
    """Exit code and JSON of the tool, backward errors before and after refinement."""
    with tempfile.TemporaryDirectory() as temporary:
        x = pathlib.Path(temporary, "x.mtx")
        options, single = ["--matching", matching, *(["--precision", precision] if precision else [])], precision in ("s", "c")
        code, result = solve(tool, path, x, *options)
        before = after = recomputed(check, path, x, single)
        if result["solve"]["refinement_steps"]:
            solve(tool, path, x, "--refine", "0", *options)
            before = recomputed(check, path, x, single)
    return code, result, before, after


def remark_on(known, result, inertia_right):
    """Mixed precision: what the answer lacks beside that in double precision, in words, all of them in the answer itself."""
    counts, perturbed = result["factor"]["inertia"], result["factor"]["perturbed"]
    words = [f"{perturbed} pivots perturbed"] if perturbed else []
    if counts["certain"] is False and known["certain"] in ("yes", "exact"):
        words.append("inertia not certain" + (", and wrong" if inertia_right == "modest" else ""))
    return "; ".join(words)


def run(tool, check, folder, precision, matching, known):
    """One line of the table; whether it is faulty, whether the unrefined solution is poor; the status, with a remark or not."""
    left = f"{known['name']:28} {known['n']:>7}"
    try:
        code, result, before, after = answer(tool, check, folder / f"{known['name']}.mtx.gz", precision, matching)
    except subprocess.TimeoutExpired:
        return f"{left} FAULT: no answer in {PATIENCE} s", True, False, "no answer"
    counts = [str(result["factor"]["inertia"][sign]) for sign in ("positive", "negative", "zero")]
    right = "-"
    if known["type"] == "complex symmetric":
        right = "-" if counts == ["None"] * 3 else "no"
    elif known["certain"] in ("yes", "exact"):
        right = "yes" if counts == [known["n_plus"], known["n_minus"], known["n_zero"]] else "no"
        if right == "no" and known["name"] in DISPUTED and not result["factor"]["inertia"]["certain"]:
            right = "disputed"
        if right == "no" and precision == "mixed" and not result["factor"]["inertia"]["certain"]:
            right = "modest"
    faults = faults_of(known, code, result, right, after, TOLERANCE[precision or "d"], precision == "mixed")
    note = ("FAULT: " + ", ".join(faults) + (f" ({'/'.join(counts)})" if right == "no" else "")) if faults else ""
    if right == "disputed":
        note += f"{'/'.join(counts)}, uncertain; {DISPUTED[known['name']]}"
    remark = remark_on(known, result, right) if precision == "mixed" else ""
    note += ("; " if note and remark else "") + remark
    seconds = result["seconds"]["total"]
    line = f"{left} {result['status']:10} {right:8} {before:8.1e} {after:8.1e} {seconds:8.3f}  {note}"
    return line.rstrip(), bool(faults), before > 1e-10, result["status"] + (", with a remark" if remark else "")


def main():
    tool, check, names, precision, matching = sys.argv[1], sys.argv[2], sys.argv[3:], None, "auto"
    if names and names[0] == "--precision":
        precision, names = names[1], names[2:]
    if names and names[0] == "--matching":
        matching, names = names[1], names[2:]
    if names and names[0] == "--backend":
        BACKEND.extend(names[:2])
        names = names[2:]
    beside = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "matrices"
    folder = pathlib.Path(os.environ.get("LIBSOLVER_MATRICES", beside))
    if not (folder / "known.tsv").is_file():
        print(f"no known.tsv in {folder}: skipped")
        return 77
    with open(folder / "known.tsv") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t") if not names or row["name"] in names]
    if precision in ("s", "d"):
        rows = [row for row in rows if not row["type"].startswith("complex")]
    print(f"{'name':28} {'n':>7} {'status':10} {'inertia':8} {'before':>8} {'after':>8} {'seconds':>8}")
    failed = unrefined = 0
    kinds = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line, faulty, poor, kind in pool.map(lambda row: run(tool, check, folder, precision, matching, row), rows):
            print(line, flush=True)
            failed += faulty
            unrefined += poor
            kinds[kind] += 1
    print(f"{len(rows)} matrices, {failed} wrong; {unrefined} with a backward error above 1e-10 before refinement")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    return 1 if failed else 0


sys.exit(main())
