#!/usr/bin/env python3
"""`libsolver refine`, bounds of errors, matrices that are symmetric but for small differences, and
what is said while work goes on.

usage: test_cli_refine.py LIBSOLVER CHECK_SOLUTION
SPDX-License-Identifier: BSD-3-Clause"""
import json
import math
import os
import pathlib
import pty
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

CHECK, TOOL = os.path.abspath(sys.argv.pop(2)), os.path.abspath(sys.argv.pop(1))
DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"
GENERAL = "%%MatrixMarket matrix coordinate real general\n"
ON_CPU = ["--backend", "cpu"]


def run(*arguments, **options):
    command = [TOOL, *map(str, arguments)]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)


class Refine(FolderCase):
    def refine(self, *arguments, code=0):
        done = run("refine", *arguments, *ON_CPU, "--json", "-")
        self.assertEqual(done.returncode, code, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["schema"], "libsolver.refine/1")
        return result

    def test_each_step_is_told_with_its_errors(self):
        result = self.refine("lap2d:40", "--precision", "mixed")
        (way,) = result["refinements"]
        steps = way["steps"]
        self.assertEqual([s["made_by"] for s in steps[:3]], ["solve", "plain", "plain"])
        self.assertEqual((way["factor_precision"], way["residual"], way["method"]), ("s", "extended", "auto"))
        errors = [s["backward_error"] for s in steps]
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertGreater(errors[0], 1e-10)
        self.assertLessEqual(errors[-1], 1e-14)
        for step in steps:
            self.assertLessEqual(step["forward_error"], step["forward_bound"])
            self.assertGreater(step["seconds"], 0)
        self.assertEqual(way["best_step"], len(steps) - 1)

    def test_the_table_says_the_same(self):
        shown = run("refine", "lap2d:40", "--precision", "mixed", *ON_CPU).stdout
        rows = re.findall(r"^ *(\d+)  (\w+) +(\S+) +(\S+) +(\S+) +(\S+)", shown, re.M)
        steps = self.refine("lap2d:40", "--precision", "mixed")["refinements"][0]["steps"]
        self.assertEqual([row[1] for row in rows], [s["made_by"] for s in steps])
        self.assertEqual([row[2] for row in rows], ["%.1e" % s["backward_error"] for s in steps])

    def test_methods_are_what_they_say(self):
        for method, made_by in (("plain", "plain"), ("fgmres", "fgmres")):
            steps = self.refine("kkt2d:10", "--precision", "mixed", "--method", method, "--tol", "least")
            kinds = {s["made_by"] for s in steps["refinements"][0]["steps"][1:]}
            self.assertEqual(kinds, {made_by})

    def test_the_precision_of_residuals_decides_how_good_x_becomes(self):
        least = {}
        for residual in ("single", "double", "extended"):
            result = self.refine("lap2d:40", "--method", "plain", "--residual", residual, "--tol", "least")
            way = result["refinements"][0]
            self.assertEqual(way["residual"], residual)
            self.assertEqual(way["best_step"] == 0, residual == "single")  # x of the best step is kept
            least[residual] = min(s["forward_error"] for s in way["steps"][1:])
        # steps with residuals in single lose what the solve in double had
        self.assertGreater(least["single"], 1e-8)
        self.assertGreater(least["double"], least["extended"])
        self.assertLess(least["extended"], 3e-16)

    def test_precisions_are_compared_side_by_side(self):
        result = self.refine("kkt2d:10", "--compare-precisions", "--tol", "least")
        ways = [(w["factor_precision"], w["method"]) for w in result["refinements"]]
        self.assertEqual(ways, [("d", "plain"), ("d", "fgmres"), ("s", "plain"), ("s", "fgmres")])
        shown = run("refine", "kkt2d:10", "--compare-precisions", *ON_CPU).stdout
        for word in ("double, plain", "double, fgmres", "mixed, plain", "mixed, fgmres", "bound of the error of x"):
            self.assertIn(word, shown)

    def test_x_is_written_and_right(self):
        x = self.folder / "x.mtx"
        self.refine(DATA / "five.mtx", DATA / "five_b.mtx", "-o", x)
        done = subprocess.run([CHECK, DATA / "five.mtx", DATA / "five_b.mtx", x], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_steps_are_counted_and_the_tolerance_decides(self):
        way = self.refine("lap2d:40", "--precision", "mixed", "--refine", "1", code=3)["refinements"][0]
        self.assertEqual(len(way["steps"]), 2)
        self.assertEqual(len(self.refine("lap2d:9", "--refine", "0")["refinements"][0]["steps"]), 1)
        self.assertEqual(len(self.refine("lap2d:40", "--tol", "1e-3")["refinements"][0]["steps"]), 1)

    def test_several_columns_and_all_precisions(self):
        for precision in "dscz":
            way = self.refine("lap2d:9", "--nrhs", "3", "--precision", precision)["refinements"][0]
            self.assertEqual(way["factor_precision"], precision)

    def test_failures_have_their_codes_and_json(self):
        result = self.refine("kkt2d:5", "--type", "spd", code=3)
        self.assertEqual((result["status"], result["refinements"]), ("NOT_POSITIVE_DEFINITE", []))
        self.assertEqual(self.refine("no.mtx", code=2)["status"], "INVALID")
        for wrong in (["--compare-precisions", "--precision", "d"], ["--compare-precisions", "-o", "x"], ["--residual", "single", "--method", "fgmres"]):
            self.assertEqual(run("refine", "lap2d:3", *wrong).returncode, 1)


class Accuracy(FolderCase):
    def test_bounds_hold_and_digits_follow_from_them(self):
        solved = json.loads(run("solve", "lap2d:40", *ON_CPU, "--error-bounds", "--json", "-").stdout)
        accuracy = solved["accuracy"]
        self.assertGreater(accuracy["condition"], 500)
        self.assertLessEqual(solved["solve"]["forward_error"], accuracy["forward_bound"])
        self.assertEqual(accuracy["digits"], math.floor(-math.log10(accuracy["forward_bound"])))
        shown = run("solve", "lap2d:40", *ON_CPU, "--error-bounds").stdout
        self.assertRegex(shown, r"\naccuracy   condition \S+; error of x at most \S+ of its largest entry: 1[2-5] digits\n")

    def test_a_singular_matrix_has_no_digits(self):
        a = self.file("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 1\n2 2 1\n")
        done = run("solve", a, *ON_CPU, "--error-bounds")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("condition infinite; error of x at most infinite of its largest entry: 0 digits", done.stdout)

    def test_as_far_as_it_goes(self):
        loose, least = (
            json.loads(run("solve", "lap3d:8", *ON_CPU, "--precision", "mixed", "--tol", tol, "--json", "-").stdout)
            for tol in ("1e-3", "least")
        )
        self.assertEqual((loose["tolerance"], least["tolerance"]), (1e-3, 1e-14))
        self.assertGreater(loose["solve"]["backward_error"], 1e-9)
        self.assertLess(least["solve"]["backward_error"], 4e-16)
        history = least["solve"]["history"]
        self.assertEqual(history[0]["made_by"], "solve")
        self.assertEqual(history[-1]["backward_error"], least["solve"]["backward_error"])
        self.assertEqual(len(history), least["solve"]["refinement_steps"] + 1)

    def test_every_column_has_its_error(self):
        solve = json.loads(run("solve", "lap2d:9", *ON_CPU, "--nrhs", "5", "--json", "-").stdout)["solve"]
        self.assertEqual(len(solve["backward_errors"]), 5)
        self.assertEqual(max(solve["backward_errors"]), solve["backward_error"])


class Symmetrize(FolderCase):
    def test_a_small_difference_is_told_and_taken_out_on_request(self):
        text = GENERAL + "2 2 4\n1 1 4\n2 1 1.0000000000000002\n1 2 1\n2 2 3\n"
        a = self.file("a.mtx", text)
        refused = run("solve", a)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn(
            ":4: the matrix is not symmetric: (2, 1) is 1.0000000000000002 and (1, 2) is 1; the largest difference is "
            "5.6e-17 of the largest entry, which --symmetrize takes the mean of\n", refused.stderr)
        taken = run("solve", a, "--symmetrize", *ON_CPU)
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.assertIn("the mean of its two triangles, which differ by 5.6e-17 of the largest entry", taken.stdout)
        solved = json.loads(run("solve", a, "--symmetrize", *ON_CPU, "--json", "-").stdout)
        self.assertAlmostEqual(solved["matrix"]["asymmetry"], 5.55e-17, delta=1e-18)

    def test_a_large_difference_is_refused_all_the_same(self):
        a = self.file("a.mtx", GENERAL + "2 2 3\n1 1 4\n2 1 1\n2 2 3\n")
        for options in ([], ["--symmetrize"]):
            refused = run("solve", a, *options)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn("(2, 1) is 1 and (1, 2) is 0; the largest difference is 2.5e-01 of the largest entry\n",
                          refused.stderr)

    def test_the_mean_is_the_matrix_that_is_solved(self):
        a = self.file("a.mtx", GENERAL + "2 2 4\n1 1 4\n2 1 1.000001\n1 2 0.999999\n2 2 4\n")
        b = self.file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n5\n5\n")
        done = run("solve", a, b, "--symmetrize", *ON_CPU, "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([round(float(v), 12) for v in done.stdout.split()[-2:]], [1, 1])

    def test_complex_matrices_keep_the_nearer_symmetry(self):
        head = "%%MatrixMarket matrix coordinate complex general\n2 2 4\n1 1 4 0\n2 2 4 0\n"
        for entries, symmetry in (("2 1 1 1\n1 2 1 -1.0000000001\n", "hermitian"), ("2 1 1 1\n1 2 1 1.0000000001\n", "symmetric")):
            a = self.file("a.mtx", head + entries)
            solved = json.loads(run("solve", a, "--symmetrize", *ON_CPU, "--json", "-").stdout)
            self.assertEqual((solved["status"], solved["matrix"]["symmetry"]), ("OK", symmetry))


class Progress(FolderCase):
    def watched(self, *arguments):
        """Exit code, standard output, and standard error, which is a terminal."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([TOOL, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError: # the terminal is closed
                break
            if not part:
                break
            shown += part
        out = process.communicate()[0].decode()
        os.close(ours)
        return process.returncode, out, shown.decode()

    def test_phases_are_announced_and_wiped_out_on_a_terminal(self):
        code, out, shown = self.watched("solve", "lap3d:45", *ON_CPU, "--threads", "1")
        self.assertEqual(code, 0)
        for phase in ("reading", "analyzing", "factorizing", "solving"):
            self.assertIn(f"\r\x1b[K{phase}", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"))
        self.assertNotIn("\x1b", out)

    def test_a_pipe_and_quiet_get_none_of_it(self):
        done = run("solve", "lap2d:9")
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\x1b", done.stdout)
        self.assertEqual(self.watched("solve", "lap2d:9", "--quiet"), (0, "", ""))

    def test_each_line_comes_when_its_phase_ends(self):
        """What is foreseen is printed before the factorization, which a limit on memory stops."""
        whole = run("solve", "lap3d:20", *ON_CPU).stdout.splitlines()
        stopped = run("solve", "lap3d:20", *ON_CPU, "--memory-limit", "14M")
        self.assertEqual(stopped.returncode, 4)
        lines = stopped.stdout.splitlines()
        self.assertEqual(lines[:3], whole[:3])
        self.assertIn("foreseen", lines[2])
        self.assertNotIn("factor ", stopped.stdout)

    def test_a_failed_cholesky_prints_no_factor(self):
        done = run("solve", "kkt2d:5", "--type", "spd", *ON_CPU)
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("factor ", done.stdout)
        self.assertRegex(done.stderr, r"the pivot of row \d+ is not positive: the matrix is not positive definite; "
                                      r"--type indefinite factorizes it")


unittest.main()
