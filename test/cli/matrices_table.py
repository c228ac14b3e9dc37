#!/usr/bin/env python3
"""Solves every matrix of a folder with the tool and prints a table; compares it with the folder's known.tsv.

usage: matrices_table.py LIBSOLVER CHECK_SOLUTION [--precision P] [--matching M] [--backend B] [--perturbed] [NAME...]

--precision s: the real matrices, c and z: all of them, in that precision; mixed: all of them, with a factor in single precision;
otherwise each in double precision as it is.

In single precision an answer may also be that the matrix is singular, in mixed precision that a pivot was perturbed, and an inertia
that is not certain may be any; such rows are not wrong, and are counted by what they say instead.

--matching, --backend: the tool's options, for all of them.  --perturbed: every answer must be that pivots were perturbed, which in
double precision none may be otherwise.  NAME: these matrices alone; one that is not there is an error.

An inertia called certain must be the true one, as far as it is known, or where known.tsv has none that is certain, the one that it
gives.

The folder is $LIBSOLVER_MATRICES or ../shared/matrices beside the repository; exit code 77 without it.  The backward
errors are recomputed from the files by check_solution, as the tool solves and with refinement switched off.
SPDX-License-Identifier: BSD-3-Clause"""
import argparse
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
# The truth of known.tsv that no solver in double precision can be certain of.
BEYOND_DOUBLE = {
    "CAex": "56/16/0 in rational arithmetic: every pivot that is zero in floating point is rounding of the file",
    "stokes64": "8448/4098/0: its smallest eigenvalue is -6.2e-17 (norm 5.4) in extended precision",
}
# Eigenvalues that are exactly zero, of matrices with few decimal digits: ranks by elimination modulo 2^61 - 1, of the files as they stand.
NULLITY = {
    "can_24": 0, "dwt_992": 496, "can_1072": 22, "jagmesh7": 0, "laser": 2, "kkt_qpilotno": 1171, "kkt_aug3d": 712,
    "lap_USPowerGrid": 1, "slam_intel_singular": 0, "ca-GrQc": 438, "lap_ca-GrQc": 355, "bcspwr10": 24, "EVA": 6077, "lap_EVA": 1967,
    "hollow_powell20": 2, "kkt_powell20": 1, "kkt_aug2d": 4, "kkt_qship12l": 2857, "kkt_stadat3": 3999, "lap_luxembourg": 1, "luxembourg": 1220,
}
# Matrices that are others once their entries are rounded to single precision: there stokes64 times
# ones in its first 4225 rows is exactly 0, and times ones in the next as many.
IN_SINGLE = {"stokes64": {"expect": "singular", "n_plus": "8448", "n_minus": "4096", "n_zero": "2", "certain": "exact"}}
ROUGH = ("s", "c", "mixed")  # precisions in which a matrix that is not singular may be called so, if its inertia is not called certain
OUT_OF_RANGE = {"diag_1e99"}  # of single precision
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


def faults_of(known, code, result, inertia_right, error, precision, perturbed):
    """What is wrong with this answer, in words.  perturbed: whether it must be that pivots were."""
    faults, status, factor, tolerance = [], result["status"], result["factor"], TOLERANCE[precision or "d"]
    if precision in ("s", "c") and known["name"] in OUT_OF_RANGE:
        return [] if (status, code) == ("NONFINITE", 2) else [f"status {status}, exit {code}, expected NONFINITE"]
    allowed = {"ok": {"OK"}, "singular": {"SINGULAR"}, "either": {"OK", "SINGULAR"}}[known["expect"]]
    if precision in ("s", "c") and not factor["inertia"]["certain"]:
        allowed = allowed | {"SINGULAR"}
    allowed = {"PERTURBED"} if perturbed else allowed | {"PERTURBED"} if precision == "mixed" else allowed
    if status not in allowed:
        faults.append(f"status {status}, expected {' or '.join(sorted(allowed))}")
    reported = result["solve"]["backward_error"]
    if reported is None or not error <= tolerance:
        faults.append("backward error")
    elif not error <= 1.5 * reported + tolerance / 50:
        faults.append(f"backward error {error:.1e}, {reported:.1e} reported")
    if code != 0:
        faults.append(f"exit {code}")
    if inertia_right == "no":
        faults.append("inertia")
    return faults + contradictions(known, status, factor)


def contradictions(known, status, factor):
    """Where status, counts and `certain` do not go together."""
    faults, counts = [], factor["inertia"]
    if factor["perturbed"] and status == "OK":
        faults.append(f"OK with {factor['perturbed']} perturbed pivots")
    if status == "PERTURBED" and not factor["perturbed"]:
        faults.append("PERTURBED without a perturbed pivot")
    if counts["zero"] is None:
        return faults
    if counts["positive"] + counts["negative"] + counts["zero"] != int(known["n"]):
        faults.append("the inertia does not sum to n")
    if (status == "SINGULAR") != (counts["zero"] > 0):
        faults.append(f"{status} with {counts['zero']} zero pivots")
    if counts["certain"] and factor["perturbed"]:
        faults.append("certain with perturbed pivots")
    return faults


def judged(known, counts, precision):
    """Whether the inertia is right: yes, no, "zeros" if their number is known and right, "open" if it does not call itself certain where
    it could not be, in single and mixed precision anywhere, "-" if there is none or nothing known of it."""
    found = [str(counts[sign]) for sign in ("positive", "negative", "zero")]
    zeros = NULLITY.get(known["name"])
    if known["type"] == "complex symmetric":
        return "-" if found == ["None"] * 3 and counts["certain"] is None else "no"
    if zeros is not None and counts["certain"]:
        return "no" if counts["zero"] != zeros else "yes" if found == [known["n_plus"], known["n_minus"], known["n_zero"]] else "zeros"
    if known["n_plus"] == "-":
        return "-"
    if found == [known["n_plus"], known["n_minus"], known["n_zero"]]:
        return "yes"
    return "open" if not counts["certain"] and (precision in ROUGH or known["certain"] == "no") else "no"


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
    """Single and mixed precision: what the answer lacks beside that in double precision, in words, all of them in the answer itself."""
    counts, perturbed = result["factor"]["inertia"], result["factor"]["perturbed"]
    words = [f"{perturbed} pivots perturbed"] if perturbed else []
    if counts["certain"] is False and known["certain"] in ("yes", "exact"):
        words.append("inertia not certain" + (", and wrong" if inertia_right == "open" else ""))
    return "; ".join(words)


def run(tool, check, folder, options, known):
    """One line of the table; whether it is faulty, whether the unrefined solution is poor; the status, with a remark or not."""
    left, precision = f"{known['name']:28} {known['n']:>7}", options.precision
    if precision in ("s", "c"):
        known = {**known, **IN_SINGLE.get(known["name"], {})}
    try:
        code, result, before, after = answer(tool, check, folder / f"{known['name']}.mtx.gz", precision, options.matching)
    except subprocess.TimeoutExpired:
        return f"{left} FAULT: no answer in {PATIENCE} s", True, False, "no answer"
    counts = result["factor"]["inertia"]
    right = judged(known, counts, precision)
    faults = faults_of(known, code, result, right, after, precision, options.perturbed)
    note = "FAULT: " + ", ".join(faults) if faults else ""
    if right in ("no", "open"):
        note += f" ({counts['positive']}/{counts['negative']}/{counts['zero']}{', certain' if counts['certain'] else ''})"
    if right == "open" and known["name"] in BEYOND_DOUBLE:
        note += f"; {BEYOND_DOUBLE[known['name']]}"
    remark = remark_on(known, result, right) if precision in ROUGH else ""
    note += ("; " if note and remark else "") + remark
    seconds = result["seconds"]["total"]
    line = f"{left} {result['status']:10} {right:8} {before:8.1e} {after:8.1e} {seconds:8.3f}  {note}"
    return line.rstrip(), bool(faults), before > 1e-10, result["status"] + (", with a remark" if remark else "")


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("tool")
    parser.add_argument("check")
    parser.add_argument("--precision", choices=list(TOLERANCE))
    parser.add_argument("--matching", default="auto")
    parser.add_argument("--backend")
    parser.add_argument("--perturbed", action="store_true")
    parser.add_argument("names", nargs="*")
    return parser.parse_intermixed_args()


def main():
    options = arguments()
    if options.backend:
        BACKEND.extend(["--backend", options.backend])
    beside = pathlib.Path(__file__).resolve().parent.parent.parent.parent / "shared" / "matrices"
    folder = pathlib.Path(os.environ.get("LIBSOLVER_MATRICES", beside))
    if not (folder / "known.tsv").is_file():
        print(f"no known.tsv in {folder}: skipped")
        return 77
    with open(folder / "known.tsv") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    absent = set(options.names) - {row["name"] for row in rows}
    rows = [row for row in rows if not options.names or row["name"] in options.names]
    if options.precision in ("s", "d"):
        rows = [row for row in rows if not row["type"].startswith("complex")]
    if absent or not rows:
        print(f"nothing to solve of {folder}: {', '.join(sorted(absent)) or 'no matrix of this precision'}")
        return 1
    print(f"{'name':28} {'n':>7} {'status':10} {'inertia':8} {'before':>8} {'after':>8} {'seconds':>8}")
    failed = unrefined = 0
    kinds = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line, faulty, poor, kind in pool.map(lambda row: run(options.tool, options.check, folder, options, row), rows):
            print(line, flush=True)
            failed += faulty
            unrefined += poor
            kinds[kind] += 1
    print(f"{len(rows)} matrices, {failed} wrong; {unrefined} with a backward error above 1e-10 before refinement")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    return 1 if failed else 0


sys.exit(main())
