#!/usr/bin/env python3
"""The tool in single and mixed precision and on complex matrices: solutions, inertias, what is refused.

usage: test_cli_types.py LIBSOLVER CHECK_SOLUTION
SPDX-License-Identifier: BSD-3-Clause"""
import cmath
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

CHECK, TOOL = os.path.abspath(sys.argv.pop(2)), os.path.abspath(sys.argv.pop(1))
TOLERANCE = {"d": 1e-14, "s": 5e-6, "c": 5e-6, "z": 1e-14, "mixed": 1e-14}


def run(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def turned(path, hermitian):
    """The real matrix of a file as a complex one: D A D^H with unitary diagonal D, of the same inertia, or D A D."""
    header, *lines = [line for line in path.read_text().splitlines() if not line.startswith("% ")]
    turn = lambda i: cmath.exp(0.7j * i * i)
    body = [f"%%MatrixMarket matrix coordinate complex {'hermitian' if hermitian else 'symmetric'}", lines[0]]
    for i, j, value in map(str.split, lines[1:]):
        other = turn(int(j)).conjugate() if hermitian else turn(int(j))
        a = float(value) * turn(int(i)) * other if i != j or not hermitian else complex(float(value))
        body.append(f"{i} {j} {a.real!r} {a.imag!r}")
    return "\n".join(body) + "\n"


class Types(FolderCase):
    def problem(self, specification, hermitian):
        real = self.folder / "real.mtx"
        self.assertEqual(run("generate", specification, "-o", real).returncode, 0)
        return self.file(f"{'h' if hermitian else 's'}.mtx", turned(real, hermitian))

    def solve(self, *arguments):
        done = run("solve", *arguments, "--json", "-")
        return done.returncode, json.loads(done.stdout), done.stderr

    def check(self, path, x, precision, *b):
        """The backward error of x, computed apart, is below the tolerance, and is that of the precision."""
        single = ["--single"] if precision in "sc" else []
        done = subprocess.run([CHECK, *single, path, x, *b], capture_output=True, text=True, check=True)
        error = float(done.stdout)
        self.assertLessEqual(error, TOLERANCE[precision])
        if single:
            self.assertGreater(error, 1e-10)

    def test_hermitian_systems(self):
        for specification, kind, inertia in (("lap2d:9", "cholesky", (81, 0, 0)), ("kkt2d:6", "ldlt", (72, 36, 0))):
            path, x = self.problem(specification, True), self.folder / "x.mtx"
            for precision in "zc":
                for options in ([], ["--nrhs", "3"], ["--type", "indefinite", "--matching", "on"]):
                    with self.subTest(specification=specification, precision=precision, options=options):
                        code, result, _ = self.solve(path, "--precision", precision, "-o", x, *options)
                        self.assertEqual((code, result["status"]), (0, "OK"))
                        self.assertEqual(result["factor"]["kind"], "ldlt" if "--type" in options else kind)
                        counts = result["factor"]["inertia"]
                        self.assertEqual((counts["positive"], counts["negative"], counts["zero"]), inertia)
                        self.assertLess(result["solve"]["forward_error"], 1e-2 if precision == "c" else 1e-10)
                        self.assertTrue(x.read_text().startswith("%%MatrixMarket matrix array complex general\n"))
                        self.check(path, x, precision)
            self.assertIn("L^H", run("solve", path).stdout)

    def test_complex_symmetric_systems_have_no_inertia(self):
        for specification in ("lap2d:9", "kkt2d:6"):
            path, x = self.problem(specification, False), self.folder / "x.mtx"
            for precision in "zc":
                for options in ([], ["--nrhs", "3"], ["--matching", "on"]):
                    with self.subTest(specification=specification, precision=precision, options=options):
                        code, result, _ = self.solve(path, "--precision", precision, "-o", x, *options)
                        self.assertEqual((code, result["status"], result["factor"]["kind"]), (0, "OK", "ldlt"))
                        self.assertEqual(set(result["factor"]["inertia"].values()), {None})
                        self.check(path, x, precision)
            report = run("solve", path).stdout
            self.assertNotIn("inertia", report)
            self.assertNotIn("L^H", report)
        code, result, _ = self.solve(path, "--type", "spd")
        self.assertEqual((code, result["status"]), (2, "INVALID"))

    def test_real_systems_in_every_precision(self):
        path, x = self.folder / "real.mtx", self.folder / "x.mtx"
        for specification, counts in (("lap2d:9", [81, 0, 0]), ("kkt2d:6", [72, 36, 0])):
            self.assertEqual(run("generate", specification, "-o", path).returncode, 0)
            for precision in "dscz":
                with self.subTest(specification=specification, precision=precision):
                    code, result, _ = self.solve(path, "--precision", precision, "-o", x, "--nrhs", "2")
                    self.assertEqual((code, result["status"]), (0, "OK"))
                    self.assertEqual(list(result["factor"]["inertia"].values())[:3], counts)
                    self.check(path, x, precision)
        self.assertEqual(self.solve(path, "--precision", "s", "--tol", "1e-9")[0], 3)

    def test_right_hand_sides_from_files(self):
        rhs = "".join(f"{i % 5} {i % 3 - 1}\n" for i in range(2 * 81))
        b = self.file("b.mtx", f"%%MatrixMarket matrix array complex general\n81 2\n{rhs}")
        for hermitian in (True, False):
            path, x = self.problem("lap2d:9", hermitian), self.folder / "x.mtx"
            for precision in "zc":
                self.assertEqual(self.solve(path, b, "--precision", precision, "-o", x)[0], 0)
                self.check(path, x, precision, b)
        code, _, message = self.solve("lap2d:9", b)
        self.assertEqual(code, 2)
        self.assertIn("complex", message)
        self.assertEqual(self.solve("lap2d:9", b, "--precision", "z")[0], 0)

    def test_what_does_not_fit_the_precision_is_exit_2(self):
        for precision in "ds":
            code, result, message = self.solve(self.problem("lap2d:3", True), "--precision", precision)
            self.assertEqual((code, result["status"]), (2, "INVALID"))
            self.assertIn("c or z", message)
        large = self.file("large.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 1e99\n")
        self.assertEqual(self.solve(large)[0], 0)
        self.assertEqual(self.solve(large, "--precision", "s")[1]["status"], "NONFINITE")
        turned_diagonal = self.file("d.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 2 3\n")
        self.assertEqual(self.solve(turned_diagonal)[0], 2)

    def test_mixed_precision_is_as_good_as_double(self):
        real, x = self.folder / "real.mtx", self.folder / "x.mtx"
        for specification, kind, inertia in (("lap2d:9", "cholesky", [81, 0, 0]), ("kkt2d:6", "ldlt", [72, 36, 0])):
            self.assertEqual(run("generate", specification, "-o", real).returncode, 0)
            for path in (real, self.problem(specification, True), self.problem(specification, False)):
                for options in ([], ["--nrhs", "3"], ["--type", "indefinite", "--matching", "on"]):
                    with self.subTest(specification=specification, path=path.name, options=options):
                        code, result, _ = self.solve(path, "--precision", "mixed", "-o", x, *options)
                        self.assertEqual((code, result["status"]), (0, "OK"))
                        symmetric = path.name == "s.mtx"
                        self.assertEqual(result["factor"]["kind"], "ldlt" if symmetric or "--type" in options else kind)
                        counts = list(result["factor"]["inertia"].values())
                        self.assertEqual(counts, [None] * 4 if symmetric else [*inertia, True])
                        solve = result["solve"]
                        self.assertGreater(solve["backward_error_initial"], 1e-10) # the factor is in single precision
                        self.assertGreater(solve["refinement_steps"], 0)
                        self.assertLess(solve["forward_error"], 1e-10)
                        self.check(path, x, "mixed")
        self.assertIn("single precision", run("solve", real, "--precision", "mixed").stdout)
        self.assertNotIn("single precision", run("solve", real).stdout)

    def test_mixed_precision_tells_what_it_cannot_do(self):
        code, result, _ = self.solve("lap2d:9", "--precision", "mixed", "--refine", "0")
        self.assertEqual((code, result["status"]), (3, "INACCURATE"))
        self.assertGreater(result["solve"]["backward_error"], 1e-10)
        self.assertEqual(self.solve("lap2d:9", "--precision", "mixed", "--refine", "0", "--tol", "1e-5")[0], 0)
        extreme = self.file("extreme.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1e99\n2 2 1e-99\n")
        self.assertEqual(self.solve(extreme, "--precision", "mixed")[0], 0)
        zero = self.file("zero.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 1 4\n")
        code, result, _ = self.solve(zero, "--precision", "mixed")
        self.assertEqual((code, result["status"], result["factor"]["inertia"]["zero"]), (0, "SINGULAR", 1))
        ones = self.file("ones.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 1\n2 2 1\n")
        code, result, _ = self.solve(ones, "--precision", "mixed")
        self.assertEqual((code, result["status"], result["factor"]["perturbed"]), (0, "PERTURBED", 1))
        self.assertFalse(result["factor"]["inertia"]["certain"])
        code, result, _ = self.solve("kkt2d:6", "--precision", "mixed", "--type", "spd")
        self.assertEqual((code, result["status"]), (3, "NOT_POSITIVE_DEFINITE"))

    def test_a_factor_in_double_takes_over_from_one_in_single(self):
        # Q diag(values) Q with a reflection Q; half of the eigenvalues are below what single precision sees
        n, lines = 120, []
        values = [1 + 0.3 * math.sin(k) if k % 2 else -1e-11 * 10 ** (3 * k / n) for k in range(n)]
        for j in range(n):
            for i in range(j, n):
                a = (values[i] if i == j else 0) - 2 / n * (values[i] + values[j]) + 4 / n / n * math.fsum(values)
                lines.append(f"{i + 1} {j + 1} {a!r}")
        size = f"{n} {n} {len(lines)}"
        path = self.file("half.mtx", "\n".join(["%%MatrixMarket matrix coordinate real symmetric", size, *lines]) + "\n")
        x = self.folder / "x.mtx"
        code, result, _ = self.solve(path, "--precision", "mixed", "-o", x)
        self.assertEqual((code, result["status"], result["factor"]["inertia"]["negative"]), (0, "OK", n // 2))
        self.check(path, x, "mixed")
        self.assertIn("double precision since single was not enough", run("solve", path, "--precision", "mixed").stdout)
        self.assertNotIn("since single", run("solve", path).stdout)

    def test_bench_in_every_precision(self):
        paths = [self.problem("kkt2d:6", True), self.problem("kkt2d:6", False)]
        for precision in (*"dscz", "mixed"):
            problems = paths if precision in "cz" else ["kkt2d:6", "lap2d:9"]
            single = precision not in "dz"
            done = run("bench", *problems, "--precision", precision)
            self.assertEqual(done.returncode, 0, done.stderr)
            for line in map(json.loads, done.stdout.splitlines()):
                self.assertLess(line["backward_error"], 1e-3 if single else 1e-10)
                self.assertGreater(line["backward_error"], 1e-10 if single else 0)


unittest.main()
