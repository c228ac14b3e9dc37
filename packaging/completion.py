#!/usr/bin/env python3
"""Completion of the tool's commands and options for zsh and fish, from `libsolver help --format json`; bash's comes
from `libsolver help --format bash`.

usage: completion.py zsh|fish TOOL > FILE
SPDX-License-Identifier: BSD-3-Clause"""
import json
import subprocess
import sys

FILE = "FILE" # as a value, or one of several


def words(value):
    """The words that an option takes; [] where it takes something else."""
    choices = value.split("|") if value else []
    return [w for w in choices if w.islower() or w.isdigit()] if len(choices) > 1 else []


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_spec(option, name):
    text = option["help"].translate({ord("["): "(", ord("]"): ")", ord(":"): ";"})
    spec = f"{name}[{text}]"
    value = option["value"]
    if value:
        several = words(value)
        action = f"({' '.join(several)})" if several else "_files" if FILE in value or value == "PREFIX" else " "
        if several and FILE in value:
            action = "{compadd " + " ".join(several) + "; _files}"
        spec += f":{value.replace(':', ';')}:{action}"
    return quoted(spec)


def names(option):
    return [option["name"], *([option["alias"]] if option["alias"] else [])]


def zsh(table):
    print("#compdef libsolver\n# completion for zsh, written by packaging/completion.py\n\n_libsolver()\n{")
    print("    local -a commands\n    commands=(")
    for command in table["commands"]:
        print(f"        {quoted(command['name'] + ':' + command['help'])}")
    print("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi")
    print("    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in")
    for command in table["commands"]:
        print(f"    {command['name']})\n        _arguments \\")
        for option in table["options"]:
            if option["commands"][command["name"]]:
                for name in names(option):
                    print(f"            {zsh_spec(option, name)} \\")
        operands = command["operands"]
        if command["name"] == "help":
            print(f"            '1:command:({' '.join(c['name'] for c in table['commands'])})'")
        else:
            print("            '*:file:_files'" if operands and "PROBLEM -o" not in operands else "            '*: :'")
        print("        ;;")
    print("    esac\n}\n\n_libsolver \"$@\"")


def fish(table):
    print("# completion for fish, written by packaging/completion.py")
    every = " ".join(c["name"] for c in table["commands"])
    print(f"set -l commands {every}\ncomplete -c libsolver -f")
    for command in table["commands"]:
        print(f"complete -c libsolver -n \"not __fish_seen_subcommand_from $commands\" -a {command['name']} "
            f"-d {quoted(command['help'])}")
        if command["operands"].startswith(("MATRIX", "PROBLEM...")):
            print(f"complete -c libsolver -n \"__fish_seen_subcommand_from {command['name']}\" -F")
    for option in table["options"]:
        known = " ".join(c for c, knows in option["commands"].items() if knows)
        several, value = words(option["value"]), option["value"]
        takes = "" if not value else " -r -F" if FILE in value or value == "PREFIX" else " -x"
        takes += f" -a {quoted(' '.join(several))}" if several else ""
        for name in names(option):
            kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            print(f"complete -c libsolver -n \"__fish_seen_subcommand_from {known}\" {kind}{takes} "
                f"-d {quoted(option['help'])}")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("zsh", "fish"):
        sys.exit(__doc__)
    table = json.loads(subprocess.run([sys.argv[2], "help", "--format", "json"], check=True, capture_output=True,
        text=True).stdout)
    {"zsh": zsh, "fish": fish}[sys.argv[1]](table)


if __name__ == "__main__":
    main()
