#!/usr/bin/env python3
"""Mutants of the host code: small faults put into a copy of the tree, one at a time; a test that
fails kills one. Survivors show what no test sees.

usage: mutants.py [--seed S] [--count N] [--paths FOLDER_OR_FILE...] [--jobs J] [--resume FILE]
                  [--list]

  --seed S      which mutants are drawn (1)
  --count N     mutants that compile and change the code; others are drawn past (3)
  --paths ...   only of these files and folders
  --jobs J      scratch copies at work at a time (1), each with a build of its own
  --resume F    results go to F, one JSON line a mutant; what F already has is not run again
  --list        prints the mutants drawn and runs nothing
  --scratch D   where the copies lie (build-mutants); they are kept for the next run
  --limit S     seconds of processor time for the tests of one mutant (600)

A line of code is drawn uniformly among those that have something to change, then one of its
changes. Comments, texts, asserts and what mutants_skip.txt names are left out. A mutant whose
object files are the same to the byte changes nothing and is not counted. Tests that are related to
the file come first (they include a header of its name or folder), the fast before the slow; the
first failure ends them. The copy is compiled with -O1, without debug information. A test that needs
ten times the processor time it needs without a mutant has failed. Survivors are for reading: some
are equivalent in ways that a compiler does not see.
SPDX-License-Identifier: BSD-3-Clause"""
import argparse
import bisect
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("base", "ordering", "dense/cpu", "gpu", "solver", "cli")
# tests that see no behaviour (they read the tree's text, or install it), and those of matrices that
# are not in the tree
LEFT_OUT = {"includes", "exports", "install", "peers", "matrices", "matrices_mixed", "matrices_perturbed", "mm_cholmod"}
SETUP = ["-Dcuda=disabled", "-Dbuildtype=plain", "-Doptimization=1", "-Db_ndebug=false", "-Dwerror=false",
         "-Dc_args=-Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration"]

# ---- what can be changed -------------------------------------------------------------------------

# operator name, pattern, replacements of group 1 (or of all of it)
TOKENS = [
    ("relation", r" (<=|>=|==|!=|<|>) ", {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
                                          "==": ("!=",), "!=": ("==",)}),
    ("arithmetic", r" (\+|-|\*|/|%) ", {"+": ("-",), "-": ("+",), "*": ("+", "/"), "/": ("*",), "%": ("/",)}),
    ("assignment", r" (\+=|-=|\*=|/=|\|=|&=) ", {"+=": ("-=", "="), "-=": ("+=", "="), "*=": ("/=", "="), "/=": ("*=",),
                                               "|=": ("=",), "&=": ("=",)}),
    ("logic", r" (&&|\|\|) ", {"&&": ("||",), "||": ("&&",)}),
    ("bits", r" (&|\||<<|>>) ", {"&": ("|",), "|": ("&",), "<<": (">>",), ">>": ("<<",)}),
    ("step", r"(\+\+|--)", {"++": ("--",), "--": ("++",)}),
    ("not", r"(?<![\w)\]])(!)(?=[\w(*])", {"!": ("",)}),
    ("sign", r"(?<=[(=?:,] )(-)(?=[\w(])|(?<=return )(-)(?=[a-z(])", {"-": ("",)}),
    ("boolean", r"\b(true|false)\b", {"true": ("false",), "false": ("true",)}),
    ("extreme", r"\b(fmin|fmax|min|max|lanes_max)(?=\()", {"fmin": ("fmax",), "fmax": ("fmin",), "min": ("max",),
                                                           "max": ("min",)}),
]
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.]|\s*:\s)")
REAL = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)(?![\w.])")
LENGTH = re.compile(r"^\s+(?:static )?(?:const )?(?:struct )?\w+ \**\w+(?:\[\w+\])+(?:, \**\w+(?:\[\w+\])*)*;")
ASSIGNED = re.compile(r"^\s*\(?\*?\(?\*?[\w.>\[\]+*/()-]+(?: [+*/-] [\w.>\[\]-]+)*\]?[\w.>\[\]-]* (?:[-+*/|&]|<<|>>)?= .*;$")
CALLED = re.compile(r"^\s*(?!return\b|sizeof\b|if\b|for\b|while\b|switch\b)[a-z]\w*\(.*\);$")
DROPPED = re.compile(r"^\s*(break|continue|goto \w+);$|^\s*[\w.>\[\]-]+(\+\+|--);$|^\s*(\+\+|--)[\w.>\[\]-]+;$")


def blank(text):
    """text with comments and literals of the same length without content."""
    def spaces(found):
        token = found.group(0)
        if token[0] in "\"'":
            return token[0] + "_" * (len(token) - 2) + token[0]
        return re.sub(r"[^\n]", " ", token)
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", spaces, text, flags=re.S)


def balanced(text):
    return text.count("(") == text.count(")")


def closing(text, at):
    """Where the bracket that opens at text[at] closes, or -1."""
    depth = 0
    for k in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if depth == 0:
            return k
    return -1


def changes_of_line(line):
    """[(operator, start, end, parts of the replacement: text, or (start, end) of the line)] of one
    blanked line."""
    found = []
    body = 0
    if line.lstrip().startswith("#"):
        define = re.match(r"#define \w+(\([^)]*\))? ", line)
        if not define:
            return []
        body = define.end()
    for name, pattern, replacements in TOKENS:
        for match in re.finditer(pattern, line):
            group = match.lastindex or 0
            if match.start(group) >= body:
                found += [(name, *match.span(group), [new]) for new in replacements.get(match.group(group), ())]
    for match in NUMBER.finditer(line, body):
        value = int(match.group(1))
        if LENGTH.match(line):  # a longer array is the same, a shorter one for a sanitizer
            continue
        if value == 1 and line[:match.start()].endswith(" = ") and line[match.end():match.end() + 1] == ";":
            found.append(("constant", *match.span(1), ["0"]))  # a flag: 2 is as true
            continue
        found += [("constant", *match.span(1), [str(new)]) for new in (value + 1, value - 1) if new >= 0]
    for match in REAL.finditer(line, body):
        found.append(("constant", *match.span(1), [repr(float(match.group(1)) + 1)]))
    if not body:
        found += statement_changes(line)
    return found


def statement_changes(line):
    found = []
    start = len(line) - len(line.lstrip())
    stripped = line.rstrip()
    if stripped and balanced(stripped) and any(p.match(stripped) for p in (ASSIGNED, CALLED, DROPPED)):
        found.append(("drop", start, len(stripped), [";"]))
    for match in re.finditer(r"\b(if|while) \(", line):
        end = closing(line, match.end() - 1)
        if end > 0:
            found.append(("negate", match.end() - 1, end + 1, ["(!", (match.end() - 1, end + 1), ")"]))
    if not re.match(r"^\S", line):
        for match in re.finditer(r"\b[a-z]\w*\(", line):
            found += swaps(line, match.end())
    return found


def swaps(line, start):
    """Neighbours among the arguments of a call, which begin at line[start], exchanged."""
    end = closing(line, start - 1)
    arguments = line[start:end].split(", ") if end > 0 else []
    if not all(map(balanced, arguments)) or any("const " in a for a in arguments):
        return []
    # of count and size only the product matters
    if re.search(r"\b(memory_\w+|\w*alloc|arena_new|room_new|f?(min|max)l?|hypot)\($", line[:start]):
        return []
    spans, at = [], start
    for argument in arguments:
        spans.append((at, at + len(argument)))
        at += len(argument) + 2
    return [("swap", a[0], b[1], [b, ", ", a]) for a, b in zip(spans, spans[1:]) if line[slice(*a)] != line[slice(*b)]]

def read_skips(path):
    """[(pattern of the path, pattern of the line or of FUNCTION())]; ~ stands for white space."""
    skips = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            where, what, _ = re.split(r"\s{2,}", line, maxsplit=2)
            skips.append((re.compile(where), re.compile(what.replace("~", r"\s"))))
    return skips


def lines_to_change(path, text, skips):
    """[(line from 0, changes)] of a file."""
    lines = blank(text).split("\n")
    skips = [what for where, what in skips if where.fullmatch(path)]
    found, asserting, function = [], False, ""
    for k, line in enumerate(lines):
        top = re.match(r"^(?:[\w*]+ )+\*?(\w+)\(", line)
        function = top.group(1) if top else function
        if line[:1] == "#":
            function = ""
        if re.search(r"\b(static_)?assert\(|_Static_assert|\b(message|failure)_set\(|lines_fail\(", line):
            asserting = True
        if not asserting and not line.startswith(("typedef", "enum", "extern")) and not any(
                s.search(line) or s.fullmatch(function + "()") for s in skips):
            changes = changes_of_line(line)
            if changes:
                found.append((k, changes))
        asserting = asserting and not line.rstrip().endswith(";")
    return found


def host_files(paths):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=REPOSITORY, capture_output=True, text=True,
                            check=True).stdout.splitlines()
    for name in sorted(listed):
        if not name.endswith((".c", ".h")) or not name.startswith(tuple(f + "/" for f in FOLDERS)):
            continue
        if not paths or any(name == p.rstrip("/") or name.startswith(p.rstrip("/") + "/") for p in paths):
            yield name


class Pool:
    """All lines that can be changed; draws mutants without end, none twice."""

    def __init__(self, seed, paths):
        skips = read_skips(pathlib.Path(__file__).with_name("mutants_skip.txt"))
        self.files, self.ends, self.total = [], [], 0
        for name in host_files(paths):
            text = (REPOSITORY / name).read_text()
            lines = lines_to_change(name, text, skips)
            if lines:
                self.total += len(lines)
                self.files.append((name, text.split("\n"), lines))
                self.ends.append(self.total)
        self.random, self.drawn = random.Random(seed), set()

    def draw(self):
        while len(self.drawn) < self.total:  # a line once
            k = self.random.randrange(self.total)
            file = bisect.bisect_right(self.ends, k)
            name, text, lines = self.files[file]
            line, changes = lines[k - (self.ends[file - 1] if file else 0)]
            operator, start, end, new = self.random.choice(changes)
            if (name, line) in self.drawn:
                continue
            self.drawn.add((name, line))
            old = text[line]
            new = "".join(part if isinstance(part, str) else old[slice(*part)] for part in new)
            changed = old[:start] + new + old[end:]
            return {"file": name, "line": line + 1, "operator": operator, "old": old.strip(), "new": changed.strip(),
                    "text": "\n".join(text[:line] + [changed] + text[line + 1:])}
        return None


# ---- a scratch copy ------------------------------------------------------------------------------

def run_quiet(command, folder):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def wait(process, most):
    """(exit code, processor seconds) of a child; -1 if it takes more than so many seconds."""
    end = time.monotonic() + most
    while time.monotonic() < end:
        pid, status, use = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), use.ru_utime + use.ru_stime
        time.sleep(0.01)
    return -1, most


class Copy:
    """A copy of the tree with a build of its own."""

    def __init__(self, scratch, index, copies):
        self.root = scratch / f"copy{index}" / "tree"
        self.cores = max(1, (os.cpu_count() or 1) // copies)  # for compiling
        self.build = self.root / "build"
        self.synchronise()
        if not (self.build / "build.ninja").exists():
            done = run_quiet(["meson", "setup", "build", *SETUP], self.root)
            if done.returncode:
                sys.exit(f"mutants: no build could be set up:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        if not self.make([]):
            raise SystemExit("mutants: the tree does not compile")
        self.read_dependencies()
        self.tests = json.loads(run_quiet(["meson", "introspect", "build", "--tests"], self.root).stdout)
        self.tests = [t for t in self.tests if t["name"] not in LEFT_OUT]

    def synchronise(self):
        """The files of the checkout; one that is the same is left alone, so that nothing is
        compiled again."""
        self.root.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=REPOSITORY, capture_output=True, text=True,
                                check=True).stdout.splitlines()
        for name in listed:
            source, target = REPOSITORY / name, self.root / name
            if not source.is_file():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_bytes() != source.read_bytes():
                shutil.copyfile(source, target)
                shutil.copymode(source, target)
        for path in self.root.rglob("*"):
            name = str(path.relative_to(self.root))
            if path.is_file() and not name.startswith("build/") and "__pycache__" not in name and name not in listed:
                path.unlink()

    def read_dependencies(self):
        """objects[FILE]: object files of the host code made from it."""
        self.objects, target = {}, None
        for line in run_quiet(["ninja", "-C", "build", "-t", "deps"], self.root).stdout.splitlines():
            if line and not line.startswith(" "):
                target = line.split(":")[0]
            elif line.startswith("    ../") and not target.startswith(("test/", "bench/", "examples/")):
                self.objects.setdefault(line.strip()[3:], []).append(target)

    def digests(self, objects):
        return [hashlib.sha256((self.build / o).read_bytes()).digest() for o in objects]

    def write(self, name, text):
        (self.root / name).write_text(text)

    def run_test(self, test, cpu_seconds):
        """(whether it passed within so much processor time, and several times as much on the
        clock; processor seconds)"""
        limit = int(cpu_seconds) + 1
        environment = {**os.environ, **test["env"], "OMP_WAIT_POLICY": "passive"}

        def in_child():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.nice(5)

        process = subprocess.Popen(test["cmd"], cwd=test["workdir"] or self.build, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=in_child)
        busy = max(1, os.getloadavg()[0] / (os.cpu_count() or 1))
        code, seconds = wait(process, (60 + 4 * limit) * busy)  # only what sleeps forever takes as long
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        return code in (0, 77), seconds

    def make(self, targets):
        """Whether they compile and link."""
        return run_quiet(["nice", "ninja", "-j", str(self.cores), "-C", "build", *targets], self.root).returncode == 0

    def programs(self):
        """What the tests run."""
        paths = {(self.build / c).resolve() for t in self.tests for c in t["cmd"] + ["cli/libsolver-compare"]}
        return sorted(str(p.relative_to(self.build)) for p in paths if self.build in p.parents and p.is_file())


def relation(test, file, copy, includes):
    """Smaller: more related."""
    name, stem, folder = test["name"], pathlib.Path(file).stem.replace("_tmpl", ""), os.path.dirname(file)
    source = includes.get(re.sub(r"(_mixed)?_[sdcz]$", "", name), "")
    of_tool = any(os.path.basename(c) == "libsolver" for c in test["cmd"])
    if folder == "cli":
        return 0 if f'"{stem}.h"' in source else 1 if of_tool else 2 if "cli" in source else 4
    if f"/{stem}.h" in source or re.sub(r"_.*", "", stem) in name:
        return 0
    if folder + "/" in source:
        return 1
    return 3 if of_tool else 2


def test_sources(root):
    return {path.stem[5:]: path.read_text() for path in (root / "test").glob("test_*.c")}


def measure(copy, scratch, jobs):
    """Processor seconds of each test without a mutant; one that fails is left out."""
    path = scratch / "times.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    unknown = [t for t in copy.tests if t["name"] not in known]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for test, (passed, seconds) in zip(unknown, pool.map(lambda t: copy.run_test(t, 3000), unknown)):
            known[test["name"]] = round(seconds, 2) if passed else None
            if not passed:
                print(f"mutants: {test['name']} fails without a mutant and is left out", flush=True)
    path.write_text(json.dumps(known, indent=0))
    return known


def finish(mutant, start, result, by=""):
    mutant.update(result=result, by=by, seconds=round(time.monotonic() - start))


def kill(copy, mutant, times, includes, limit):
    """Fills in result, by and seconds."""
    file, start = mutant["file"], time.monotonic()
    objects = copy.objects.get(file, [])
    if not objects:
        return finish(mutant, start, "no change", "the preprocessor")
    original = (copy.root / file).read_text()
    before = copy.digests(objects)
    try:
        copy.write(file, mutant["text"])
        if not copy.make(objects):
            return finish(mutant, start, "not compiled")
        if copy.digests(objects) == before:
            return finish(mutant, start, "no change")
        if not copy.make(copy.programs()):
            return finish(mutant, start, "killed", "the linker")
        tests = [t for t in copy.tests if times.get(t["name"]) is not None]
        tests.sort(key=lambda t: (relation(t, file, copy, includes) + (times[t["name"]] > 20), times[t["name"]]))
        used = 0
        for test in tests:
            used += times[test["name"]]
            if used <= limit and not copy.run_test(test, 5 + 10 * times[test["name"]])[0]:
                return finish(mutant, start, "killed", test["name"])
        finish(mutant, start, "survived")
    finally:
        copy.write(file, original)
        copy.make(objects)


# ---- all of them ---------------------------------------------------------------------------------

def key(mutant):
    return f"{mutant['file']}:{mutant['line']}: {mutant['new']}"


def row(number, mutant):
    return (f"{number:4} {mutant['file']}:{mutant['line']} {mutant['operator']}: {mutant['result']}"
            f"{' by ' + mutant['by'] if mutant['by'] else ''} ({mutant['seconds']} s)\n"
            f"       - {mutant['old']}\n       + {mutant['new']}")


def summary(results):
    kinds = [m["result"] for m in results]
    killed, survived = kinds.count("killed"), kinds.count("survived")
    print("\nfolder                killed of")
    for folder in sorted({os.path.dirname(m["file"]) for m in results}):
        inside = [m["result"] for m in results if os.path.dirname(m["file"]) == folder]
        counted = inside.count("killed") + inside.count("survived")
        print(f"{folder:20} {inside.count('killed'):7} {counted:2}")
    print(f"mutants: {killed + survived}, killed {killed} ({100 * killed / max(1, killed + survived):.0f} %), "
          f"survived {survived}, no change {kinds.count('no change')}, not compiled {kinds.count('not compiled')}")


class Run:
    def __init__(self, settings, scratch):
        self.pool, self.lock = Pool(settings.seed, settings.paths), threading.Lock()
        self.settings, self.scratch = settings, scratch
        self.results, self.counted, self.under_way = [], 0, 0
        self.file = pathlib.Path(settings.resume) if settings.resume else None
        self.known = {}
        if self.file and self.file.exists():
            self.known = {key(m): m for m in map(json.loads, self.file.read_text().splitlines())}

    def next(self):
        """The next mutant that no result is known of; None: there are enough, or enough are under
        way."""
        with self.lock:
            while self.counted + self.under_way < self.settings.count:
                mutant = self.pool.draw()
                if not mutant:
                    return None
                if key(mutant) in self.known:
                    self.note(self.known[key(mutant)], False)
                    continue
                self.under_way += 1
                return mutant
            return None

    def note(self, mutant, fresh=True):
        self.counted += mutant["result"] in ("killed", "survived")
        self.results.append(mutant)
        print(row(len(self.results), mutant), flush=True)
        if fresh and self.file:
            with self.file.open("a") as file:
                file.write(json.dumps({k: v for k, v in mutant.items() if k != "text"}) + "\n")

    def work(self, copy, times, includes):
        while True:
            mutant = self.next()
            if not mutant:
                if self.under_way and self.counted < self.settings.count:
                    time.sleep(1)  # one under way may not count
                    continue
                return
            try:
                kill(copy, mutant, times, includes, self.settings.limit)
            finally:
                with self.lock:
                    self.under_way -= 1
                    if "result" in mutant:
                        self.note(mutant)


def main():
    parser = argparse.ArgumentParser(add_help=True)
    for name, default in (("--seed", 1), ("--count", 3), ("--jobs", 1), ("--limit", 600)):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--paths", nargs="*", default=[])
    parser.add_argument("--resume")
    parser.add_argument("--scratch", default=str(REPOSITORY / "build-mutants"))
    parser.add_argument("--list", action="store_true")
    settings = parser.parse_args()
    if settings.list:
        pool = Pool(settings.seed, settings.paths)
        for k in range(settings.count):
            mutant = pool.draw()
            if mutant:
                print(f"{k + 1:4} {mutant['file']}:{mutant['line']} {mutant['operator']}\n       - {mutant['old']}\n       + {mutant['new']}")
        print(f"lines with something to change: {pool.total}")
        return 0
    scratch = pathlib.Path(settings.scratch).resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(settings.jobs) as pool:
        copies = list(pool.map(lambda k: Copy(scratch, k, settings.jobs), range(settings.jobs)))
    times = measure(copies[0], scratch, settings.jobs)
    run = Run(settings, scratch)
    includes = test_sources(REPOSITORY)
    threads = [threading.Thread(target=run.work, args=(copy, times, includes)) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    summary(run.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
