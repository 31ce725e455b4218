import { FATAL_AT, SLOW_AT, STATUS_AT } from './fault-drives.js'
import type { Step } from './steps.js'

const read = (drive: number, lba: number) =>
  `dd if=/dev/\${D${drive}}n1 of=/dev/null bs=512 skip=${lba} count=1 iflag=direct`
const write = (drive: number, lba: number) =>
  `dd if=/dev/zero of=/dev/\${D${drive}}n1 bs=512 seek=${lba} count=1 oflag=direct`
const passed = (lba: number) => `nvme read /dev/\${D4}n1 -s ${lba} -c 0 -z 512 -d /tmp/passed`

/** Commands that end immediately, most with an error. */
export const STATUSES: readonly Step[] = [
  { name: 'unrecovered read', run: read(4, STATUS_AT.unrecoveredRead) },
  { name: 'beside it', run: read(4, STATUS_AT.unrecoveredRead + 1) },
  { name: 'unrecovered read, passed', run: passed(STATUS_AT.unrecoveredRead) },
  { name: 'write fault', run: write(4, STATUS_AT.writeFault) },
  { name: 'access denied', run: read(4, STATUS_AT.accessDenied) },
  { name: 'access denied, passed', run: passed(STATUS_AT.accessDenied) },
  { name: 'unknown status', run: read(4, STATUS_AT.unknown) },
  { name: 'unknown status, passed', run: passed(STATUS_AT.unknown) },
  { name: 'tried again', run: read(4, STATUS_AT.transient) },
  { name: 'health', run: 'nvme smart-log /dev/$D4 -o json' },
  { name: 'works', run: `${read(4, 0)} && ${write(4, 200_000)}` },
]

const works = (drive: number) => ({
  name: 'works',
  run: `cat /sys/class/nvme/$D${drive}/state; ${read(drive, 0)} && ${write(drive, 200_000)}`,
})

/** Commands that exceed the kernel's time-out of 3 s. */
export const SLOW: readonly Step[] = [
  { name: 'hung', run: read(5, SLOW_AT.hung) },
  { name: 'lost', run: read(5, SLOW_AT.lost) },
  { name: 'late', run: read(5, SLOW_AT.late) },
  works(5),
]

export const FATAL: readonly Step[] = [{ name: 'fatal', run: read(6, FATAL_AT) }, works(6)]

export const SHUFFLED: readonly Step[] = [
  {
    name: 'verified',
    run:
      'fio --name=shuffled --filename=/dev/${D7}n1 --direct=1 --ioengine=libaio --bs=4k --iodepth=16 --rw=randwrite --size=4M ' +
      '--verify=crc32c --verify_fatal=1 --output-format=json',
    timeoutMs: 180_000,
  },
]

export const GONE: readonly Step[] = [
  { name: 'gone', run: read(8, FATAL_AT), timeoutMs: 120_000 },
  { name: 'state', run: 'cat /sys/class/nvme/$D8/state' },
  { name: 'read again', run: read(8, 0) },
]
