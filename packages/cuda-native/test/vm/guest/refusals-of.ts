import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { driverOf, fixed, host, sysfsFolder, twins } from './lib.js'

const HUGE_PAGE_BYTES = 2_097_152
/** Debian's user nobody. */
export const NOBODY = 65_534

/** Result of an attempt that should fail. */
export interface Refusal {
  readonly code: string
  readonly category: string
  /** Message of the error: first line, facts and next step. */
  readonly message: string
  /** Differences in the state of the machine after the attempt. */
  readonly left?: readonly string[]
}

/** Records attempts that should fail: their errors, and what they changed. */
export class Refusals {
  readonly found: Record<string, Refusal> = {}

  async of(name: string, attempt: () => Promise<unknown>): Promise<void> {
    const before = surroundings()
    const refusal = await refusalOf(attempt)
    const after = surroundings()
    const left = Object.keys(after).flatMap((key) =>
      before[key] === after[key] ? [] : [`${key}: ${before[key]}, and then ${after[key]}`],
    )
    this.found[name] = { ...refusal, left }
  }
}

/** Returns the error of an attempt, as plain JSON. */
export async function refusalOf(attempt: () => Promise<unknown>): Promise<Refusal> {
  try {
    await attempt()
  } catch (error) {
    const { code = 'none', category = 'none', message } = error as { code?: string; category?: string; message: string }
    return { code, category, message }
  }
  return { code: 'none', category: 'none', message: 'the attempt succeeded' }
}

/** Returns the state that a failed attempt must not change. */
function surroundings(): Record<string, string> {
  const locked = /^VmLck:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  const functions = [fixed.bdf, ...twins].flatMap((bdf) => [
    [`driver of ${bdf}`, driverOf({ bdf }) ?? 'none'] as const,
    ...['driver_override', 'power/control'].map(
      (name) => [`${name} of ${bdf}`, readFileSync(join(sysfsFolder(bdf), name), 'utf8').trim()] as const,
    ),
  ])
  return {
    ...Object.fromEntries(functions),
    'open files': String(readdirSync('/proc/self/fd').length),
    'free huge pages': readFileSync('/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages', 'utf8').trim(),
    'locked memory': locked ?? 'unknown',
  }
}

/** Runs as-user.ts as a user with a limit of locked memory. Default: the unprivileged user nobody, without a limit. */
export function asUser(what: 'bind' | 'read', memlockKiB: number | 'unlimited' = 'unlimited', id = NOBODY): Refusal {
  const program = `ulimit -l ${memlockKiB}; exec "$0" "$@"`
  const script = join(import.meta.dirname, 'as-user.js')
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', program, process.execPath, script, what], {
    encoding: 'utf8',
    uid: id,
    gid: id,
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Refusal
}

/** Runs `work` while no huge page is free. */
export async function withoutHugePages(work: () => Promise<void>): Promise<void> {
  const free = Number(readFileSync('/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages', 'utf8'))
  const all = host.allocate(free * HUGE_PAGE_BYTES, HUGE_PAGE_BYTES)
  try {
    await work()
  } finally {
    all.unmap()
  }
}
