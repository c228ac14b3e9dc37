#!/usr/bin/env python3
"""test/support/on_host/translate.py: copies CUDA files, and what they include, to a folder for a
compiler of the host: of functions that contain PTX only declarations are left

usage: translate.py ROOT FOLDER DEPENDENCIES SOURCE... -- OUTPUT...
An output includes the source of its number, and is another one whenever what that includes is;
DEPENDENCIES: what was read, as make wants it"""
# SPDX-License-Identifier: BSD-3-Clause
import hashlib
import pathlib
import re
import sys

BEGINS = re.compile(r"^ {0,4}(?:template <[^\n]*>|static|__device__|INLINE)[ \n]", re.M)

LAUNCH = re.compile(r"(\w+<\w+>)\s*<<<(.*?)>>>\(", re.S)

PLACES = {"threadIdx": "this_thread->place", "blockIdx": "this_block->place",
          "gridDim": "this_block->blocks", "blockDim": "this_block->threads"}


def end_of_body(text, at):
    """The end of the braces that begin at `at`."""
    depth = 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[{}]', text[at:]):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        if depth == 0:
            return at + token.end()
    raise SystemExit("a brace is not closed")


def begin_of_function(text, at):
    """The begin of the function around `at`, with the line of its template."""
    begin = [m.start() for m in BEGINS.finditer(text, 0, at)][-1]
    line = text.rfind("\n", 0, max(begin - 1, 0)) + 1
    return line if text[line:begin].strip().startswith("template <") else begin


def without_ptx(text):
    kept, done = "", 0
    while found := re.search(r"\basm\b", text[done:]):
        begin = begin_of_function(text, done + found.start())
        body = text.index("{", begin)
        signature = re.sub(r"__device__|__forceinline__", "", text[begin:body])
        kept += text[done:begin] + " ".join(signature.split()) + ";\n"
        done = end_of_body(text, body)
    kept += text[done:]
    kept = LAUNCH.sub(r"configure(\1, \2)(", kept)
    kept = re.sub(r"(?<![.>])\b(" + "|".join(PLACES) + r")\b", lambda m: PLACES[m.group()], kept)
    return re.sub(r"extern __shared__ __align__\((\d+)\) unsigned char memory\[\];",
                  r"unsigned char *memory = dynamic_shared();", kept)


def write_if_other(file, text):
    """What stays the same keeps its time, and what was compiled of it need not be compiled again."""
    if not file.exists() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Copies:
    def __init__(self, root, folder):
        self.root, self.folder, self.included = root, folder, {}

    def add(self, name):
        """Copies a file and those it includes, and knows what each includes."""
        if name in self.included or not (self.root / name).exists():
            return
        text = (self.root / name).read_text()
        self.included[name] = []
        if name.endswith((".cuh", ".cu")):
            write_if_other(self.folder / name, without_ptx(text))
            self.included[name] = re.findall(r'^#include "([^"]+)"', text, re.M)
            for other in self.included[name]:
                self.add(other)

    def digest(self, source):
        """Of all copies that a source consists of."""
        wanted, seen = [source], set()
        while wanted:
            name = wanted.pop()
            if name in self.included and name not in seen:
                seen.add(name)
                wanted += self.included[name]
        copies = [self.folder / name for name in sorted(seen)]
        return hashlib.sha256(b"".join(c.read_bytes() for c in copies if c.exists())).hexdigest()


def main():
    root, folder, dependencies = map(pathlib.Path, sys.argv[1:4])
    split = sys.argv.index("--")
    sources, outputs = sys.argv[4:split], sys.argv[split + 1:]
    copies = Copies(root, folder)
    for source, output in zip(sources, outputs):
        copies.add(source)
        write_if_other(pathlib.Path(output), f'#include "{source}"\n/* {copies.digest(source)} */\n')
    read = [str(root / name) for name in copies.included]
    dependencies.write_text(" ".join(outputs) + ": " + " ".join(read) + "\n")


main()
