// What the scenarios of bind.vm.ts share: the command as a user of the guest types it, and what the kernel says afterwards.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The drive that is bound, and the one that the guest uses. */
export const SPARE = { bdf: '0000:00:04.0', serial: 'BIND0001' }
export const BUSY = { bdf: '0000:00:05.0', serial: 'BIND0002' }

const BIN = join(import.meta.dirname, 'gpunvme.js')
const STATE = `/run/gpunvme/${SPARE.bdf}.json`

/** One line for the test outside. */
export function print(facts: object): void {
  process.stdout.write(`${JSON.stringify(facts)}\n`)
}

export function busybox(...args: string[]): void {
  const { status, stderr } = spawnSync('/tmp/vm/busybox', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`busybox ${args.join(' ')}: ${stderr}`)
}

/** The host's tree is read-only here; /run is in memory, as on a machine. */
export function mountRun(): void {
  busybox('mount', '-t', 'tmpfs', 'tmpfs', '/run')
}

/** A command to its end. */
export function gpunvme(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { encoding: 'utf8', timeout: 240_000 })
  return { code: status, stdout, stderr }
}

/** The words that run gpunvme, as part of another command. */
export const GPUNVME = [process.execPath, BIN] as const

/** A command that goes on, and how it ends. */
export function start(...args: string[]): { child: ChildProcess; ended: Promise<string> } {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  // When all that have its streams have ended, its watcher too.
  return { child, ended: new Promise((resolve) => child.on('close', () => resolve(said))) }
}

/** What of the function binding changes. */
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

/** Linux's name of the drive, once its driver has it and its namespace can be opened. */
export async function linuxName(bdf: string): Promise<string> {
  const folder = join('/sys/bus/pci/devices', bdf, 'nvme')
  await until(() => existsSync(folder) && existsSync(`/dev/${readdirSync(folder)[0]!}n1`), `Linux has ${bdf}`)
  return readdirSync(folder)[0]!
}

/** Until gpunvme has begun to take the drive: something is remembered of it. */
export function remembered(): Promise<void> {
  return until(() => existsSync(STATE), 'a binding is remembered')
}

export async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (isSo()) return
    await sleep(50)
  }
  throw new Error(`a minute has passed, and it is not so that ${what}`)
}

/** Puts a file system on the drive, mounts it while `use` runs, and takes it away. */
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
