#!/usr/bin/env python3
"""The tool from outside: exit codes, messages, JSON, and that nothing is written after bad input.

usage: test_cli.py LIBSOLVER CHECK_SOLUTION
SPDX-License-Identifier: BSD-3-Clause"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import xml.dom.minidom

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

CHECK, TOOL = os.path.abspath(sys.argv.pop(2)), os.path.abspath(sys.argv.pop(1))
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = REPOSITORY / "data"
HEADER = "%%MatrixMarket matrix coordinate real symmetric\n"


def run(*arguments, **options):
    command = [TOOL, *map(str, arguments)]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)


def leaves(tree, path=""):
    """{"a.b": value} of nested objects."""
    if not isinstance(tree, dict):
        return {path: tree}
    found = {}
    for key, value in tree.items():
        found.update(leaves(value, f"{path}.{key}" if path else key))
    return found


SOLVE_FIELDS = """schema version precision tolerance matrix.path matrix.n matrix.nnz matrix.type matrix.symmetry
    matrix.asymmetry status message place backend.factorize backend.solve backend.device
    backend.threads backend.instruction_set backend.blas ordering analysis.factor_nnz analysis.factor_flops
    analysis.supernodes analysis.levels
    analysis.host_bytes analysis.device_bytes factor.kind factor.inertia.positive factor.inertia.negative
    factor.inertia.zero factor.inertia.certain factor.perturbed factor.delayed factor.two_by_two factor.precision
    factor.entries factor.fronts factor.growths factor.failed_row factor.host_bytes factor.host_bytes_peak
    factor.device_bytes solve.nrhs
    solve.backward_error solve.backward_error_initial solve.forward_error solve.refinement_steps
    solve.backward_errors solve.history accuracy.condition accuracy.forward_bound accuracy.digits seconds.read
    seconds.analyze seconds.factorize seconds.solve seconds.total seconds.estimate""".split()


class Case(FolderCase):
    def solve(self, *arguments):
        """Exit code and JSON."""
        done = run("solve", *arguments, "--json", "-")
        result = json.loads(done.stdout)
        self.assertEqual(list(leaves(result)), SOLVE_FIELDS)
        return done.returncode, result


class Usage(Case):
    def test_wrong_usage_is_exit_1_with_one_line(self):
        five = DATA / "five.mtx"
        for arguments in (
            [],
            ["resolve", five],
            ["solve"],
            ["solve", five, five, five],
            ["solve", five, "--fast"],
            ["solve", five, "--nrhs"],
            ["solve", five, "--nrhs", "0"],
            ["solve", five, "--nrhs", "2x"],
            ["solve", five, "--threads=-1"],
            ["solve", five, "--tol", "0"],
            ["solve", five, "--tol", "nan"],
            ["solve", five, "--pivot-threshold", "0.6"],
            ["solve", five, "--memory-limit", "5T"],
            ["solve", five, "--memory-limit", "99999999999G"],
            ["solve", five, "--backend", "tpu"],
            ["solve", five, "--type", "SPD"],
            ["solve", five, "--quiet=yes"],
            ["solve", five, "-o", "same", "--json", "same"],
            ["bench"],
            ["bench", five, "-o", "x.mtx"],
            ["bench", five, "--profile"],
            ["bench", five, "--profile", "p"],
            ["bench", five, "--profile", "p", "--backend", "cpu"],
            ["solve", five, "--profile", "p", "--backend", "gpu"],
            ["generate", "lap2d:3"],
            ["generate", "lap2d:0", "-o", self.folder / "x"],
            ["generate", "lap3d:2000", "-o", self.folder / "x"],
            ["info", five],
            ["help", "resolve"],
            ["help", "--format", "html"],
            ["solve", five, "--device", "-1"],
            ["solve", five, "--delay-cap", "0"],
            ["solve", five, "--purpose", "speed"],
        ):
            with self.subTest(arguments=arguments):
                done = run(*arguments, cwd=self.folder)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Alibsolver: [^\n]+\n\Z")
                self.assertEqual(os.listdir(self.folder), [])

    def test_help_names_every_option_and_version_is_the_library_s(self):
        options = """-o --backend --type --ordering --precision --nrhs --threads --refine --tol --matching
            --pivot-threshold --memory-limit --json --quiet""".split()
        done = run("solve", "--help")
        self.assertEqual(done.returncode, 0)
        for option in options:
            self.assertRegex(done.stdout, f"\n  {option}[ ,]")
        self.assertNotIn("--ordering", run("generate", "--help").stdout)
        self.assertRegex(run("--version").stdout, r"\Alibsolver \d+\.\d+\.\d+\n\Z")

    def test_what_is_misspelt_is_told_what_it_may_have_been(self):
        five = DATA / "five.mtx"
        for arguments, answer in (
            (["slove", five], "; did you mean solve?"),
            (["help", "bensch"], "; did you mean bench?"),
            (["solve", five, "--percision", "d"], "; did you mean --precision?"),
            (["solve", five, "--mixed"], "; did you mean --precision mixed?"),
            (["solve", five, "--gpu"], "; did you mean --backend gpu?"),
            (["--verison"], "; did you mean --version?"),
            (["--json", "x", "solve", five], "the command comes first"),
            (["plot", five, "-o", "five.png"], "the picture is written as SVG"),
            (["solve", five, "--kidn=spd"], "; did you mean --kind?"),
            (["solve", five, "--type", "SPD"], "; did you mean spd?"),
            (["solve", five, "--matching", "of"], "; did you mean on?"),
            (["solve", five, "--ordering", "mets"], "and there is no such file; did you mean metis?"),
            (["solve", five, "--ordering", "FILE"], "and there is no such file"),
            (["solve", five, "--profile", "p"], "--profile is no option of solve; see libsolver solve --help"),
            (["solve", five, "--threads", "2e9"], "'2e9' is not a whole number from 1 to 2147483647"),
            (["solve", five, "--tol", "1"], "'1' is not a number above 0 and at most 0.5"),
            (["solve", five, "--zzzzzzz"], "unknown option '--zzzzzzz'; see libsolver --help"),
        ):
            done = run(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(answer, done.stderr)
        for problem, meant in (("lap4d:3", "; did you mean lap2d?"), ("kkt3d:3", "; did you mean kkt2d?"), ("abcdefgh:3", "")):
            done = run("solve", problem)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"libsolver: {problem}: there is neither such a problem nor such a file{meant}\n"))
        missing = run("solve", five, "--ordering", "order.txt")
        self.assertEqual((missing.returncode, missing.stderr), (2, "libsolver: order.txt: No such file or directory\n"))

    def test_kind_and_type_are_one_option(self):
        for name in ("--kind", "--type"):
            self.assertEqual(self.solve(DATA / "five.mtx", name, "indefinite")[1]["factor"]["kind"], "ldlt")

    def test_help_comes_from_one_table_in_every_format(self):
        table = json.loads(run("help", "--format", "json").stdout)
        names = [o["name"] for o in table["options"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("--delay-cap", names)
        for form in ("text", "markdown", "man", "bash"):
            shown = run("help", "--format", form)
            self.assertEqual(shown.returncode, 0)
            text = shown.stdout.replace("\\-", "-")
            for name in names + [c["name"] for c in table["commands"]]:
                if form != "markdown" or name.startswith("-"):
                    self.assertIn(name, text, form)
        self.assertLess(max(map(len, run("--help").stdout.split("\n"))), 101)
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual(run("help", "bench").stdout, run("bench", "--help").stdout)
        for row in run("help", "--format", "markdown").stdout.splitlines():
            self.assertEqual(row.replace("\\|", "").count("|"), 8, row)

    def test_the_completion_completes(self):
        bash = shutil.which("bash")
        if not bash:
            self.skipTest("there is no bash")
        for words, wanted in (
            (["s"], "solve"),
            (["solve", "--ki"], "--kind"),
            (["solve", "--ordering", "na"], "natural"),
            (["help", "ge"], "generate"),
        ):
            script = run("help", "--format", "bash").stdout + (
                f"COMP_WORDS=(libsolver {' '.join(words)}) COMP_CWORD={len(words)}\n_libsolver\necho \"${{COMPREPLY[@]}}\"\n"
            )
            done = subprocess.run([bash, "-c", script], capture_output=True, text=True)
            self.assertEqual((done.stdout.strip(), done.stderr), (wanted, ""))

    def test_info_tells_what_is_built(self):
        done = run("info")
        self.assertEqual(done.returncode, 0)
        for word in ("real double (d)", "AMD", "CPU", "threads", "devices"):
            self.assertIn(word, done.stdout)

    def test_info_and_results_name_the_instruction_set(self):
        facts = json.loads(run("info", "--json", "-").stdout)
        self.assertIn(facts["instruction_set"], ("AVX-512", "AVX2", "plain"))
        self.assertIn(f"\nprocessor  {facts['instruction_set']} kernels\n", run("info").stdout)
        self.assertTrue(facts["precisions"]["d"] and facts["backends"]["cpu"])
        flags = pathlib.Path("/proc/cpuinfo").read_text().split() if sys.platform == "linux" else []
        if "avx512vl" in flags and "avx512dq" in flags and "avx512bw" in flags:
            self.assertEqual(facts["instruction_set"], "AVX-512")
        elif "avx2" in flags and "fma" in flags:
            self.assertEqual(facts["instruction_set"], "AVX2")
        solved = json.loads(run("solve", DATA / "five.mtx", "--json", "-").stdout)
        timed = json.loads(run("bench", "lap2d:3", "--backend", "cpu").stdout)
        for found in (solved["backend"], timed):
            self.assertEqual(found["instruction_set"], facts["instruction_set"])


class BadInput(Case):
    def test_bad_files_are_exit_2_name_file_and_line_and_write_nothing(self):
        good = DATA / "five.mtx"
        bad = {
            "absent.mtx": (None, ": No such file"),
            "empty.mtx": ("", ":1: "),
            "junk.mtx": ("hello\n", ":1: "),
            "short.mtx": (HEADER + "2 2 2\n1 1 1\n", ":3: "),
            "upper.mtx": (HEADER + "2 2 1\n1 2 1\n", ":3: "),
            "nan.mtx": (HEADER + "% c\n2 2 1\n1 1 nan\n", ":4: "),
            "skew.mtx": ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", ":1: "),
        }
        before = set(bad) - {"absent.mtx"} | {"result.json"}
        for name, (text, place) in bad.items():
            path = self.file(name, text) if text is not None else self.folder / name
            with self.subTest(name):
                x, result = self.folder / "x.mtx", self.folder / "result.json"
                done = run("solve", path, "-o", x, "--json", result)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Alibsolver: [^\n]+\n\Z")
                self.assertIn(f"{path}{place}", done.stderr)
                written = json.loads(result.read_text())
                self.assertEqual(written["status"], "INVALID")
                self.assertIn(str(path), written["message"])
                self.assertIsNone(written["analysis"]["factor_nnz"])
                self.assertEqual(run("generate", path, "-o", x).returncode, 2)
        self.assertEqual(set(os.listdir(self.folder)), before)
        b = self.file("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n2\n3\n4\n")
        done = run("solve", good, b)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{b}:2: the right-hand side has 4 rows, the matrix has order 5", done.stderr)

    def test_another_number_of_columns_than_nrhs_is_exit_2_and_nothing_is_solved(self):
        five, x = DATA / "five.mtx", self.folder / "x.mtx"
        header = "%%MatrixMarket matrix "
        files = {
            "array.mtx": (header + "array real general\n5 2\n" + "1\n" * 10, 2),
            "coordinate.mtx": (header + "coordinate real general\n5 3 1\n1 1 1\n", 3),
            "one.mtx": (header + "array real general\n5 1\n" + "1\n" * 5, 1),
        }
        for name, (text, columns) in files.items():
            b = self.file(name, text)
            for nrhs in (1, 2, 3, 4, 16, 1000000000):
                with self.subTest(name=name, nrhs=nrhs):
                    done = run("solve", five, b, "--nrhs", nrhs, "-o", x, "--json", "-")
                    result = json.loads(done.stdout)
                    if nrhs == columns:
                        self.assertEqual((done.returncode, result["solve"]["nrhs"], done.stderr), (0, nrhs, ""))
                        x.unlink()
                        continue
                    self.assertEqual((done.returncode, result["status"], x.exists()), (2, "INVALID", False))
                    self.assertEqual(done.stderr, f"libsolver: {b}: it has {columns} columns, --nrhs says {nrhs}\n")
                    self.assertIn(f"it has {columns} columns, --nrhs says {nrhs}", result["message"])
                    self.assertIsNone(result["factor"]["kind"])
            done = run("solve", five, b, "--json", "-")  # without --nrhs: what the file has
            self.assertEqual((done.returncode, json.loads(done.stdout)["solve"]["nrhs"]), (0, columns))
        none = self.file("none.mtx", header + "array real general\n5 0\n")
        done = run("solve", five, none, "--nrhs", "1")
        self.assertEqual((done.returncode, done.stderr), (2, f"libsolver: {none}:2: the right-hand side has no columns\n"))

    def test_bad_orderings_are_exit_2(self):
        for name, text, place in (
            ("twice", "1\n2\n2\n4\n5\n", ":3: the row 2 was already named in line 2"),
            ("outside", "1\n2\n3\n4\n6\n", ":5: the row 6 is outside 1..5"),
            ("short", "1\n2\n", ":2: the file names 2 of 5 rows"),
            ("word", "1\ntwo\n", ":2: the row 'two' is not a whole number"),
        ):
            path = self.file(name, text)
            done = run("solve", DATA / "five.mtx", "--ordering", path)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{path}{place}", done.stderr)

    def test_a_path_with_odd_characters_stays_one_line_and_valid_json(self):
        name = 'a "b"\n\\ \udcff.mtx'
        done = subprocess.run([TOOL, "solve", os.fsencode(name), "--json", "-"], capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertEqual(json.loads(done.stdout)["matrix"]["path"], 'a "b"\n\\ \ufffd.mtx')


class Resources(Case):
    def test_the_gpu_solves_or_its_absence_is_exit_4(self):
        code, result = self.solve("lap2d:30", "--backend", "gpu")
        if code == 0:
            self.assertEqual((result["status"], result["backend"]["solve"]), ("OK", "gpu"))
        else:
            self.assertIn((code, result["status"]), [(4, "NOT_BUILT"), (4, "CUDA")])

    def test_a_memory_limit_is_kept(self):
        code, result = self.solve("lap2d:60", "--memory-limit", "100K")
        self.assertEqual((code, result["status"]), (4, "OUT_OF_MEMORY"))
        self.assertEqual(self.solve("lap2d:60", "--memory-limit", "1G")[0], 0)

    def test_files_that_cannot_be_written_are_exit_4(self):
        for option in ("-o", "--json"):
            done = run("solve", "lap2d:3", option, self.folder / "no" / "such" / "folder")
            self.assertEqual(done.returncode, 4)
            self.assertIn("cannot be written: No such file", done.stderr)


class Solve(Case):
    def test_every_field_is_filled_after_success(self):
        code, result = self.solve("kkt2d:8", "--error-bounds")
        self.assertEqual(code, 0)
        empty = {key for key, value in leaves(result).items() if value is None}
        no_device = {"backend.device"} if result["backend"]["solve"] == "cpu" else set()
        self.assertEqual(empty, {"place", "backend.blas", "factor.failed_row"} | no_device)
        self.assertEqual(result["status"], "OK")
        self.assertEqual(result["message"], "")
        self.assertEqual(result["factor"]["kind"], "ldlt")
        self.assertEqual(list(result["factor"]["inertia"].values()), [128, 64, 0, True])
        self.assertLess(result["solve"]["forward_error"], 1e-8)
        self.assertGreater(result["seconds"]["total"], 0)

    def test_options_reach_the_library(self):
        self.assertEqual(self.solve("lap2d:9")[1]["factor"]["kind"], "cholesky")
        self.assertEqual(self.solve("lap2d:9", "--type=indefinite")[1]["factor"]["kind"], "ldlt")
        self.assertEqual(self.solve("lap2d:9", "--threads", "1")[1]["backend"]["threads"], 1)
        self.assertEqual(self.solve("lap2d:9", "--nrhs", "5")[1]["solve"]["nrhs"], 5)
        self.assertEqual(self.solve("kkt2d:9", "--refine", "0")[1]["solve"]["refinement_steps"], 0)
        for name in ("amd", "natural"):
            self.assertEqual(self.solve("lap2d:9", "--ordering", name)[1]["ordering"], name)
        backwards = self.file("order", "% from the last to the first\n" + "".join(f"{k}\n" for k in range(81, 0, -1)))
        self.assertEqual(self.solve("lap2d:9", "--ordering", backwards)[1]["ordering"], "user")

    def test_an_error_above_the_tolerance_and_indefinite_as_spd_are_exit_3(self):
        code, result = self.solve("lap2d:9", "--tol", "1e-30")
        self.assertEqual((code, result["status"]), (3, "INACCURATE"))
        code, result = self.solve(DATA / "five.mtx", "--type", "spd")
        self.assertEqual((code, result["status"]), (3, "NOT_POSITIVE_DEFINITE"))
        self.assertIsNone(result["solve"]["backward_error"])
        self.assertNotEqual(result["message"], "")

    def test_singular_systems_are_solved_only_if_consistent(self):
        code, result = self.solve(DATA / "two_islands.mtx")
        self.assertEqual((code, result["status"]), (0, "SINGULAR"))
        ones = self.file("ones.mtx", "%%MatrixMarket matrix array real general\n149 1\n" + "1\n" * 149)
        code, result = self.solve(DATA / "two_islands.mtx", ones)
        self.assertEqual((code, result["status"]), (3, "SINGULAR"))

    def test_solutions_are_written_and_right(self):
        for options, suffix in (([], ".mtx"), (["--nrhs", "3"], ".mtx.gz")):
            x = self.folder / f"x{suffix}"
            path = DATA / "kkt2d_20.mtx"
            self.assertEqual(run("solve", path, "-o", x, *options).returncode, 0)
            checked = subprocess.run([CHECK, path, x], capture_output=True, text=True, check=True)
            self.assertLessEqual(float(checked.stdout), 1e-14)
        self.assertEqual(sorted(os.listdir(self.folder)), ["x.mtx", "x.mtx.gz"])
        x, again = self.folder / "x5.mtx", self.folder / "b.mtx"
        self.assertEqual(run("solve", DATA / "five.mtx", DATA / "five_b.mtx", "-o", x).returncode, 0)
        checked = subprocess.run([CHECK, DATA / "five.mtx", x, DATA / "five_b.mtx"], capture_output=True, text=True)
        self.assertLessEqual(float(checked.stdout), 1e-14)
        self.assertEqual(run("solve", DATA / "five.mtx", x, "-o", again).returncode, 0)

    def test_zero_and_one_unknown(self):
        empty = self.file("empty.mtx", HEADER + "0 0 0\n")
        self.assertEqual(self.solve(empty)[0], 0)
        one = self.file("one.mtx", HEADER + "1 1 1\n1 1 -3\n")
        code, result = self.solve(one)
        self.assertEqual((code, result["factor"]["inertia"]["negative"]), (0, 1))

    def test_the_log_tells_each_phase_on_standard_error(self):
        done = run("solve", DATA / "kkt2d_20.mtx", "--quiet", "--log", "--backend", "cpu")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual([line.split(":")[:2] for line in done.stderr.splitlines()],
            [["log", " analysis"], ["log", " factorization"], ["log", " solve"]])

    def test_report_is_for_people_and_quiet_is_silent(self):
        done = run("solve", DATA / "kkt2d_20.mtx")
        for word in ("matrix ", "analysis ", "factor ", "inertia ", "solution ", "time ", "SOLVED"):
            self.assertIn(f"\n{word}", "\n" + done.stdout)
        self.assertEqual(done.stderr, "")
        done = run("solve", DATA / "kkt2d_20.mtx", "--quiet")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))


class Compare(Case):
    """CHOLMOD is in a program beside the tool, if it was built."""

    def setUp(self):
        super().setUp()
        self.built = pathlib.Path(TOOL).with_name("libsolver-compare").exists()

    def test_both_solve_the_same_system(self):
        if not self.built:
            self.skipTest("built without CHOLMOD")
        for system in (["lap2d:30"], [DATA / "vec3d_3.mtx", "--threads", "1"]):
            done = run("solve", *system, "--compare", "--json", "-")
            other = json.loads(done.stdout)["compare"]
            self.assertEqual((done.returncode, done.stderr, other["message"]), (0, "", ""))
            self.assertTrue(other["solver"].startswith("CHOLMOD"))
            self.assertLess(other["backward_error"], 1e-13)
            self.assertGreater(min(other["analyze"], other["factorize"], other["solve"]), 0)
        self.assertRegex(run("solve", "lap2d:30", "--compare").stdout, r"\nCHOLMOD .*: analyze .* backward error \d")

    def test_a_right_hand_side_goes_along_and_an_indefinite_matrix_is_said_to_be_one(self):
        if not self.built:
            self.skipTest("built without CHOLMOD")
        done = run("solve", DATA / "five.mtx", DATA / "five_b.mtx", "--compare", "--json", "-")
        other = json.loads(done.stdout)["compare"]
        self.assertEqual(done.returncode, 0)
        self.assertIn("not positive definite", other["message"])
        self.assertIsNone(other["backward_error"])

    def test_without_the_program_it_is_exit_4_and_nothing_is_solved(self):
        alone = self.folder / "libsolver"
        shutil.copy(TOOL, alone)
        x = self.folder / "x.mtx"
        place = {**os.environ, "LD_LIBRARY_PATH": str(pathlib.Path(TOOL).parent.parent)}
        done = subprocess.run([alone, "solve", DATA / "five.mtx", "--compare", "-o", x], capture_output=True, text=True, env=place)
        self.assertEqual((done.returncode, done.stdout, x.exists()), (4, "", False))
        self.assertRegex(done.stderr, "^libsolver: --compare: .*CHOLMOD")


class Generate(Case):
    def test_generated_files_read_back_to_the_same_system(self):
        for specification in ("lap2d:7", "lap3d:4", "vec3d:3", "kkt2d:5"):
            plain, zipped = self.folder / "p.mtx", self.folder / "p.mtx.gz"
            self.assertEqual(run("generate", specification, "-o", plain).returncode, 0)
            self.assertEqual(run("generate", plain, "-o", zipped).returncode, 0)
            body = [line for line in plain.read_text().splitlines() if not line.startswith("% ")]
            with gzip.open(zipped, "rt") as file:
                self.assertEqual(body, [line for line in file.read().splitlines() if not line.startswith("% ")])
            direct, stored = self.solve(specification)[1], self.solve(zipped)[1]
            for part in ("analysis", "factor", "solve"):
                self.assertEqual(direct[part], stored[part])

    def test_a_link_is_followed_and_standard_output_serves_too(self):
        target, link = self.folder / "target.mtx", self.folder / "link.mtx"
        target.write_text("old")
        link.symlink_to(target)
        self.assertEqual(run("generate", "lap2d:2", "-o", link).returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(run("generate", "lap2d:2", "-o", "-").stdout, target.read_text())

    def test_a_matrix_comes_from_standard_input_too(self):
        matrix = run("generate", "lap2d:9", "-o", "-").stdout
        done = subprocess.run([TOOL, "solve", "-", "-o", "-"], input=matrix, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.splitlines()[1]), (0, "81 1"))
        done = subprocess.run([TOOL, "solve", "-"], input=matrix[:60], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("libsolver: -:", done.stderr)

    def test_a_page_on_standard_output_is_alone_there(self):
        done = run("solve", "lap2d:3", "--html", "-")
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>") and done.stdout.endswith("</html>\n"))


class Plot(Case):
    def plot(self, problem, *options):
        picture = self.folder / "picture.svg"
        done = run("plot", problem, "-o", picture, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = picture.read_text()
        self.assertEqual(xml.dom.minidom.parseString(text).documentElement.tagName, "svg")
        return text

    def test_the_entries_of_l_are_those_that_the_analysis_foresees(self):
        """They are counted row by row from the elimination tree, with nothing of the library."""
        for problem in ("lap2d:20", "lap3d:7", "kkt2d:9", DATA / "vec3d_3.mtx", DATA / "two_islands.mtx", DATA / "path.mtx"):
            for ordering in ("amd", "nd", "natural"):
                options = ["--backend", "cpu", "--ordering", ordering]
                foreseen = self.solve(problem, *options)[1]["analysis"]["factor_nnz"]
                text = self.plot(problem, *options)
                self.assertIn(f">L: {foreseen} entries, ", text)
                self.assertIn(f">A in the order of elimination ({ordering})<", text)

    def test_it_has_a_title_and_follows_a_dark_page(self):
        text = self.plot(DATA / "five.mtx")
        self.assertIn("five.mtx: order 5</title>", text)
        for part in ("<desc ", "prefers-color-scheme:dark", "A as given: "):
            self.assertIn(part, text)

    def test_small_orders_are_drawn_too(self):
        for n in (0, 1, 2):
            entries = "".join(f"{i} {i} 1\n" for i in range(1, n + 1))
            self.plot(self.file("a.mtx", HEADER + f"{n} {n} {n}\n{entries}"))

    def test_failures_leave_nothing(self):
        five = self.file("a.mtx", (DATA / "five.mtx").read_text())
        self.assertEqual(run("plot", five).returncode, 1)
        self.assertEqual(run("plot", five, "-o", five).returncode, 1)
        self.assertEqual(run("plot", "no.mtx", "-o", self.folder / "x.svg").returncode, 2)
        self.assertEqual(run("plot", five, "-o", self.folder / "no" / "x.svg").returncode, 4)
        self.assertEqual(run("plot", "lap2d:50", "-o", self.folder / "x.svg", "--memory-limit", "1M").returncode, 4)
        self.assertEqual(os.listdir(self.folder), ["a.mtx"])


class Bench(Case):
    def test_one_line_a_problem_with_every_field(self):
        done = run("bench", "lap2d:8", "kkt2d:6", "--nrhs", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["name"] for line in lines], ["lap2d:8", "kkt2d:6"])
        for line in lines:
            self.assertEqual(
                list(line),
                """schema version name n nnz factor_nnz factor_flops kind backend threads instruction_set precision
                factor_precision device analyze_s factorize_s refactorize_s solve_s refined_solve_s backward_error tolerance
                refined_backward_error refinement_steps host_bytes_peak device_bytes status message place""".split(),
            )
            self.assertEqual(list(line["solve_s"]), ["1", "16", "3"])
            on_cpu = ["device"] if line["backend"] == "cpu" else []
            self.assertEqual([name for name, value in leaves(line).items() if value is None], on_cpu + ["place"])
            self.assertLessEqual(line["refined_backward_error"], line["tolerance"])
            self.assertLess(line["backward_error"], 1e-10)

    def test_profiles_are_written_where_there_is_a_gpu(self):
        done = run("bench", "lap2d:12", "kkt2d:6", "--backend", "gpu", "--profile", "p", cwd=self.folder)
        if done.returncode == 4:
            self.assertEqual(os.listdir(self.folder), [])
            self.assertIn(json.loads(done.stdout.splitlines()[0])["status"], ("NOT_BUILT", "CUDA"))
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        fields = ["refactorize_device_s", "factor_device_s", "factor_levels", "factor_tasks"]
        for line, made_there in zip(lines, (True, False)): # kkt2d is indefinite
            at = list(line).index("refactorize_s") + 1
            self.assertEqual(list(line)[at : at + 4], fields)
            self.assertEqual([line[field] is not None for field in fields], [made_there] * 4)
        names = [f"p.{name}.{suffix}" for name in ("kkt2d_6", "lap2d_12") for suffix in ("json", "svg")]
        of_factor = ["p.lap2d_12.factor.json", "p.lap2d_12.factor.svg"]
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names + of_factor))
        profile = json.loads((self.folder / of_factor[0]).read_text())
        for part in ("rows", "kinds"):
            self.assertEqual(sum(row["tasks"] for row in profile[part]), profile["tasks"])
            self.assertAlmostEqual(sum(row["flops"] for row in profile[part]), profile["flops"], delta=1)
            self.assertAlmostEqual(sum(row["added_s"] for row in profile[part]), profile["traced_s"], delta=1e-9)
        self.assertTrue(all(value is not None for value in leaves(profile).values()))
        picture = xml.dom.minidom.parse(str(self.folder / of_factor[1]))
        self.assertEqual(picture.documentElement.tagName, "svg")
        for name in names[::2]:
            profile = json.loads((self.folder / name).read_text())
            rows = profile["rows"]
            self.assertEqual(sum(row["tasks"] for row in rows), profile["tasks"])
            self.assertEqual(sum(row["bytes"] for row in rows), profile["bytes"])
            self.assertAlmostEqual(sum(row["added_s"] for row in rows), profile["traced_s"], delta=1e-9)
            self.assertTrue(all(value is not None for value in leaves(profile).values()))
            picture = xml.dom.minidom.parse(str(self.folder / name.replace(".json", ".svg")))
            self.assertEqual(picture.documentElement.tagName, "svg")

    def test_a_bad_problem_does_not_stop_the_others(self):
        result = self.folder / "bench.json"
        done = run("bench", "no/such.mtx", "lap2d:3", "--json", result)
        self.assertEqual(done.returncode, 2)
        lines = [json.loads(line) for line in result.read_text().splitlines()]
        self.assertEqual([line["status"] for line in lines], ["INVALID", "OK"])
        self.assertIsNone(lines[0]["analyze_s"])


unittest.main()
