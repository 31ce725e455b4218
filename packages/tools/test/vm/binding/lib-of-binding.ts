// Helpers of the scenarios of bind.vm.ts: they run gpunvme and read the state of drives in the guest.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The drive that tests bind, and the one that the guest uses. */
export const SPARE = { bdf: '0000:00:04.0', serial: 'BIND0001' }
export const BUSY = { bdf: '0000:00:05.0', serial: 'BIND0002' }

const BIN = join(import.meta.dirname, 'gpunvme.js')
const STATE = `/run/gpunvme/${SPARE.bdf}.json`

/** Prints one line for the test on the host. */
export function print(facts: object): void {
  process.stdout.write(`${JSON.stringify(facts)}\n`)
}

export function busybox(...args: string[]): void {
  const { status, stderr } = spawnSync('/tmp/vm/busybox', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`busybox ${args.join(' ')}: ${stderr}`)
}

/** Mounts /run in memory, as on real machines. The other files are the host's, read-only. */
export function mountRun(): void {
  busybox('mount', '-t', 'tmpfs', 'tmpfs', '/run')
}

/** Runs gpunvme to its end. */
export function gpunvme(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8', timeout: 240_000 })
  return { code: status, stdout, stderr }
}

/** Words that run gpunvme within another command. */
export const GPUNVME = [process.execPath, BIN] as const

/** Starts gpunvme. `ended` resolves to its output. */
export function start(...args: string[]): { child: ChildProcess; ended: Promise<string> } {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  // 'close' follows the end of all processes with its streams, including its watcher.
  return { child, ended: new Promise((resolve) => child.on('close', () => resolve(said))) }
}

/** Returns the state that binding changes. */
export function stateOf(bdf: string): {
  driver: string | null
  override: string
  power: string
  isRemembered: boolean
} {
  const folder = join('/sys/bus/pci/devices', bdf)
  const text = (name: string) => readFileSync(join(folder, name), 'utf8').trim()
  const link = join(folder, 'driver')
  return {
    driver: existsSync(link) ? basename(readlinkSync(link)) : null,
    override: text('driver_override'),
    power: text('power/control'),
    isRemembered: existsSync(`/run/gpunvme/${bdf}.json`),
  }
}

/** Waits until Linux's driver owns the drive and its namespace can be opened. Returns Linux's name of the drive. */
export async function linuxName(bdf: string): Promise<string> {
  const folder = join('/sys/bus/pci/devices', bdf, 'nvme')
  await until(() => existsSync(folder) && existsSync(`/dev/${readdirSync(folder)[0]!}n1`), `Linux has ${bdf}`)
  return readdirSync(folder)[0]!
}

/** Fills a block device with bytes that differ in each MiB. */
export function fill(path: string): void {
  const fd = openSync(path, 'r+')
  const chunk = Buffer.alloc(2 ** 20)
  for (let at = 0; at < 64; at++) {
    for (let word = 0; word < chunk.length; word += 4) chunk.writeUInt32LE((at << 20) + word, word)
    writeSync(fd, chunk, 0, chunk.length, at * chunk.length)
  }
  fsyncSync(fd)
  closeSync(fd)
}

/** Returns the report of first-light, as an object and as text. */
export function reportIn(path: string): { report: object; text: string } {
  const text = readFileSync(path, 'utf8')
  return { report: JSON.parse(text) as object, text }
}

/** Waits until gpunvme has begun to bind the drive, which it records first. */
export function remembered(): Promise<void> {
  return until(() => existsSync(STATE), 'a binding is remembered')
}

export async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (isSo()) return
    await sleep(50)
  }
  throw new Error(`not true after a minute: ${what}`)
}

/** Creates a file system on the drive, and mounts it while `use` runs. */
export async function mounted<T>(bdf: string, use: () => T): Promise<T> {
  const device = `/dev/${await linuxName(bdf)}n1`
  busybox('mke2fs', device)
  mkdirSync('/tmp/mounted', { recursive: true })
  busybox('mount', '-t', 'ext4', device, '/tmp/mounted')
  try {
    return use()
  } finally {
    busybox('umount', '/tmp/mounted')
  }
}
