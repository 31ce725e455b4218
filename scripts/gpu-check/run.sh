#!/bin/sh
# Runs the checks of a packed copy: sh run.sh [--report FILE] [--quick] [--only ID,ID] [--bdf 0000:0b:00.0] …
#
# The report is gpu-check.json in $OUT where that is set, or in the folder from which this is called. Nothing is written
# beside this file: what is unpacked goes to a folder of its own under $TMPDIR or /tmp, and away again.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/node.sh"

status=0
"$node" "$here/gpu-check/dist/main.js" --report "${OUT:-$PWD}/gpu-check.json" "$@" || status=$?
exit "$status"
