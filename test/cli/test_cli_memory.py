#!/usr/bin/env python3
"""--memory-limit bounds the whole tool: what it reads, makes, solves and checks.

usage: test_cli_memory.py LIBSOLVER
SPDX-License-Identifier: BSD-3-Clause"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

TOOL = os.path.abspath(sys.argv.pop(1))
HEADER = "%%MatrixMarket matrix coordinate real symmetric\n"
MIB = 1 << 20
# Program, libraries, stacks, the buffers of the BLAS, and what malloc keeps: 3 MB are seen without
# a factorization, up to 20 with.
OVERHEAD = 40 * MIB
IS_SANITIZED = bool(os.environ.get("SANITIZED"))  # a sanitizer's own memory is not bounded


def run(*arguments):
    """Exit code, standard output and errors, and the most memory that was resident, in bytes."""
    read, write = os.pipe()
    errors_read, errors_write = os.pipe()
    child = subprocess.Popen([TOOL, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=write, stderr=errors_write)
    os.close(write)
    os.close(errors_write)
    with os.fdopen(read) as file, os.fdopen(errors_read) as errors:
        printed, said = file.read(), errors.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, printed, said, usage.ru_maxrss * 1024


class Memory(FolderCase):
    def check(self, limit, *command):
        """Ends with 0 or 4 and never takes more than the limit."""
        code, printed, said, peak = run(*command, "--memory-limit", limit)
        self.assertIn(code, (0, 4), (command, limit, said))
        if not IS_SANITIZED:
            self.assertLess(peak, limit + OVERHEAD, (command, limit, code, said))
        if code == 4:
            self.assertRegex(said, r"^libsolver: .*\d+ more bytes", (command, limit))
        return code, printed

    def refused(self, limit, *command):
        self.assertEqual(self.check(limit, *command)[0], 4, (command, limit))

    def test_a_short_file_with_a_large_order_is_refused(self):
        large = self.file("large.mtx", HEADER + "300000000 300000000 1\n1 1 1\n")
        code, printed = self.check(256 * MIB, "solve", large, "--json", "-")
        result = json.loads(printed)
        self.assertEqual((code, result["status"], result["matrix"]["n"]), (4, "OUT_OF_MEMORY", 300000000))
        self.assertRegex(result["message"], r"2400000\d+ more bytes were wanted, --memory-limit leaves \d+$")
        for options in ([], ["--precision", "s"], ["--nrhs", "7"]):
            self.refused(256 * MIB, "solve", large, *options)
        self.refused(256 * MIB, "bench", large)

    def test_the_json_says_what_wanted_how_much_and_where_the_library_found_it(self):
        places = set()
        for limit in range(100_000, 340_000, 4_000):
            code, printed = self.check(limit, "solve", "lap2d:20", "--json", "-")
            result = json.loads(printed)
            if code == 0:
                self.assertEqual((result["message"], result["place"]), ("", None))
            elif result["place"]:
                self.assertRegex(result["place"], r"^\w+\.c:\d+$")
                self.assertRegex(result["message"], r"^lap2d:20: .* [1-9]\d* more bytes$")
                places.add(result["place"])
        self.assertGreater(len(places), 2)

    def test_a_short_right_hand_side_with_many_columns_is_refused(self):
        one = self.file("one.mtx", HEADER + "3 3 3\n1 1 1\n2 2 1\n3 3 1\n")
        wide = self.file("wide.mtx", "%%MatrixMarket matrix coordinate real general\n3 50000000 1\n3 50000000 1\n")
        self.refused(256 * MIB, "solve", one, wide)

    def test_problems_that_are_too_large_are_not_made(self):
        for problem in ("lap2d:12000", "lap3d:600", "vec3d:150", "kkt2d:9000"):
            self.refused(256 * MIB, "solve", problem)

    def test_every_phase_keeps_the_limit(self):
        """From too little for the problem to enough for everything."""
        general = self.file("general.mtx", HEADER.replace("symmetric", "general") + "4000 4000 8000\n" +
                            "".join(f"{i} {i} 2\n{i} {4001 - i} 1\n" for i in range(1, 4001)))
        order = self.file("order.txt", "".join(f"{i}\n" for i in range(90000, 0, -1)))
        for command in (
            ["solve", "lap2d:300"],
            ["solve", "lap2d:300", "--nrhs", "30"],
            ["solve", "kkt2d:120", "--precision", "z"],
            ["solve", "lap2d:300", "--precision", "s", "--ordering", order],
            ["solve", general],
        ):
            codes = [self.check(limit * MIB // 8, *command)[0] for limit in (1, 16, 64, 256, 480, 960, 8192)]
            self.assertEqual(codes, sorted(codes, reverse=True), command)
            self.assertEqual((codes[0], codes[-1]), (4, 0), command)

    def test_what_fits_one_by_one_is_refused_together(self):
        self.refused(70 * MIB, "solve", "lap2d:500", "--nrhs", 30)  # b and x, 57 MiB each
        self.refused(200 * MIB, "solve", "lap2d:400", "--nrhs", 30)  # both 73 MiB, and about 160 for the factorization
        self.assertEqual(self.check(200 * MIB, "solve", "lap2d:400")[0], 0)

    def test_so_does_a_benchmark(self):
        codes = [self.check(limit * MIB, "bench", "lap2d:100")[0] for limit in (1, 4, 12, 1024)]
        self.assertEqual(codes, sorted(codes, reverse=True))
        self.assertEqual((codes[0], codes[-1]), (4, 0))

    def least(self, *command):
        """The least limit, up to 1 KiB, with which a command ends with 0."""
        low, high = 0, 64 * MIB
        while high - low > 1024:
            middle = (low + high) // 2
            low, high = (low, middle) if self.check(middle, *command)[0] == 0 else (middle, high)
        return high

    def test_what_the_tool_takes_is_no_longer_there_for_the_library(self):
        """An order from a file stays in the tool's memory while the library works: 8 bytes a
        row."""
        n = 60 * 60
        order = self.file("natural.txt", "".join(f"{i}\n" for i in range(1, n + 1)))
        more = self.least("solve", "lap2d:60", "--ordering", order) - self.least("solve", "lap2d:60", "--ordering", "natural")
        self.assertTrue(8 * n - 2048 <= more <= 8 * n + 2048, more)


unittest.main()
