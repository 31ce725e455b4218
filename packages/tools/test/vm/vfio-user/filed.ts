import type { Step } from './steps.js'

// Steps that check written data, with a file system and with fio, also after a reset or removal of the controller.

const FOLDER = '/tmp/mounted'
const PCI = '/sys/bus/pci'

/** Returns a fio command that writes blocks with checksums, then reads and verifies them. */
const verified = (name: string, device: string, more: string) =>
  `fio --name=${name} --filename=${device} --direct=1 --ioengine=libaio --bs=4k --iodepth=16 --rw=randwrite ` +
  `--verify=crc32c --verify_fatal=1 --verify_dump=0 --output-format=json ${more}`

/** Writes 400 files of 0 to 48 KiB in 20 folders, and their checksums. */
const TREE = `
set -e
mkfs.ext4 -q -F /dev/$D4_N1; mkdir -p ${FOLDER}; mount /dev/$D4_N1 ${FOLDER}; cd ${FOLDER}
for d in $(seq 20); do mkdir d$d; for f in $(seq 20); do head -c $((RANDOM * 3 / 2)) /dev/urandom > d$d/f$f; done; done
ln -s d1/f1 link; ln d2/f2 hard; truncate -s 10M sparse; mv d20 renamed; rm -r d19
find . -type f -print0 | sort -z | xargs -0 sha256sum > /tmp/sums; cd /; umount ${FOLDER}; wc -l < /tmp/sums`

export const FILES: readonly Step[] = [
  { name: 'tree', run: TREE, timeoutMs: 240_000 },
  { name: 'fsck', run: 'fsck.ext4 -fn /dev/$D4_N1' },
  {
    name: 'compared',
    run: `set -e; mount -o ro /dev/$D4_N1 ${FOLDER}; cd ${FOLDER}; sha256sum --quiet -c /tmp/sums; readlink link; cd /; umount ${FOLDER}`,
    timeoutMs: 120_000,
  },
  {
    name: 'trimmed',
    run: `set -e; mount -o discard /dev/$D4_N1 ${FOLDER}; rm -r ${FOLDER}/d1; sync; fstrim ${FOLDER}; umount ${FOLDER}; fsck.ext4 -fn /dev/$D4_N1`,
    timeoutMs: 120_000,
  },
]

export const FIO: readonly Step[] = [
  { name: 'crc32c', run: verified('crc32c', '/dev/$D4_N1', '--size=24M'), timeoutMs: 240_000 },
  {
    name: 'mix',
    run:
      'fio --name=mix --filename=/dev/$D4_N1 --direct=1 --ioengine=libaio --bs=4k --iodepth=8 --rw=randrw --rwmixread=70 ' +
      '--numjobs=4 --size=6M --offset_increment=32M --group_reporting --output-format=json',
    timeoutMs: 240_000,
  },
]

/** Waits until fio has read or written many blocks, since it takes time to start. */
const untilBusy = 'while [ $(cut -c1-9 /sys/block/$D4_N1/stat) -lt $((before + 500)) ]; do sleep 0.1; done'

export const DISTURBED: readonly Step[] = [
  {
    name: 'reset under fio',
    run: `${verified('reset', '/dev/$D4_N1', '--size=16M --runtime=60')} > /tmp/fio.json & fio=$!
      resets=0; while kill -0 $fio 2>/dev/null && [ $resets -lt 8 ]; do sleep 0.4; nvme reset /dev/$D4 && resets=$((resets + 1)); done
      wait $fio; code=$?; echo $resets; cat /tmp/fio.json; exit $code`,
    timeoutMs: 300_000,
  },
  {
    name: 'remembered',
    run: `head -c 65536 /dev/urandom > /tmp/kept; dd if=/tmp/kept of=/dev/$D4_N1 bs=64k seek=1000 oflag=direct`,
  },
  {
    name: 'removed under fio',
    run: `before=$(cut -c1-9 /sys/block/$D4_N1/stat); (fio --name=removed --filename=/dev/$D4_N1 --direct=1 --ioengine=libaio --bs=4k --iodepth=16 --rw=randread --size=60M --time_based --runtime=12 > /tmp/fio.out 2>&1; echo fio ended with $?) & ${untilBusy}
      echo 1 > ${PCI}/devices/0000:00:04.0/remove; wait; grep err= /tmp/fio.out; ls /sys/class/nvme | wc -l`,
    timeoutMs: 120_000,
  },
  {
    name: 'found again',
    run: `echo 1 > ${PCI}/rescan; for i in $(seq 100); do name=$(ls ${PCI}/devices/0000:00:04.0/nvme 2>/dev/null); [ -n "$name" ] && [ -b /dev/\${name}n1 ] && break; sleep 0.1; done; dd if=/dev/\${name}n1 bs=64k skip=1000 count=1 iflag=direct | cmp - /tmp/kept && cat /sys/class/nvme/$name/state`,
  },
  { name: 'works again', run: verified('again', '/dev/$D4_N1', '--size=4M'), timeoutMs: 120_000 },
]
