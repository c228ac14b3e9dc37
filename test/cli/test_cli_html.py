#!/usr/bin/env python3
"""The page of `libsolver solve --html`: whole, needing nothing else, also where there is no solution; a browser, where
there is one, takes it without a complaint.

usage: test_cli_html.py LIBSOLVER
SPDX-License-Identifier: BSD-3-Clause"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

TOOL = os.path.abspath(sys.argv.pop(1))
DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
ALONE = {"meta", "link", "rect", "line", "circle", "path"} # without an end, or ended at once


class Page(html.parser.HTMLParser):
    """Elements in one another, headings, words, and what would be fetched."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.fetched, self.words, self.shapes = [], [], [], "", 0
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.shapes += tag in ("rect", "path", "circle")
        self.fetched += [v for k, v in attributes if k in ("src", "href") and not v.startswith(("data:", "#"))]
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in ALONE:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style",):
            self.words += data + " "
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


class Html(FolderCase):
    def page(self, matrix, *options, code=0):
        path = self.folder / "page.html"
        done = subprocess.run([TOOL, "solve", str(matrix), "--quiet", "--html", str(path), *options], capture_output=True,
            text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr)
        text = path.read_text()
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        self.assertNotIn("nan", re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL).lower().split())
        return Page(text)

    def test_all_parts_are_there(self):
        p = self.page(DATA / "kkt2d_20.mtx")
        self.assertEqual(p.headings, ["Where the time went", "Error by step", "Factor, pivots and inertia",
            "Memory of the library", "Where the entries are", "Elimination tree"])
        self.assertEqual(p.fetched, [])
        for words in ["SOLVED", "kkt2d_20.mtx", "1200, real symmetric", "A = L D L^T", "800", "400", "certain", "tolerance",
            "A in the order of elimination", "col.,"]:
            self.assertIn(words, p.words)
        self.assertGreater(p.shapes, 30)

    def test_mixed_precision_shows_its_steps(self):
        p = self.page("lap2d:20", "--precision", "mixed")
        self.assertIn("plain", p.words)
        self.assertIn("A = L L^T (Cholesky)", p.words)

    def test_first_box_has_all_operations_of_one_chain(self):
        # a dense matrix is one chain of columns
        rows = "".join(f"{i} {j} {10 if i == j else 1}\n" for j in range(1, 9) for i in range(j, 9))
        dense = self.file("dense.mtx", f"%%MatrixMarket matrix coordinate real symmetric\n8 8 36\n{rows}")
        self.assertIn("8 columns, the front has up to 8 rows: 100 % of the operations", self.page(dense).words)

    def test_small_and_empty_matrices(self):
        one = self.file("one.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 2\n")
        self.assertIn("SOLVED", self.page(one).words)
        none = self.file("none.mtx", "%%MatrixMarket matrix coordinate real symmetric\n0 0 0\n")
        self.assertIn("The matrix is not drawn", self.page(none).words)

    def test_a_failure_is_on_the_page(self):
        p = self.page(DATA / "kkt2d_20.mtx", "--type", "spd", code=3)
        self.assertIn("NOT SOLVED", p.words)
        self.assertIn("NOT_POSITIVE_DEFINITE", p.words)
        self.assertNotIn("Error by step", p.headings)
        strange = self.file("a<b>&.mtx", "no matrix\n")
        self.assertIn("a<b>&.mtx", self.page(strange, code=2).words)

    def test_another_result_or_an_input_is_not_written_over(self):
        matrix = self.file("m.mtx", (DATA / "five.mtx").read_text())
        for options in (["--html", str(matrix)], ["--html", "x", "--json", "x"], ["--html", "x", "-o", "x"]):
            done = subprocess.run([TOOL, "solve", str(matrix), *options], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(matrix.read_text(), (DATA / "five.mtx").read_text())

    @unittest.skipUnless(BROWSER, "no browser")
    def test_a_browser_shows_it(self):
        self.page(DATA / "kkt2d_20.mtx")
        picture = self.folder / "page.png"
        done = subprocess.run([BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            f"--user-data-dir={self.folder / 'profile'}", f"--screenshot={picture}", "--window-size=1200,2400",
            f"file://{self.folder / 'page.html'}"], capture_output=True, text=True, timeout=200)
        self.assertNotIn("CONSOLE", done.stderr)
        self.assertGreater(picture.stat().st_size, 20000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
