# Sourced by run.sh and stack.sh, which set $here to this folder. Creates the scratch folder $work, which is removed
# when the shell exits. Sets $node to the packed Node, unpacked in $work, or to the one on PATH if the copy has none.
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
    echo "${0##*/}: xz or python3 is required to unpack Node; found neither" >&2
    exit 2
  fi
  if [ "$(sha256sum "$node" | cut -d ' ' -f 1)" != "$(cat "$here/node.sha256")" ]; then
    echo "${0##*/}: node.xz is damaged: its content does not match node.sha256" >&2
    exit 2
  fi
  chmod +x "$node"
else
  node=$(command -v node) || { echo "${0##*/}: this copy has no packed Node, and node is not on PATH" >&2; exit 2; }
fi

# Cache of the CUDA driver for compiled kernels. Without one, each process would compile them again.
: "${CUDA_CACHE_PATH:=$work/cuda-cache}"
export CUDA_CACHE_PATH
