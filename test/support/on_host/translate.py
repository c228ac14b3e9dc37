#!/usr/bin/env python3
"""test/support/on_host/translate.py: copies CUDA headers, and what they include, to a folder for a
compiler of the host: of functions that contain PTX only declarations are left

usage: translate.py ROOT FOLDER OUTPUT DEPENDENCIES HEADER...
OUTPUT: a header that includes those named; DEPENDENCIES: what was read, as make wants it"""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import sys

BEGINS = re.compile(r"^ {0,4}(?:template <[^\n]*>|static|__device__|INLINE)[ \n]", re.M)


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
    return re.sub(r"extern __shared__ __align__\((\d+)\) unsigned char memory\[\];",
                  r"unsigned char *memory = dynamic_shared();", kept)


def main():
    root, folder, output, dependencies = map(pathlib.Path, sys.argv[1:5])
    headers = sys.argv[5:]
    wanted, read = list(headers), []
    while wanted:
        name = wanted.pop()
        if name in read or not name.endswith(".cuh"):
            continue
        read.append(name)
        text = (root / name).read_text()
        wanted += re.findall(r'^#include "([^"]+)"', text, re.M)
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(without_ptx(text))
    output.write_text("".join(f'#include "{name}"\n' for name in headers))
    dependencies.write_text(f"{output}: " + " ".join(str(root / name) for name in read) + "\n")


main()
