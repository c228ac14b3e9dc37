#!/usr/bin/env python3
"""What the tool writes: refusals are told before the work, no input is written over, and an older
file stays after a failure.

No path in /dev is given to -o or --json: a tool that is broken, run by root, would put a file in a
device's place.

usage: test_cli_files.py LIBSOLVER
SPDX-License-Identifier: BSD-3-Clause"""
import json
import os
import pathlib
import stat
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

TOOL = os.path.abspath(sys.argv.pop(1))
DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"
MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 4\n"
SIDE = "%%MatrixMarket matrix array real general\n2 1\n2\n4\n"
X = "%%MatrixMarket matrix array real general\n2 1\n2\n1\n"


def run(*arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([TOOL, *map(str, arguments)], stdin=subprocess.DEVNULL, text=True, **options)


class Case(FolderCase):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.file("a.mtx", MATRIX), self.file("b.mtx", SIDE)

    def contents(self):
        return {path.name: path.read_text() for path in self.folder.iterdir() if path.is_file()}


class StandardOutput(Case):
    COMMANDS = (
        ["solve", "lap2d:3"],
        ["solve", "lap2d:3", "-o", "-"],
        ["solve", "lap2d:3", "-o", "/proc/self/fd/1"],
        ["solve", "lap2d:3", "--json", "-"],
        ["solve", "lap2d:3", "--json", "/proc/self/fd/1"],
        ["bench", "lap2d:3"],
        ["generate", "lap2d:30", "-o", "-"],
        ["refine", "lap2d:3"],
        ["refine", "lap2d:3", "--json", "-"],
        ["plot", "lap2d:3", "-o", "-"],
        ["help", "--format", "man"],
        ["info"],
        ["info", "--json", "-"],
        ["--help"],
        ["solve", "--help"],
        ["--version"],
    )

    def test_what_cannot_be_printed_is_exit_4(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        for command in self.COMMANDS:
            with open("/dev/full", "w") as full:
                done = run(*command, stdout=full)
            self.assertEqual(done.returncode, 4, (command, done.stderr))
            self.assertRegex(done.stderr, r"^libsolver: \S+( output)?: cannot be written: ", command)
            self.assertEqual(done.stderr.count("\n"), 1, command)
            self.assertEqual(run(*command).returncode, 0, command)

    def test_a_quiet_solve_needs_none_and_an_earlier_failure_stays(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        for command, code in ((["solve", "lap2d:3", "--quiet"], 0), (["solve", "no.mtx"], 2), (["fly"], 1)):
            with open("/dev/full", "w") as full:
                self.assertEqual(run(*command, stdout=full).returncode, code, command)

    def test_its_other_names_are_followed(self):
        for path in ("-", "/proc/self/fd/1", "/proc/thread-self/fd/1"):
            if path.startswith("/") and not os.path.exists(path):
                continue
            to = self.folder / "printed"
            with open(to, "w") as file:  # a file, which must be written through the stream that is open
                self.assertEqual(run("solve", self.a, self.b, "-o", path, stdout=file).returncode, 0)
                file.flush()
            self.assertEqual(to.read_text(), X, path)
            self.assertEqual(run("solve", self.a, self.b, "-o", path).stdout, X, path)
            self.assertEqual(sorted(self.contents()), ["a.mtx", "b.mtx", "printed"])

    def test_a_pipe_gets_the_solution(self):
        pipe, got = self.folder / "pipe", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
        reader.start()
        done = run("solve", self.a, self.b, "-o", pipe, timeout=60)
        reader.join(60)
        self.assertEqual((done.returncode, got), (0, [X]))
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))


class Inputs(Case):
    def refused(self, *command):
        before = self.contents()
        done = run(*command)
        self.assertEqual((done.returncode, done.stdout), (1, ""), command)
        self.assertRegex(done.stderr, r"^libsolver: .*(would write over the input|name the same file)", command)
        self.assertEqual(self.contents(), before, command)

    def test_none_is_written_over(self):
        link, hard, order = self.folder / "link.mtx", self.folder / "hard.mtx", self.file("order.txt", "2\n1\n")
        link.symlink_to(self.a)
        os.link(self.a, hard)
        for path in (self.a, link, hard, self.folder / "." / "a.mtx"):
            self.refused("solve", self.a, "-o", path)
            self.refused("solve", self.a, self.b, "--json", path)
            self.refused("bench", "lap2d:3", self.a, "--json", path)
            self.refused("generate", self.a, "-o", path)
            self.refused("refine", self.a, self.b, "-o", path)
            self.refused("plot", self.a, "-o", path)
        self.refused("solve", link, "-o", self.a)
        self.refused("solve", self.a, self.b, "-o", self.b)
        self.refused("solve", self.a, self.b, "--json", self.b)
        self.refused("solve", self.a, "--ordering", order, "-o", order)
        self.refused("solve", self.a, "--ordering", order, "--json", order)

    def test_two_outputs_are_two_files(self):
        same = self.folder / "same"
        self.refused("solve", self.a, "-o", same, "--json", same)
        self.refused("solve", self.a, "-o", same, "--json", self.folder / "." / "same")
        link = self.folder / "to_same"
        link.symlink_to("same")
        self.refused("solve", self.a, "-o", same, "--json", link)

    def test_a_profile_goes_over_no_input(self):
        named = self.file("p.lap2d_3.json", MATRIX)
        self.refused("bench", "lap2d:3", named, "--backend", "gpu", "--profile", self.folder / "p")
        self.refused("bench", "lap2d:3", "--backend", "gpu", "--profile", self.folder / "p", "--json", named)

    def test_the_name_of_a_problem_is_no_file(self):
        for _ in range(2):
            done = run("generate", "lap2d:2", "-o", "lap2d:2", cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


class Files(Case):
    def test_a_file_that_cannot_be_written_is_found_before_the_work(self):
        """The matrix is refused as soon as it is read: that this is not told shows that it was
        not."""
        bad = self.file("bad.mtx", "nothing\n")
        nowhere, folder = self.folder / "no" / "file", self.folder
        for command in (
            ["solve", bad, "-o", nowhere],
            ["solve", bad, "--json", nowhere],
            ["solve", bad, "-o", folder],
            ["bench", bad, "--json", nowhere],
            ["bench", bad, "--backend", "gpu", "--profile", nowhere],
            ["generate", bad, "-o", nowhere],
        ):
            done = run(*command)
            self.assertEqual(done.returncode, 4, (command, done.stderr))
            self.assertRegex(done.stderr, "^libsolver: .*: cannot be written: (No such|Is a directory)", command)
        done = run("solve", bad, "-o", nowhere, "--json", "-")
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, result["status"], result["matrix"]["n"]), (4, "INVALID", None))
        self.assertIn("cannot be written", result["message"])
        self.assertEqual(sorted(self.contents()), ["a.mtx", "b.mtx", "bad.mtx"])

    def test_an_older_file_stays_after_a_failure(self):
        old = self.file("old", "what was there")
        bad, empty = self.file("bad.mtx", MATRIX + "x\n"), self.file("zero.mtx", MATRIX.replace("2 2 4", "2 2 0"))
        before = self.contents()
        for code, command in (
            (2, ["solve", bad]),
            (2, ["solve", "missing.mtx"]),
            (2, ["solve", self.a, bad]),
            (3, ["solve", empty, "--type", "spd"]),
            (3, ["solve", "lap2d:9", "--tol", "1e-30"]),
            (3, ["refine", "lap2d:9", "--tol", "1e-30"]),
            (2, ["refine", bad]),
            (2, ["plot", bad]),
            (4, ["solve", "lap2d:100", "--memory-limit", "100K"]),
            (2, ["generate", bad]),
            (1, ["generate", "lap2d:x"]),
        ):
            done = run(*command, "-o", old)
            self.assertEqual(done.returncode, code, (command, done.stderr))
            self.assertEqual(self.contents(), before, command)

    def test_a_full_disk_leaves_it_too(self):
        old = self.file("old", "what was there")
        before = self.contents()
        limited = ["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh", TOOL]  # 8 blocks of 512 or 1024 bytes
        for command in (["solve", "lap2d:100"], ["generate", "lap2d:100"]):
            done = subprocess.run([*limited, *command, "-o", old], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual(done.returncode, 4, (command, done.stderr))
            self.assertIn("cannot be written", done.stderr)
            self.assertEqual(self.contents(), before)

    def test_links_are_followed_and_rights_kept(self):
        target, link, dangling = self.file("target", "old"), self.folder / "link", self.folder / "dangling"
        os.chmod(target, 0o640)
        link.symlink_to("target")
        dangling.symlink_to("new")
        for path in (link, dangling):
            self.assertEqual(run("solve", self.a, self.b, "-o", path).returncode, 0)
            self.assertTrue(path.is_symlink())
        self.assertEqual(target.read_text(), X)
        self.assertEqual((self.folder / "new").read_text(), X)
        self.assertEqual(os.stat(target).st_mode & 0o777, 0o640)


unittest.main()
