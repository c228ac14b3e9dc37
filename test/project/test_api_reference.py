#!/usr/bin/env python3
"""The reference that doxygen makes of the public headers has every function, with its comment, and no dead link.

usage: test_api_reference.py DOXYGEN DOXYFILE HEADER...
SPDX-License-Identifier: BSD-3-Clause"""
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_exports import declared


def described(folder):
    """{function: its description} of all that doxygen found."""
    found = {}
    for file in folder.glob("libsolver*_8h.xml"):
        for member in xml.etree.ElementTree.parse(file).iter("memberdef"):
            if member.get("kind") == "function":
                texts = [" ".join(member.find(name).itertext()).strip() for name in
                    ("briefdescription", "detaileddescription")]
                found[member.findtext("name")] = " ".join(texts).strip()
    return found


def dead_links(folder):
    wrong = []
    for page in folder.glob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(errors="replace")):
            if not re.match(r"\w+:", target) and not (folder / urllib.parse.unquote(target)).exists():
                wrong.append(f"{page.name}: {target} leads nowhere")
    return wrong


def main():
    doxygen, doxyfile, *headers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        settings = pathlib.Path(doxyfile).read_text() + f'\nOUTPUT_DIRECTORY = "{place}"\n'
        done = subprocess.run([doxygen, "-"], input=settings, text=True, check=True, capture_output=True)
        functions, names = described(pathlib.Path(place) / "xml"), declared(headers)
        wrong = [f"{n} is not in the reference" for n in sorted(names - set(functions))]
        wrong += [f"{n} has no comment" for n in sorted(names & set(functions)) if not functions[n]]
        if "componentwise backward error" not in functions.get("libsolver_solve", ""):
            wrong.append("the comment of libsolver_solve is not its own")
        wrong += [line for line in done.stderr.splitlines() if "warning: " in line]
        wrong += dead_links(pathlib.Path(place) / "html")
        print(f"{len(functions)} functions", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
