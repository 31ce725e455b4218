#!/bin/sh
# Runs the checks of a packed copy: sh run.sh [--report FILE] [--quick] [--only ID,ID] [--bdf 0000:0b:00.0] …
#
# The report is gpu-check.json in $OUT where that is set, or in the folder from which this is called. Nothing is written
# beside this file: what is unpacked goes to a folder of its own under $TMPDIR or /tmp, and away again.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpunvme-gpu-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if [ -f "$here/node.xz" ]; then
  node=$work/node
  if command -v xz >/dev/null 2>&1; then
    xz -dc "$here/node.xz" >"$node"
  elif command -v python3 >/dev/null 2>&1; then
    python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"))' \
      "$here/node.xz" "$node"
  else
    echo 'run.sh: expected xz or python3 to unpack Node with, found neither' >&2
    exit 2
  fi
  if [ "$(sha256sum "$node" | cut -d ' ' -f 1)" != "$(cat "$here/node.sha256")" ]; then
    echo 'run.sh: node.xz is damaged' >&2
    exit 2
  fi
  chmod +x "$node"
else
  node=$(command -v node) || { echo 'run.sh: this copy has no Node, and there is none on PATH' >&2; exit 2; }
fi

# Where the driver keeps what it has compiled: each process would compile the kernels again.
: "${CUDA_CACHE_PATH:=$work/cuda-cache}"
export CUDA_CACHE_PATH
status=0
"$node" "$here/gpu-check/dist/main.js" --report "${OUT:-$PWD}/gpu-check.json" "$@" || status=$?
exit "$status"
