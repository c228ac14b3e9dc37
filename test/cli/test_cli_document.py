#!/usr/bin/env python3
"""The commands of doc/tool.md and doc/troubleshooting.md print what stands there, but for numbers, the steps of a table and
the threads of the machine.

usage: test_cli_document.py LIBSOLVER
SPDX-License-Identifier: BSD-3-Clause"""
import itertools
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
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCKS = [block for name in ("tool.md", "troubleshooting.md")
    for block in re.findall(r"^```console\n(.*?)^```", (REPOSITORY / "doc" / name).read_text(), re.M | re.S)]


def pattern(text):
    """Lines with # for numbers and their units; rows of a table that are alike count once."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"(?<![\w.])-?\d+(\.\d+)*(e[-+]?\d+)?\b(?! x)", "#", line)
        line = re.sub(r"# (us|ms|s|k|M|G|bytes|KiB|MiB|flop|kflop|Mflop|Gflop)\b", "#", line)
        line = re.sub(r"\bbest$|\b(thread|step|digit)s?\b", lambda found: found[1] or "", line)
        line = re.sub(r"(# )+#", "#", re.sub(r"\s+", " ", line).strip())
        lines.append(line)
    return [line for line, _ in itertools.groupby(lines) if line]


class Document(FolderCase):
    def test_the_commands_print_what_it_says(self):
        data = self.folder / "data"
        shutil.copytree(REPOSITORY / "data", data)
        environment = {**os.environ, "PATH": f"{os.path.dirname(TOOL)}:{os.environ['PATH']}"}
        commands = 0
        for block in BLOCKS:
            for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
                done = subprocess.run(command, shell=True, cwd=data, env=environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual(pattern(done.stdout), pattern(expected), command)
                commands += 1
        self.assertGreater(commands, 8)


unittest.main()
