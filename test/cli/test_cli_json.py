#!/usr/bin/env python3
"""doc/json.md names the fields that the tool writes, all of them and no others.

usage: test_cli_json.py LIBSOLVER
SPDX-License-Identifier: BSD-3-Clause"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

TOOL = os.path.abspath(sys.argv.pop(1))
DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "doc" / "json.md"
SECTIONS = dict(re.findall(r"^## `([\w./]+)`\n(.*?)(?=^## |\Z)", DOCUMENT.read_text(), re.M | re.S))


def documented(schema):
    rows = re.findall(r"^\| (`.*?) \|", SECTIONS[schema], re.M)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def fields(value, path=""):
    """Names as the document writes them; a list counts itself and the members of its objects."""
    if isinstance(value, dict):
        return set().union(*(fields(v, f"{path}.{k}" if path else k) for k, v in value.items()))
    found = {path}
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                found |= fields(item, f"{path}[]")
    return found


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return json.loads(done.stdout)


class Document(unittest.TestCase):
    def check(self, result, pass_over=()):
        for name in pass_over:
            result.pop(name)
        self.assertEqual(fields(result), documented(result["schema"]))

    def test_solve(self):
        for arguments in (["kkt2d:5", "--error-bounds"], ["kkt2d:5", "--precision", "mixed"]):
            self.check(run("solve", *arguments, "--backend", "cpu", "--json", "-"))

    def test_solve_after_failures_has_the_same_but_for_the_steps(self):
        for arguments in (["no.mtx"], ["kkt2d:5", "--type", "spd"]):
            result = run("solve", *arguments, "--backend", "cpu", "--json", "-")
            missing = {name for name in documented("libsolver.solve/1") if "[]" in name}
            self.assertEqual(fields(result) | missing, documented("libsolver.solve/1"))

    def test_refine(self):
        self.check(run("refine", "kkt2d:5", "--backend", "cpu", "--json", "-"))

    def test_bench(self):
        result = run("bench", "lap2d:5", "--backend", "cpu")
        result["solve_s"] = None
        self.check(result)

    def test_info(self):
        result = run("info", "--json", "-")
        result["devices"] = []
        self.check(result)

    def test_each_command_has_its_section(self):
        self.assertEqual(set(SECTIONS), {f"libsolver.{c}/1" for c in ("solve", "refine", "bench", "info")})
        self.assertEqual(run("help", "--format", "json")["schema"], "libsolver.help/1")


unittest.main()
