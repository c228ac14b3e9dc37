#!/usr/bin/env python3
"""The tool works without the libraries with CUDA code, and says why they cannot be had: absent, damaged, or of another
version.

usage: test_cuda_library.py TOOL LIBSOLVER.SO CUDA_LIBRARY_NAME CUDA_DENSE_LIBRARY_NAME, with CC in the environment
SPDX-License-Identifier: BSD-3-Clause"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

TOOL, LIBRARY, NAME, DENSE = os.path.abspath(sys.argv[1]), *sys.argv[2:5]
del sys.argv[1:]
FIVE = pathlib.Path(__file__).resolve().parent.parent.parent / "data/five.mtx"


class CudaLibrary(FolderCase):
    def setUp(self):
        super().setUp()
        shutil.copy(LIBRARY, self.folder / "libsolver.so.0")
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}

    def run_tool(self, *arguments):
        return subprocess.run([TOOL, *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, cwd=self.folder)

    def refuses(self, *words):
        """A solve on the GPU says these words, and so does `info`; one that may choose is made on the CPU."""
        on_gpu = self.run_tool("solve", str(FIVE), "--backend", "gpu")
        self.assertEqual(on_gpu.returncode, 4, on_gpu.stderr)
        info = self.run_tool("info", "--json", "info.json")
        self.assertEqual(info.returncode, 0, info.stderr)
        for word in words:
            self.assertIn(word, on_gpu.stderr)
            self.assertIn(word, info.stdout)
        self.assertFalse(json.loads((self.folder / "info.json").read_text())["backends"]["gpu"])
        self.assertEqual(self.run_tool("solve", str(FIVE)).returncode, 0)

    def test_absent(self):
        self.refuses(NAME, "cannot open shared object file")

    def test_damaged(self):
        (self.folder / NAME).write_bytes(b"no library")
        self.refuses(NAME, "file too short")

    def test_in_the_folder_for_it(self):
        (self.folder / "libsolver").mkdir()
        (self.folder / "libsolver" / NAME).write_bytes(b"no library")
        self.refuses(f"libsolver/{NAME}", "file too short")

    def compile(self, version, bytes_, name=NAME):
        table = name.split(".")[0].removeprefix("lib") + "_calls"
        source = self.file("other.c", f"""#include <stddef.h>
            const struct {{ const char *version; size_t bytes; }} lib{table} = {{"{version}", {bytes_}}};""")
        subprocess.run([*shlex.split(os.environ["CC"]), "-shared", "-fPIC", str(source), "-o", str(self.folder / name)],
            check=True)

    def test_of_another_version(self):
        self.compile("0.0.9", 1000)
        self.refuses("0.0.9", "same build")

    def test_of_another_build(self):
        version = self.run_tool("--version").stdout.split()[-1]
        self.compile(version, 16)
        self.refuses(version, "same build")

    def cublas(self):
        """What `info` says of the library with the dense calls, by which cuBLAS is found."""
        lines = self.run_tool("info").stdout.splitlines()
        return next(line for line in lines if line.startswith("cuBLAS"))

    def test_the_dense_library_is_missed_for_its_own_reasons(self):
        self.assertIn(f"{DENSE}: cannot open shared object file", self.cublas())
        (self.folder / DENSE).write_bytes(b"no library")
        self.assertIn("file too short", self.cublas())
        self.compile("0.0.9", 1000, DENSE)
        self.assertIn("0.0.9", self.cublas())


if __name__ == "__main__":
    unittest.main(verbosity=2)
