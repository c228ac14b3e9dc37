#!/usr/bin/env python3
"""test/support/on_host/translate.py: copies CUDA files, and what they include, to a folder for a
compiler of the host: of functions that contain PTX only declarations are left

usage: translate.py ROOT FOLDER DEPENDENCIES SOURCE... -- OUTPUT...
An output includes the source of its number; DEPENDENCIES: what was read, as make wants it"""
# SPDX-License-Identifier: BSD-3-Clause
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


def main():
    root, folder, dependencies = map(pathlib.Path, sys.argv[1:4])
    split = sys.argv.index("--")
    sources, outputs = sys.argv[4:split], sys.argv[split + 1:]
    wanted, read = list(sources), []
    while wanted:
        name = wanted.pop()
        if name in read or not (root / name).exists():
            continue
        read.append(name)
        text = (root / name).read_text()
        if name.endswith((".cuh", ".cu")):
            wanted += re.findall(r'^#include "([^"]+)"', text, re.M)
            to = folder / name
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(without_ptx(text))
    for source, output in zip(sources, outputs):
        pathlib.Path(output).write_text(f'#include "{source}"\n')
    dependencies.write_text(" ".join(outputs) + ": " + " ".join(str(root / n) for n in read) + "\n")


main()
