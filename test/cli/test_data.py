#!/usr/bin/env python3
"""The systems of data/ are what data/make.py makes, and are solved with the inertia that data/README.md states.

usage: test_data.py LIBSOLVER
SPDX-License-Identifier: BSD-3-Clause"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"


def stated():
    """name -> (n, positive, negative, zero) from the table in README.md."""
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", (DATA / "README.md").read_text(), re.M)
    return {name: tuple(map(int, counts)) for name, *counts in rows}


def numbers(path):
    """Header and numbers of a file, comments left out."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("% ")]
    return lines[0], [float(word) for line in lines[1:] for word in line.split()]


class Data(unittest.TestCase):
    def test_files_are_what_the_script_makes(self):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([sys.executable, str(DATA / "make.py"), TOOL, made], check=True)
            names = sorted(path.name for path in DATA.glob("*.mtx"))
            self.assertEqual(names, sorted(path.name for path in pathlib.Path(made).glob("*.mtx")))
            for name in names:
                header, ours = numbers(DATA / name)
                header_again, again = numbers(pathlib.Path(made, name))
                self.assertEqual(header, header_again, name)
                self.assertEqual(len(ours), len(again), name)
                for a, b in zip(ours, again):  # pow() may differ in its last bit from machine to machine
                    self.assertLessEqual(abs(a - b), 1e-14 * abs(a), name)

    def test_inertia_and_status_are_as_stated(self):
        table = stated()
        self.assertEqual(sorted(table), sorted(p.stem for p in DATA.glob("*.mtx") if p.stem != "five_b"))
        for name, (n, *counts) in table.items():
            with self.subTest(name):
                command = [TOOL, "solve", str(DATA / f"{name}.mtx"), "--json", "-"]
                done = subprocess.run(command, capture_output=True, text=True)
                result = json.loads(done.stdout)
                inertia = result["factor"]["inertia"]
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(result["matrix"]["n"], n)
                self.assertEqual([inertia["positive"], inertia["negative"], inertia["zero"]], counts)
                self.assertTrue(inertia["certain"])
                self.assertEqual(result["status"], "SINGULAR" if counts[2] else "OK")
                self.assertLessEqual(result["solve"]["backward_error"], 1e-14)

    def test_five_has_the_stated_solution(self):
        with tempfile.TemporaryDirectory() as folder:
            x = pathlib.Path(folder, "x.mtx")
            command = [TOOL, "solve", str(DATA / "five.mtx"), str(DATA / "five_b.mtx"), "-o", str(x), "--quiet"]
            subprocess.run(command, check=True)
            self.assertEqual([round(value, 12) for value in numbers(x)[1]], [5, 1, 1, 2, 3, 4, 5])


unittest.main()
