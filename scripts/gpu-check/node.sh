# For run.sh and stack.sh, which have set `here` to this folder: makes $work, a scratch folder that goes with the shell,
# and $node, the packed Node unpacked to it, or the one on PATH where the copy was packed without.
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
    echo "${0##*/}: expected xz or python3 to unpack Node with, found neither" >&2
    exit 2
  fi
  if [ "$(sha256sum "$node" | cut -d ' ' -f 1)" != "$(cat "$here/node.sha256")" ]; then
    echo "${0##*/}: node.xz is damaged" >&2
    exit 2
  fi
  chmod +x "$node"
else
  node=$(command -v node) || { echo "${0##*/}: this copy has no Node, and there is none on PATH" >&2; exit 2; }
fi

# Where the driver keeps what it has compiled: each process would compile the kernels again.
: "${CUDA_CACHE_PATH:=$work/cuda-cache}"
export CUDA_CACHE_PATH
