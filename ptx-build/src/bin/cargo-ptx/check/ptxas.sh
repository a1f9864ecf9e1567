#!/bin/sh
# Stands for ptxas while `cargo ptx check` runs a program: what it makes is the PTX itself, which the driver here loads.
# Its version is one that every Triton knows, with a word of its own, so that a cache keeps this apart from machine code.
for word; do
    case $word in
        --version | -V) echo "Cuda compilation tools, release 12.9, V12.9.0 (cargo ptx check)" && exit ;;
        # So XLA learns which versions of PTX there are.
        ".version 99.99") echo "ptxas fatal   : Unsupported .version 99.99; current version is '9.3'" >&2 && exit 1 ;;
    esac
done
from= to=
while [ $# -gt 0 ]; do
    case $1 in
        -o | --output-file) to=$2 && shift ;;
        -*) ;;
        *) if [ -f "$1" ]; then from=$1; fi ;;
    esac
    shift
done
if [ -z "$from" ] || [ -z "$to" ]; then
    echo "ptxas of cargo ptx check: name a file of PTX, and another after -o" >&2
    exit 1
fi
exec cp "$from" "$to"
