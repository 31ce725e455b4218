#!/bin/sh
# Runs the checks of a packed copy: sh run.sh [--report FILE] [--quick] [--only ID,ID] [--bdf 0000:0b:00.0] …
#
# The report is gpu-check.json in $OUT or, if OUT is not set, in the current folder. Node is unpacked to a temporary
# folder in $TMPDIR or /tmp; the folder of this script is not changed.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/node.sh"

status=0
"$node" "$here/gpu-check/dist/main.js" --report "${OUT:-$PWD}/gpu-check.json" "$@" || status=$?
exit "$status"
