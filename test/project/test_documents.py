#!/usr/bin/env python3
"""Documents name what exists: relative links of *.md lead somewhere, with their #headings; files of
the repository that documents name in `code` exist; so do documents named in comments.  The
picture of doc/architecture.md shows the rooms of test_rooms.py.  doc/functions.md has every public function.

SPDX-License-Identifier: BSD-3-Clause"""
import contextlib
import io
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_exports import declared

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
TOPS = "base|bench|cli|data|dense|doc|examples|gpu|ordering|solver|test"
SUFFIXES = "c|h|cu|cuh|py|md|svg|csv|mtx|map|txt|build"
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")
NAMED = re.compile(rf"(?<![\w./-])(?:{TOPS})(?:/[\w.{{}},-]+)*/[\w{{}},-]+\.(?:{SUFFIXES})\b")
FOLDER = re.compile(rf"(?:{TOPS})(?:/[\w-]+)*/?")
FROM = re.compile(r"<!-- from (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)
DOCUMENT = re.compile(r"(?<![\w./-])doc/[\w./-]+\.(?:md|svg|csv)\b")
STANDS_FOR = re.compile(r"(?<![A-Za-z])(?!README)[A-Z]{2,}(?![A-Za-z])") # ROOM, NAME: any
HISTORIES = {"CHANGELOG.md", "doc/measurements/changes.md"} # may name what is gone


def files_of_repository():
    """What git tracks or would; in an archive without git, all files outside build folders."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=REPOSITORY,
        capture_output=True, text=True)
    if listed.returncode == 0:
        return sorted({p for p in map(pathlib.Path, listed.stdout.splitlines()) if (REPOSITORY / p).is_file()})
    folders = [REPOSITORY / top for top in TOPS.split("|")]
    found = [p for folder in folders for p in folder.rglob("*") if p.is_file()]
    return sorted(p.relative_to(REPOSITORY) for p in found + list(REPOSITORY.glob("*.md")))


def anchors(document):
    """The #names of a document's headings, as hosts of repositories make them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def alternatives(name):
    """a/{b,c}.h: a/b.h and a/c.h"""
    match = re.search(r"\{([^{}]*)\}", name)
    if not match:
        return [name]
    return [n for part in match[1].split(",")
        for n in alternatives(name[:match.start()] + part.strip() + name[match.end():])]


def check_document(path):
    """Sentences on what is wrong in one document."""
    wrong, text = [], (REPOSITORY / path).read_text()
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(prose):
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (REPOSITORY / path.parent / file).resolve() if file else REPOSITORY / path
        if not place.exists():
            wrong.append(f"{path}: the link {target} leads nowhere")
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            wrong.append(f"{path}: {target}: there is no such heading")
    if str(path) in HISTORIES:
        return wrong
    names = {n for found in NAMED.findall(text) for n in alternatives(found)}
    names |= {c for c in CODE.findall(prose) if FOLDER.fullmatch(c)}
    return wrong + [f"{path}: there is no {name}" for name in sorted(names)
        if not STANDS_FOR.search(name) and not any((place / name).exists() for place in [REPOSITORY, (REPOSITORY / path).parent])]


def check_code(path):
    """Code that a document says is from a file stands there, line by line, whatever the indentation."""
    wrong, text = [], (REPOSITORY / path).read_text()
    def lines(code):
        return [line.strip() for line in code.strip().splitlines()]
    for name, code in FROM.findall(text):
        there, wanted = lines((REPOSITORY / name).read_text()), lines(code)
        if not any(there[k:k + len(wanted)] == wanted for k in range(len(there))):
            wrong.append(f"{path}: {name} does not have the code that begins with '{wanted[0]}'")
    return wrong


def check_comments(path):
    """The same of the documents that a source names."""
    text = (REPOSITORY / path).read_text(errors="replace")
    return [f"{path}: there is no {name}" for name in sorted(set(DOCUMENT.findall(text)))
        if not (REPOSITORY / name).exists()]


def check_picture():
    """The picture is what its script draws from the table of rooms, and has all of them."""
    sys.path.insert(0, str(REPOSITORY / "doc"))
    import architecture
    wrong = [f"doc/architecture.py: {room} has no place in the picture" for room in architecture.LIBRARY
        if room not in architecture.PLACES and room != "base"]
    drawn = io.StringIO()
    with contextlib.redirect_stdout(drawn):
        architecture.main()
    if drawn.getvalue() != (REPOSITORY / "doc/architecture.svg").read_text():
        wrong.append("doc/architecture.svg is not up to date: python3 doc/architecture.py > doc/architecture.svg")
    return wrong


def check_functions():
    """doc/functions.md names all functions of the public headers, and none besides."""
    text = (REPOSITORY / "doc/functions.md").read_text()
    headers = [REPOSITORY / name for name in ("base/libsolver_types.h", "solver/libsolver.h", "solver/libsolver_batch.h",
        "dense/libsolver_dense.h")]
    there, named = declared(headers), set(re.findall(r"`(libsolver_\w+)`", text))
    return ([f"doc/functions.md: {name} is missing" for name in sorted(there - named)] +
        [f"doc/functions.md: there is no function {name}" for name in sorted(named - there)])


def main():
    files = files_of_repository()
    documents = [p for p in files if p.suffix == ".md"]
    sources = [p for p in files if p.suffix in {".c", ".h", ".cu", ".cuh", ".py", ".build"}]
    wrong = [w for p in documents for w in check_document(p) + check_code(p)] + [w for p in sources for w in check_comments(p)]
    wrong += check_picture() + check_functions()
    if not documents or not sources:
        wrong.append("no documents or no sources were found")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(documents)} documents, {len(sources)} sources: {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
