#!/bin/sh
# gather_objects.sh LD OBJCOPY OUTPUT OBJECT...: one object of all, in which only libsolver_* are
# names that other objects see.
set -e
ld=$1 objcopy=$2 output=$3
shift 3
"$ld" -r --force-group-allocation -o "$output" "$@"
"$objcopy" --wildcard --keep-global-symbol='libsolver_*' "$output"
