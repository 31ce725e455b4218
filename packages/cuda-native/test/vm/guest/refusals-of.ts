import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { driverOf, fixed, host, sysfsFolder, twins } from './lib.js'

const HUGE_PAGE_BYTES = 2_097_152
/** Debian's user nobody. */
export const NOBODY = 65_534

/** What came of an attempt that should be refused. */
export interface Refusal {
  readonly code: string
  readonly category: string
  /** First line, facts and next step. */
  readonly message: string
  /** What is not as it was before. */
  readonly left?: readonly string[]
}

/** Attempts that the kernel, or our knowledge of it, refuses: how, and whether all is as before. */
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

/** The error that an attempt ends with, as it can be printed. */
export async function refusalOf(attempt: () => Promise<unknown>): Promise<Refusal> {
  try {
    await attempt()
  } catch (error) {
    const { code = 'none', category = 'none', message } = error as { code?: string; category?: string; message: string }
    return { code, category, message }
  }
  return { code: 'none', category: 'none', message: 'it was not refused' }
}

/** What an attempt that came to nothing must not change. */
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

/** Runs as-user.ts with a limit of locked memory, and without any privilege unless it is told otherwise. */
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

/** While no huge page is free. */
export async function withoutHugePages(work: () => Promise<void>): Promise<void> {
  const free = Number(readFileSync('/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages', 'utf8'))
  const all = host.allocate(free * HUGE_PAGE_BYTES, HUGE_PAGE_BYTES)
  try {
    await work()
  } finally {
    all.unmap()
  }
}
