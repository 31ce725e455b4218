#!/bin/sh
# Runs the whole stack of a packed copy on the GPU of this machine, with a simulated drive: sh stack.sh
#
# Inspects the machine with gpunvme, benchmarks the engines, loads a model with the engine cuda, and streams a model
# into GPU memory and verifies it there. Output and measurements go to $OUT/stack or, if OUT is not set, to ./stack.
# Opens no drive of the machine, and changes none of its settings.
set -u
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/node.sh"
out=${OUT:-$PWD}/stack
mkdir -p "$out"

# step NAME LIMIT COMMAND...: runs a command with a time limit in seconds. If it fails, the next steps still run.
failed=
step() {
  name=$1 limit=$2
  shift 2
  printf '\n== %s: %s\n' "$name" "$*" | sed "s|$node|node|; s|$here/||g" | tee "$out/$name.txt"
  { timeout "$limit" "$@"; echo "$?" >"$work/status"; } 2>&1 | tee -a "$out/$name.txt"
  status=$(cat "$work/status")
  echo "-- $name: exit status $status"
  # Exit status 7 of doctor: only the simulator is usable, which is correct on a machine without a drive.
  case $name:$status in *:0 | doctor*:7) ;; *) failed="$failed $name" ;; esac
}
gpunvme() {
  name=$1 limit=$2
  shift 2
  step "$name" "$limit" "$node" "$here/node_modules/@gpunvme/tools/bin/gpunvme.js" "$@"
}

gpunvme doctor 60 doctor
gpunvme doctor-verbose 60 doctor --verbose
gpunvme doctor-json 60 doctor --verbose --json
gpunvme topology 60 list --topology
gpunvme list 60 list
gpunvme p2p 60 bench p2p
gpunvme p2p-probe 60 bench p2p --probe --real-time
rm -rf "$work/machine"
gpunvme doctor-save 60 doctor --save "$work/machine"
tar -C "$work" -czf "$out/machine.tgz" machine
gpunvme bench 120 bench --real-time --profile ideal --engines host,cpu-kernel,cuda --bs 4KiB,128KiB --qd 1,32 \
  --rw randread --size 256MiB --time 0.5 --warm-up 0.2 --cool-down 0 --repeats 3 -o "$out/bench.json"
# Each verb with the engine cuda, on a drive with the profile ideal or the default one.
cuda="--real-time --engine cuda"
gpunvme demo 60 demo --size 96MiB --keep "$work/model.gguf" $cuda --profile ideal
gpunvme demo-queues 60 demo --size 64MiB $cuda --queues 4 --depth 64
gpunvme load 90 load "$work/model.gguf" $cuda --profile ideal
gpunvme pack 60 pack "$work/model.gguf" --image "$work/drive.img" $cuda
gpunvme verify 60 models verify --image "$work/drive.img" $cuda
gpunvme verify-by-host 60 models verify --image "$work/drive.img"
gpunvme load-compare 90 load "$work/model.gguf" --image "$work/drive.img" $cuda --compare
gpunvme load-json 90 load --image "$work/drive.img" $cuda --profile ideal --depth 8 --json
gpunvme load-to-gpu 120 load "$work/model.gguf" $cuda --profile ideal --to gpu --vram 72MiB --ram 48MiB --passes 3
# Each step of first-light that uses the GPU, with a simulated drive.
gpunvme first-light 120 first-light --image "$work/drive.img" --real-time --output "$out/first-light.json"
# I/O paths of Linux, and fio if it is installed, on a file, since there is no drive.
gpunvme bench-file 60 bench --file "$work/drive.img" --bs 4KiB,128KiB --qd 1,32 --rw randread --size 64MiB --time 0.5 \
  --warm-up 0.2 --cool-down 0 --repeats 3 -o "$out/bench-file.json"
step stream-to-gpu 120 "$node" "$here/stream-to-gpu.mjs" "$work/model.gguf"

[ -z "$failed" ] || { echo; echo "failed:$failed"; exit 1; }
