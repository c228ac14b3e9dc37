#!/usr/bin/env python3
"""Runs a program and compares what it prints, standard output and then errors, with a file.

usage: check_output.py EXPECTED EXIT_CODE PROGRAM [ARGUMENT...]

Lines are compared as they are, except that {LOW..HIGH} in EXPECTED stands for any number from LOW to HIGH.
A program that ends with 77 lacks something of this machine, a GPU: the test is skipped, or fails where the
environment variable LIBSOLVER_TEST_GPU is `required`.
SPDX-License-Identifier: BSD-3-Clause"""
import os
import pathlib
import re
import subprocess
import sys

RANGE = re.compile(r"\{([^{}]+)\.\.([^{}]+)\}")
NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"


def matches(expected, line):
    """True if the line is the expected one, numbers in their ranges."""
    parts = RANGE.split(expected)  # text, low, high, text, low, high, ..., text
    found = re.fullmatch(NUMBER.join(map(re.escape, parts[::3])), line)
    return bool(found) and all(
        float(low) <= float(number) <= float(high)
        for low, high, number in zip(parts[1::3], parts[2::3], found.groups())
    )


def main():
    expected_file, exit_code, *command = sys.argv[1:]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).splitlines()
    if done.returncode == 77 and os.environ.get("LIBSOLVER_TEST_GPU") != "required":
        print(*lines, "skipped", sep="\n")
        return 77
    expected = pathlib.Path(expected_file).read_text().splitlines()
    failures = [
        f"line {k + 1}: expected {wanted!r}\n        printed  {line!r}"
        for k, (wanted, line) in enumerate(zip(expected, lines))
        if not matches(wanted, line)
    ]
    if len(lines) != len(expected):
        failures.append(f"{len(expected)} lines expected, {len(lines)} printed")
    if done.returncode != int(exit_code):
        failures.append(f"exit code {exit_code} expected, it was {done.returncode}")
    if failures:
        print(*failures, "", "all that was printed:", *lines, sep="\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
