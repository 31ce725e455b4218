// Helpers of the scenarios of this folder: a mounted drive, and runs of gpunvme and nvme-cli.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export const DRIVE = '0000:00:04.0'
const FOLDER = '/tmp/mounted'
const FILE = join(FOLDER, 'file')

/** Debian's user nobody. */
export const NOBODY = 65_534

export interface Ended {
  readonly code: number | null
  /** Base64, since the output may be binary. */
  readonly stdout: string
  readonly stderr: string
}

export function gpunvme(args: readonly string[], uid = 0): Ended {
  const program = join(import.meta.dirname, 'gpunvme.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { timeout: 120_000, uid })
  return { code: status, stdout: stdout.toString('base64'), stderr: stderr.toString() }
}

export function nvme(...args: string[]): Ended {
  const { status, stdout, stderr } = spawnSync('/usr/sbin/nvme', args, { timeout: 60_000 })
  return { code: status, stdout: stdout.toString('base64'), stderr: stderr.toString() }
}

/** Makes a file system on namespace 1 of nvme0 and mounts it, with a file in it. */
export function mountDrive(): void {
  busybox('mke2fs', '/dev/nvme0n1')
  mkdirSync(FOLDER, { recursive: true })
  busybox('mount', '-t', 'ext4', '/dev/nvme0n1', FOLDER)
  writeFileSync(FILE, Buffer.alloc(1024 * 1024, 'what must stay as it is'))
  busybox('sync')
}

/** Returns state that inspection must not change. */
export function surroundings(): Record<string, string> {
  const folder = join('/sys/bus/pci/devices', DRIVE)
  const text = (name: string) => readFileSync(join(folder, name), 'utf8').trim()
  return {
    driver: basename(readlinkSync(join(folder, 'driver'))),
    driverOverride: text('driver_override'),
    enabled: text('enable'),
    name: existsSync(join(folder, 'nvme/nvme0')) ? 'nvme0' : 'gone',
    state: text('nvme/nvme0/state'),
    mount:
      readFileSync('/proc/mounts', 'utf8')
        .split('\n')
        .find((line) => line.includes(FOLDER)) ?? 'none',
    file: createHash('sha256').update(readFileSync(FILE)).digest('hex'),
  }
}

function busybox(...args: string[]): void {
  execFileSync('/tmp/vm/busybox', args, { stdio: ['ignore', 'pipe', 'inherit'] })
}
