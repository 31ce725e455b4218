import type { Step } from './steps.js'

// Commands of nvme-cli that change the drive, and commands that check the changes.

const D = '/dev/$D4'
const N = '/dev/$D4_N1'
const read = (lba: number, into: string) => `nvme read ${N} -s ${lba} -c 7 -z 4096 -d ${into}`
const data = '/tmp/data'

export const CHANGED: readonly Step[] = [
  { name: 'set-feature', run: `nvme set-feature ${D} -f 4 -v 0x15a && nvme get-feature ${D} -f 4` },
  { name: 'set-feature --save', run: `nvme set-feature ${D} -f 4 -v 0x15b --save && nvme get-feature ${D} -f 4 -s 2` },
  { name: 'write', run: `head -c 4096 /dev/urandom > ${data}; nvme write ${N} -s 8 -c 7 -z 4096 -d ${data}` },
  { name: 'read', run: `${read(8, '/tmp/back')} && cmp ${data} /tmp/back` },
  { name: 'compare', run: `nvme compare ${N} -s 8 -c 7 -z 4096 -d ${data}` },
  { name: 'compare others', run: `nvme compare ${N} -s 16 -c 7 -z 4096 -d ${data}` },
  { name: 'copy', run: `nvme copy ${N} -d 128 -s 8 -b 7` },
  { name: 'read copied', run: `${read(128, '/tmp/copied')} && cmp ${data} /tmp/copied` },
  { name: 'write-zeroes', run: `nvme write-zeroes ${N} -s 128 -c 7` },
  { name: 'read zeroes', run: `${read(128, '/tmp/zeroes')} && cmp -n 4096 /tmp/zeroes /dev/zero` },
  { name: 'verify', run: `nvme verify ${N} -s 0 -c 255` },
  { name: 'write-uncor', run: `nvme write-uncor ${N} -s 8 -c 7` },
  { name: 'verify unreadable', run: `nvme verify ${N} -s 0 -c 255` },
  { name: 'read unreadable', run: read(8, '/tmp/unread') },
  { name: 'read unreadable by the page cache', run: `dd if=${N} of=/tmp/unread bs=4096 skip=1 count=1` },
  { name: 'media errors', run: `nvme smart-log ${D} -o json` },
  { name: 'errors', run: `nvme error-log ${D} -e 8 -o json` },
  {
    name: 'write again',
    run: `nvme write ${N} -s 8 -c 7 -z 4096 -d ${data} && ${read(8, '/tmp/again')} && cmp ${data} /tmp/again`,
  },
  { name: 'dsm', run: `nvme dsm ${N} -d -s 8 -b 8` },
  { name: 'read deallocated', run: `${read(8, '/tmp/holes')} && cmp -n 4096 /tmp/holes /dev/zero` },
  {
    name: 'blkdiscard',
    run: `nvme write ${N} -s 8 -c 7 -z 4096 -d ${data} && blkdiscard -o 0 -l 1048576 ${N} && ${read(8, '/tmp/gone')} && cmp -n 4096 /tmp/gone /dev/zero`,
  },
  { name: 'flush', run: `nvme flush ${N}` },
  { name: 'out of range', run: `nvme read ${N} -s 524288 -c 0 -z 512 -d /tmp/none` },
  { name: 'unknown opcode', run: `nvme io-passthru ${N} -o 0x7e -n 1` },
  { name: 'unknown log', run: `nvme get-log ${D} -i 0xca -l 512` },
  { name: 'format', run: `nvme format ${D} -n 1 -l 1 -f` },
  {
    name: 'formatted',
    run: `nvme ns-rescan ${D} && cat /sys/block/$D4_N1/queue/logical_block_size /sys/block/$D4_N1/size && nvme id-ns ${N} -o json | grep flbas`,
  },
  { name: 'formatted back', run: `nvme format ${N} -b 512 -f && cat /sys/block/$D4_N1/queue/logical_block_size` },
]

/** Resets of the controller, each followed by a check that it works and has its data. */
export const RESETS: readonly Step[] = [
  {
    name: 'before',
    run: `echo before > ${data}; truncate -s 4096 ${data}; dd if=${data} of=${N} bs=4096 oflag=direct`,
  },
  { name: 'reset', run: `nvme reset ${D}` },
  {
    name: 'after reset',
    run: `cat /sys/class/nvme/$D4/state; dd if=${N} bs=4096 count=1 iflag=direct | cmp - ${data}`,
  },
  { name: 'subsystem-reset', run: `nvme subsystem-reset ${D}`, timeoutMs: 90_000 },
  // Linux 6.1 detects the subsystem reset only when a command times out.
  { name: 'reset once more', run: `nvme reset ${D}`, timeoutMs: 90_000 },
  {
    name: 'after subsystem-reset',
    run: `cat /sys/class/nvme/$D4/state; dd if=${N} bs=4096 count=1 iflag=direct | cmp - ${data}`,
    timeoutMs: 90_000,
  },
  { name: 'function reset', run: `echo 1 > /sys/bus/pci/devices/0000:00:04.0/reset` },
  {
    name: 'after function reset',
    run: `cat /sys/class/nvme/$D4/state; dd if=${N} bs=4096 count=1 iflag=direct | cmp - ${data}`,
    timeoutMs: 90_000,
  },
]
