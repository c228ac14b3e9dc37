#!/usr/bin/env python3
"""Shows doxygen a public header with its comments as documentation, which they are: /* before a declaration becomes
/**, behind a member /**<; a function that stands below another without a comment of its own is sent to that.  Of a
guide, links that lead out of what is shown become the name of the file.

usage: filter.py FILE > TEXT"""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
GUIDES = {REPOSITORY / "README.md", *(REPOSITORY / "doc").glob("*.md")}
FUNCTION = re.compile(r"^LIBSOLVER_API\b[^;(]*?(\w+)\s*\([^;]*;", re.MULTILINE)


def header(path, text):
    text = re.sub(r"/\* -+ .*?\*/", "", text) # headings of sections
    # the first comment is about the file; its own name in front and the licence go
    text = re.sub(r"\A/\* \S+: (.*?)\n \* SPDX[^\n]*?( \*/)?\n",
        lambda found: f"/** \\file {path.name}\n * {found[1]}.\n{found[2] or ' *'}\n", text, flags=re.DOTALL)
    text = re.sub(r"^([ \t]*)/\*(?!\*) ", r"\1/** ", text, flags=re.MULTILINE)
    # behind code: about what is before it; one that is empty only lines up others
    text = re.sub(r"(?<=[,;{\w})])([ \t]+)/\*(?!\*)[ \t]*\*/", "", text)
    text = re.sub(r"(?<=[,;\w})])([ \t]+)/\*(?!\*) ", r"\1/**< ", text)
    shown, end, leader = [], 0, ""
    for found in FUNCTION.finditer(text):
        before = text[end:found.start()]
        if before.rstrip().endswith("*/") or not leader:
            leader = found[1]
        else:
            before += f"/** See {leader}(). */\n"
        shown += [before, found[0]]
        end = found.end()
    return "".join(shown) + text[end:]


def guide(path, text):
    def link(match):
        words, target = match[1], match[2].partition("#")[0]
        if re.match(r"\w+:", target):
            return match[0]
        place = (path.parent / target).resolve()
        if place in GUIDES:
            return f"[{words}]({place.name if path.parent == place.parent else place.relative_to(REPOSITORY)})"
        return words if words == place.name else f"{words} (`{place.relative_to(REPOSITORY)}`)"
    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", link, text)


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    sys.stdout.write((guide if path.suffix == ".md" else header)(path, path.read_text()))


if __name__ == "__main__":
    main()
