#!/usr/bin/env python3
"""bench/peers.py reads what the programs print, takes the best peer that is right, and marks where we are behind.

SPDX-License-Identifier: BSD-3-Clause"""
import importlib.util
import json
import math
import pathlib
import tempfile
import unittest
import unittest.mock

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "peers.py"
specification = importlib.util.spec_from_file_location("peers", SCRIPT)
peers = importlib.util.module_from_spec(specification)
specification.loader.exec_module(peers)

CPU = """\
a.mtx                    cholmod-super n 5 nnz 9 nnzL 1e+01 flops 3e+02 read 0.10 analyse 0.200 factor 0.300 refactor 0.250 solve1 0.0100 solve16 0.0400 berr 5.0e-16
a.mtx                    mumps-sym2     n 5 nnz 9 nnzL 1e+01 flops 3e+02 read 0.10 analyse 0.150 factor 0.400 solve1 0.0200 solve16 0.0500 berr 9.0e-16 neg 0 info 0
b.mtx                    cholmod-super n 5 nnz 9 nnzL 1e+01 flops 3e+02 read 0.10 analyse 0.200 factor 0.300 refactor 0.250 solve1 0.0000 solve16 0.0000 berr -1.0e+00 NOT-SPD
c.mtx cannot read
"""
PARDISO = """\
a.mtx                    pardiso n 5 nnz 9 nnzL 12 Mflop 0 analyse 0.120 factor 0.900 refactor 0.200 solve1 0.0050 solve16 0.0600 berr 2.0e-03 err 0 perturbed 0 in 5/0
b.mtx                    pardiso n 5 nnz 9 nnzL 12 Mflop 0 analyse 0.120 factor 0.900 refactor 0.200 solve1 0.0050 solve16 0.0600 berr 1.0e-16 err -4 perturbed 0 in 5/0
b.mtx                    pardiso n 5 nnz 9 nnzL 12 Mflop 0 analyse 0.120 factor 0.900 refactor 0.200 solve1 0.0050 solve16 0.0600 berr nan err 0 perturbed 0 in 5/0
"""
OURS = json.dumps({"name": "a", "kind": "cholesky", "analyze_s": 0.1, "factorize_s": 0.4, "refactorize_s": 0.3, "solve_s": {"1": 0.02, "16": 0.01},
                   "backward_error": 1e-15})


class Peers(unittest.TestCase):
    def test_rows_of_cholmod_and_mumps(self):
        (first, cholmod), (second, mumps), (_, failed) = peers.parse_peers(CPU)
        self.assertEqual((first, second), ("cholmod", "mumps"))
        self.assertEqual(cholmod, {"analyze": 0.2, "refactorize": 0.25, "solve 1": 0.01, "solve 16": 0.04, "total": 0.51, "error": 5e-16})
        self.assertEqual(mumps["refactorize"], 0.4)  # its only factorization
        self.assertEqual(failed["error"], math.inf)

    def test_rows_of_pardiso(self):
        (name, row), (_, failed), (_, not_a_number) = peers.parse_peers(PARDISO)
        self.assertEqual((name, row["refactorize"], row["error"]), ("pardiso", 0.2, 2e-3))
        self.assertEqual((failed["error"], not_a_number["error"]), (math.inf, math.inf))

    def test_a_zero_error_hides_nan_but_for_a_diagonal(self):
        zero = PARDISO.splitlines()[0].replace("berr 2.0e-03", "berr 0.0e+00")
        (_, suspect), (_, diagonal) = peers.parse_peers(zero + "\n" + zero.replace("nnz 9", "nnz 5") + "\n")
        self.assertEqual((suspect["error"], diagonal["error"]), (math.inf, 0))

    def test_our_row(self):
        kind, row = peers.parse_ours(OURS + "\n")[0]
        self.assertEqual(kind, "cholesky")
        self.assertEqual(row, {"analyze": 0.1, "refactorize": 0.3, "solve 1": 0.02, "solve 16": 0.01, "total": 0.52, "error": 1e-15})
        unknown = peers.parse_ours(OURS.replace("1e-15", "null"))[0][1]
        self.assertEqual(unknown["error"], math.inf)

    def test_only_right_peers_count(self):
        rows = dict(peers.parse_peers(CPU)[:2] + peers.parse_peers(PARDISO)[:1])
        self.assertEqual(peers.best_peer(rows, "solve 1"), ("cholmod", 0.01, True))  # pardiso is faster and wrong
        self.assertEqual(peers.best_peer({"pardiso": rows["pardiso"]}, "solve 1"), ("pardiso", 0.005, False))

    def test_table_marks_where_we_are_behind(self):
        ours = peers.parse_ours(OURS)[0][1]
        rows = dict(peers.parse_peers(CPU)[:2])
        lines = peers.table([("a", ours, rows), ("b", ours, dict(peers.parse_peers(PARDISO)[:1]))])
        self.assertRegex(lines[2], r"^a +100\.000 +1\.50  mumps +300\.000 +0\.83 <cholmod +20\.000 +0\.50 <cholmod +10\.000 +4\.00  cholmod")
        self.assertRegex(lines[3], r"^b .* \(pardiso\)")
        self.assertRegex(lines[2], r"520\.000 +0\.98 <cholmod +1e-15$")  # the leanest, not the fastest of each phase
        self.assertEqual(lines[-1], "all cells: 1.20; behind in 3 of 5")

    def test_small_problems(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict("os.environ", LIBSOLVER_MATRICES=folder):
            rows = ["name n type certain expect", "a 1999 real_symmetric yes ok", "b 2000 real_symmetric yes ok",
                    "c 9 complex_hermitian yes ok", "d 9 pattern_symmetric no either", "e 9 real_symmetric exact singular",
                    "f 9 integer_symmetric yes ok"]
            pathlib.Path(folder, "known.tsv").write_text("\n".join(rows).replace(" ", "\t").replace("_", " ") + "\n")
            self.assertEqual(peers.small_problems(), ["a", "f"])

    def test_medians_and_the_worst_error(self):
        rows = [dict.fromkeys(peers.PHASES, t) | {"error": e} for t, e in ((1, 1e-16), (9, 1e-15), (2, 1e-16))]
        self.assertEqual(peers.median_row(rows), dict.fromkeys(peers.PHASES, 2) | {"error": 1e-15})


if __name__ == "__main__":
    unittest.main()
