#!/usr/bin/env python3
"""Damaged files are exit code 2 with one line that names file, line and cause, and nothing is written; mutated
files never crash, hang or leave half a result.

usage: test_damaged.py LIBSOLVER

Damaged originals: raw_formats/ in the folder $LIBSOLVER_MATRICES or ../shared/matrices beside the repository; exit code
77 without it, after the mutations have passed.
SPDX-License-Identifier: BSD-3-Clause"""
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

TOOL = os.path.abspath(sys.argv.pop(1))
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = REPOSITORY / "data"
ORIGINALS = pathlib.Path(os.environ.get("LIBSOLVER_MATRICES", REPOSITORY.parent / "shared" / "matrices")) / "raw_formats"

# files of ORIGINALS: the line that is wrong and a word of the cause; None: nothing is wrong
CAUSES = {
    "EVA.mtx": (6, "above the diagonal"),
    "bcsstk01.rb": (1, "not a Matrix Market file"),
    "bcsstk01.rsa": (1, "not a Matrix Market file"),
    "bcsstk01.tri": (1, "not a Matrix Market file"),
    "fullrsa.mtx": None,
    "fullrza.mtx": (1, "skew-symmetric"),
    "lund_a.rsa": (1, "not a Matrix Market file"),
    "mangle1.mtx": (1, "object 'junk'"),
    "mangle2.mtx": (1, "format 'junk'"),
    "nasa2146.rb": (1, "not a Matrix Market file"),
    "qc324.cua": (1, "not a Matrix Market file"),
    "rza.mtx": (1, "skew-symmetric"),
}


class Case(FolderCase):
    def setUp(self):
        super().setUp()
        self.x = self.folder / "x.mtx"

    def solve(self, path, *arguments):
        """The finished process and its JSON."""
        command = [TOOL, "solve", str(path), *map(str, arguments), "-o", str(self.x), "--json", "-"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd=self.folder)
        return done, json.loads(done.stdout)

    def refused(self, path, done, result):
        """Exit code 2, one line, the same in the JSON, nothing written."""
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"\Alibsolver: [^\n]+\n\Z")
        self.assertRegex(done.stderr, re.escape(str(path)) + r":\d+: .{8,}")
        self.assertFalse(self.x.exists())
        self.assertEqual(result["status"], "INVALID")
        self.assertIn(str(path), result["message"])
        self.assertIsNone(result["solve"]["backward_error"])


@unittest.skipUnless(ORIGINALS.is_dir(), "no folder of damaged files")
class Originals(Case):
    def test_each_is_refused_for_its_cause(self):
        found = sorted(path.name for path in ORIGINALS.iterdir())
        self.assertEqual(found, sorted(CAUSES))
        for name, cause in CAUSES.items():
            path = ORIGINALS / name
            with self.subTest(name):
                done, result = self.solve(path)
                if cause is None:
                    self.assertEqual(done.returncode, 0)
                    self.assertTrue(self.x.exists())
                    self.x.unlink()
                    continue
                self.refused(path, done, result)
                self.assertIn(f"{path}:{cause[0]}: ", done.stderr)
                self.assertIn(cause[1], done.stderr)
                self.assertEqual(os.listdir(self.folder), [])
                done, result = self.solve(DATA / "five.mtx", path)  # as a right-hand side
                self.assertEqual(done.returncode, 2)
                self.assertIn(str(path), done.stderr)
                self.assertEqual(os.listdir(self.folder), [])


EXTREMES = ["0", "-1", "2147483647", "2147483648", "4294967297", "9223372036854775807", "9223372036854775808",
            "99999999999999999999999", "1e400", "-1e-400", "nan", "inf", "1.5", "0x10", "1d3", "", "+", "--1", "1e", ".",
            "\u00bd", "\0", "1,5", "x" * 5000]


def mutate(text, r):
    """One of the things that happen to files, as bytes."""
    lines = text.split("\n")
    k = r.randrange(len(lines))
    kind = r.randrange(9)
    if kind == 0:
        return text[:r.randrange(len(text))].encode()
    if kind == 1:
        data = bytearray(text.encode())
        for _ in range(r.choice((1, 3, 20))):
            data[r.randrange(len(data))] = r.randrange(256)
        return bytes(data)
    if kind == 2:
        del lines[k]
    elif kind == 3:
        lines.insert(k, lines[r.randrange(len(lines))])
    elif kind in (4, 5):
        words = lines[k].split(" ")
        words[r.randrange(len(words))] = r.choice(EXTREMES)
        lines[k] = " ".join(words)
    elif kind == 6:
        words = lines[k].split(" ")
        r.shuffle(words)
        lines[k] = " ".join(words)
    elif kind == 7:
        lines[k] += r.choice((" 1", " ", "\r", "\t% comment", " junk"))
    else:
        start = r.randrange(len(text))
        return (text[:start] + text[r.randrange(len(text)):]).encode()
    return "\n".join(lines).encode()


class Mutations(Case):
    def check(self, seed, path, *arguments):
        """What may happen: solved, refused with its line, no solution, or too large."""
        done, result = self.solve(path, *arguments, "--memory-limit", "256M", "--quiet")
        where = f"seed {seed}: {done.stderr}"
        self.assertIn(done.returncode, (0, 2, 3, 4), where)
        self.assertLessEqual(done.stderr.count("\n"), 1, where)
        self.assertEqual(result["status"] in ("OK", "SINGULAR", "PERTURBED"), done.returncode == 0 or
                         (done.returncode == 3 and result["status"] == "SINGULAR"), where)
        if done.returncode == 2:
            self.assertRegex(done.stderr, r"\Alibsolver: [^\n]*:\d+: [^\n]+\n\Z", where)
            self.assertEqual(result["status"], "INVALID")
        if done.returncode in (2, 4):
            self.assertFalse(self.x.exists(), where)
        if self.x.exists():
            self.x.unlink()
        return done.returncode

    def test_mutated_matrices(self):
        codes = []
        for seed in range(240):
            r = random.Random(seed)
            text = (DATA / r.choice(("five.mtx", "vec3d_3.mtx", "two_islands.mtx", "path.mtx"))).read_text()
            path = self.folder / "m.mtx"
            path.write_bytes(mutate(text, r))
            codes.append(self.check(seed, path))
        self.assertGreater(codes.count(0), 10)
        self.assertGreater(codes.count(2), 100)

    def test_mutated_right_hand_sides(self):
        codes = []
        for seed in range(1000, 1060):
            r = random.Random(seed)
            path = self.folder / "b.mtx"
            path.write_bytes(mutate((DATA / "five_b.mtx").read_text(), r))
            codes.append(self.check(seed, DATA / "five.mtx", path))
        self.assertGreater(codes.count(2), 20)

    def test_mutated_archives(self):
        whole = gzip.compress((DATA / "vec3d_3.mtx").read_bytes(), mtime=0)
        path = self.folder / "m.mtx.gz"
        codes = []
        for seed in range(2000, 2060):
            r = random.Random(seed)
            data = bytearray(whole)
            if r.random() < 0.4:
                del data[r.randrange(len(data)):]
            else:
                data[r.randrange(len(data))] ^= 1 << r.randrange(8)
            path.write_bytes(data)
            codes.append(self.check(seed, path))
        self.assertGreater(codes.count(2), 40)


result = unittest.main(exit=False).result
sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
