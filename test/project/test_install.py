#!/usr/bin/env python3
"""What is installed is complete: headers, the README's program with the README's command and by CMake,
the examples, the tool, what lies beside it.

usage: test_install.py BUILD_FOLDER, with MESON, CC, CFLAGS, CXX ("": no C++), CHOLMOD (1: its headers are there), CUDA
(the toolkit's folder, "": none) in the environment.
SPDX-License-Identifier: BSD-3-Clause"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from folder_case import FolderCase

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Werror"]
LANGUAGES = {"C99": ["CC", "c", "-std=c99"], "C++17": ["CXX", "c++", "-std=c++17"]}


def words(variable):
    return shlex.split(os.environ.get(variable, ""))


def run(command, **options):
    """Standard output; a failure shows everything."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def setUpModule():
    """Installs below a temporary folder and lets pkg-config look there."""
    global PLACE, ROOT, PREFIX, LIBRARIES, ENVIRONMENT
    PLACE = tempfile.TemporaryDirectory()
    ROOT = pathlib.Path(PLACE.name) / "root"
    run([os.environ["MESON"], "install", "-C", str(BUILD), "--no-rebuild", "--destdir", str(ROOT)])
    found = list(ROOT.rglob("libsolver.pc"))
    assert len(found) == 1, found
    LIBRARIES = found[0].parent.parent
    PREFIX = next(ROOT.rglob("libsolver.h")).parent.parent
    ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    ENVIRONMENT |= {
        "PKG_CONFIG_PATH": str(found[0].parent),
        "PKG_CONFIG_SYSROOT_DIR": str(ROOT),
        "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",  # the prefix may be /usr
        "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1",
    }


def tearDownModule():
    PLACE.cleanup()


def flags(*arguments):
    return shlex.split(run(["pkg-config", *arguments, "libsolver"], env=ENVIRONMENT))


def run_installed(program, *arguments):
    """A program that the caller compiled; without a system-wide installation it is told where the library is."""
    return run([str(program), *arguments], env={**ENVIRONMENT, "LD_LIBRARY_PATH": str(LIBRARIES)})


def installed_headers():
    return sorted((PREFIX / "include").rglob("*.h"))


class Case(FolderCase):
    def compiler(self, language):
        """The command that compiles this language, without files."""
        variable, name, standard = LANGUAGES[language]
        if not words(variable):
            self.skipTest(f"no {language} compiler")
        return [*words(variable), "-x", name, standard, *WARNINGS]


class Headers(Case):
    def compiles_alone(self, language):
        compiler = self.compiler(language)
        self.assertGreaterEqual(len(installed_headers()), 3)
        for header in installed_headers():
            if header.name == "libsolver_cholmod.h" and os.environ.get("CHOLMOD") != "1":
                continue
            with self.subTest(header=header.name):
                twice = self.file("header.c", f"#include <{header.name}>\n" * 2 + "typedef int nothing_else;\n")
                run([*compiler, *flags("--cflags"), "-fsyntax-only", str(twice)])

    def test_each_compiles_alone_as_c99(self):
        self.compiles_alone("C99")

    def test_each_compiles_alone_as_cpp17(self):
        self.compiles_alone("C++17")

    def links(self, language):
        source = self.file(
            "version.c",
            """#include <libsolver.h>
            #include <stdio.h>
            int main(void)
            {
                libsolver_options options;
                libsolver_options_default(&options);
                printf("%s %d.%d.%d %s\\n", libsolver_version(), LIBSOLVER_VERSION_MAJOR, LIBSOLVER_VERSION_MINOR,
                       LIBSOLVER_VERSION_PATCH, libsolver_status_name(LIBSOLVER_OK));
                return options.kind != LIBSOLVER_KIND_AUTO;
            }
""",
        )
        program = self.folder / "version"
        libraries = ["-x", "none", *flags("--cflags", "--libs")]  # they are not in the language of the source
        run([*self.compiler(language), *words("CFLAGS"), str(source), "-o", str(program), *libraries])
        version = run(["pkg-config", "--modversion", "libsolver"], env=ENVIRONMENT).strip()
        self.assertEqual(run_installed(program), f"{version} {version} OK\n")

    def test_a_c99_program_links(self):
        self.links("C99")

    def test_a_cpp17_program_links(self):
        self.links("C++17")


class Readme(Case):
    """The program and the command are taken out of README.md."""

    def setUp(self):
        super().setUp()
        section = (REPOSITORY / "README.md").read_text().split("\n## From C\n")[1].split("\n## ")[0]
        self.program = re.search(r"```c\n(.*?)```", section, re.DOTALL).group(1)
        self.command = re.search(r"```\n.*&& (cc .*)\n```", section).group(1)
        self.prints = re.search(r"It prints `(.*?)`", section).group(1) + "\n"
        self.source = self.file("example.c", self.program)

    def test_program_prints_what_the_readme_says(self):
        cc = f'cc() {{ command {shlex.join([*words("CC"), *words("CFLAGS")])} "$@"; }}'
        run(["sh", "-c", f"{cc}; {self.command}"], cwd=self.folder, env=ENVIRONMENT)
        self.assertEqual(run_installed(self.folder / "a.out"), self.prints)

    @staticmethod
    def unmoved(word):
        """Another library's file, which pkg-config takes to have moved below ROOT with us."""
        return word if os.path.exists(word) else word.removeprefix(str(ROOT))

    def test_program_links_with_the_static_library(self):
        archive = LIBRARIES / "libsolver.a"
        if not archive.exists():
            self.skipTest("no static library was built (default_library)")
        libraries = flags("--static", "--libs")
        self.assertIn("-lsolver", libraries)
        libraries = [str(archive) if word == "-lsolver" else self.unmoved(word) for word in libraries]
        program = self.folder / "static"
        options = [*words("CFLAGS"), "-std=c11", *flags("--static", "--cflags")]
        run([*words("CC"), *options, str(self.source), "-o", str(program), *libraries])
        self.assertEqual(run([str(program)], env=ENVIRONMENT), self.prints)  # finds no shared library

    def test_program_is_the_first_example(self):
        example = (REPOSITORY / "examples/embed.c").read_text()
        self.assertEqual(self.program, example[example.index("#include") :])


class CMake(Case):
    """find_package(libsolver) from where it was installed."""

    PROJECT = """cmake_minimum_required(VERSION 3.16)
        project(example C)
        find_package(libsolver 0.1 REQUIRED)
        foreach(kind libsolver static)
          if(TARGET libsolver::${kind})
            add_executable(example_${kind} example.c)
            target_link_libraries(example_${kind} libsolver::${kind})
          endif()
        endforeach()
"""

    def test_program_is_built_with_each_library(self):
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        self.file("CMakeLists.txt", self.PROJECT)
        self.file("example.c", (REPOSITORY / "examples/embed.c").read_text())
        # a launcher, ccache, may stand before the compiler
        options = [f"-DCMAKE_C_COMPILER={words('CC')[-1]}", f"-DCMAKE_C_FLAGS={' '.join(words('CFLAGS'))}",
            f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCMAKE_BUILD_TYPE=Release"]
        run(["cmake", "-S", ".", "-B", "build", *options], cwd=self.folder, env=ENVIRONMENT)
        run(["cmake", "--build", "build"], cwd=self.folder, env=ENVIRONMENT)
        kinds = [k for k, file in [("libsolver", "libsolver.so"), ("static", "libsolver.a")] if (LIBRARIES / file).exists()]
        self.assertTrue(kinds)
        for kind in kinds:
            self.assertEqual(run([str(self.folder / f"build/example_{kind}")], env=ENVIRONMENT), "OK: 1 2 3\n")

    def test_a_later_version_is_not_found(self):
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        self.file("CMakeLists.txt", self.PROJECT.replace("libsolver 0.1", "libsolver 9.0"))
        done = subprocess.run(["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={PREFIX}"], cwd=self.folder,
            env=ENVIRONMENT, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("version: 0.1", done.stderr)


class Beside(Case):
    """What else is installed."""

    def test_manual_page_and_completions_know_every_option(self):
        table = json.loads(run([str(PREFIX / "bin/libsolver"), "help", "--format", "json"], env=ENVIRONMENT))
        texts = {name: (PREFIX / "share" / name).read_text() for name in ["man/man1/libsolver.1",
            "bash-completion/completions/libsolver", "zsh/site-functions/_libsolver",
            "fish/vendor_completions.d/libsolver.fish"]}
        self.assertGreater(len(table["options"]), 10)
        for name, text in texts.items():
            for option in table["options"]:
                word = option["name"].replace("-", "\\-") if name.endswith(".1") else option["name"]
                if name.endswith(".fish"):
                    word = f"-l {word[2:]} " if word.startswith("--") else f"-s {word[1:]} "
                self.assertIn(word, text, name)

    def test_shells_take_the_completions(self):
        for shell, name in [("bash", "bash-completion/completions/libsolver"), ("zsh", "zsh/site-functions/_libsolver"),
            ("fish", "fish/vendor_completions.d/libsolver.fish")]:
            if shutil.which(shell):
                run([shell, "-n", str(PREFIX / "share" / name)])

    def test_guides_and_licences_are_there(self):
        for name in ["README.md", "CITATION.cff", "LICENSE", "THIRD_PARTY.md", "licences/Apache-2.0.txt", "doc/phases.md",
            "examples/embed.c"]:
            self.assertTrue((PREFIX / "share/doc/libsolver" / name).exists(), name)
        self.assertEqual(list(PREFIX.rglob("libsolver-compare")), [])

    def test_nothing_names_the_folder_it_was_built_in(self):
        named = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and not path.is_symlink()
            and any(str(folder).encode() in path.read_bytes() for folder in (REPOSITORY, BUILD))]
        self.assertEqual(named, [])


class Examples(Case):
    def test_each_compiles_with_pkg_config_alone(self):
        sources = sorted((REPOSITORY / "examples").glob("*.c"))
        self.assertGreaterEqual(len(sources), 6)
        for source in sources:
            needs_cholmod = "libsolver_cholmod.h" in source.read_text()
            if needs_cholmod and os.environ.get("CHOLMOD") != "1":
                continue
            cuda = []
            if "cuda_runtime" in source.read_text():
                if not os.environ.get("CUDA"):
                    continue
                cuda = ["-isystem", os.environ["CUDA"] + "/include", "-L" + os.environ["CUDA"] + "/lib64", "-lcudart"]
            with self.subTest(example=source.name):
                libraries = [*flags("--cflags", "--libs"), *["-lcholmod"] * needs_cholmod, *cuda, "-lm"]
                options = ["-std=c11", *WARNINGS, *words("CFLAGS"), "-o", str(self.folder / source.stem)]
                run([*words("CC"), *options, str(source), *libraries])


class Tool(Case):
    def test_tool_solves_where_it_was_installed(self):
        """Without LD_LIBRARY_PATH, with the library that was installed with it."""
        tool = PREFIX / "bin/libsolver"
        libraries = run(["ldd", str(tool)], env=ENVIRONMENT)
        if (LIBRARIES / "libsolver.so").exists():
            place = re.search(r"libsolver\.so\S* => (\S+)", libraries).group(1)
            self.assertEqual(os.path.realpath(place), os.path.realpath(LIBRARIES / "libsolver.so"))
        output = self.folder / "x.mtx"
        data = REPOSITORY / "data"
        run([str(tool), "solve", "--quiet", data / "five.mtx", data / "five_b.mtx", "-o", output], env=ENVIRONMENT)
        x = [float(line) for line in output.read_text().splitlines()[-5:]]
        for computed, expected in zip(x, [1, 2, 3, 4, 5]):
            self.assertAlmostEqual(computed, expected, delta=1e-12)


if __name__ == "__main__":
    unittest.main(verbosity=2)
