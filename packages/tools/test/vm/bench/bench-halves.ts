// Measures baselines while Linux owns the drive, then engines while we own it, and merges both.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'

const BDF = '0000:00:04.0'
const SERIAL = 'BENCH001'
const PROGRAM = [process.execPath, process.env['VM_GPUNVME']!] as const
const SHORT = ['--bs', '64KiB', '--qd', '4', '--repeats', '2', '--time', '0.5', '--warm-up', '0.1', '--cool-down', '0']

function gpunvme(...args: string[]) {
  const [program, ...words] = PROGRAM
  const { status, stdout, stderr } = spawnSync(program, [...words, ...args], { encoding: 'utf8', timeout: 300_000 })
  return { code: status, stdout, stderr }
}

/** Prints one line for the test on the host. */
function print(facts: object): void {
  process.stdout.write(`${JSON.stringify(facts)}\n`)
}

/** Reads results, even those of a run with failed checks, for the failure report. */
const resultsIn = (path: string): unknown => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {})

// Bindings are recorded in /run, but the host's files are read-only here.
spawnSync('/tmp/vm/busybox', ['mount', '-t', 'tmpfs', 'tmpfs', '/run'])
const [name] = readdirSync(join('/sys/bus/pci/devices', BDF, 'nvme'))

const linux = gpunvme('bench', '--drive', name!, '--baselines', 'pread,io_uring', ...SHORT, '-o', '/tmp/linux.json')
print({ case: 'linux', ended: linux, results: resultsIn('/tmp/linux.json') })

const bound = ['bind', BDF, '--serial', SERIAL, '--yes', '--', ...PROGRAM]
const ours = gpunvme(
  ...bound,
  'bench',
  '--drive',
  BDF,
  '--engines',
  'host,cpu-kernel',
  ...SHORT,
  '-o',
  '/tmp/ours.json',
)
print({ case: 'ours', ended: ours, results: resultsIn('/tmp/ours.json') })

print({ case: 'both', ended: gpunvme('bench', '--merge', '/tmp/ours.json', '/tmp/linux.json') })

const turns = ['--hand-over', '--baselines', 'io_uring', '--engines', 'host', ...SHORT, '-o', '/tmp/turns.json']
const handed = gpunvme('bench', '--drive', name!, ...turns, '--serial', SERIAL, '--yes')
const driver = basename(readlinkSync(join('/sys/bus/pci/devices', BDF, 'driver')))
print({ case: 'handed', ended: handed, driver, results: resultsIn('/tmp/turns.json') })

const write = ['bench', '--drive', BDF, '--rw', 'randwrite', '--size', '16MiB', '--engines', 'cpu-kernel', ...SHORT]
print({ case: 'unconfirmed', ended: gpunvme(...bound, ...write) })
print({ case: 'written', ended: gpunvme(...bound, ...write, '--serial', SERIAL, '--yes', '--json') })
