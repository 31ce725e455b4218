import { readFileSync } from 'node:fs'

/** A process, distinguished from a later one with the same id. */
export interface ProcessIdentity {
  readonly pid: number
  /** Start time in the kernel's ticks since boot (proc(5), field 22 of stat). */
  readonly startTicks: string
}

/** Returns the process with that id; undefined if it does not exist or is a zombie. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined // it has ended, or is not readable and so not ours
  }
  // The preceding field is its name, which may contain blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startTicks] = [fields[0], fields[19]]
  return startTicks === undefined || state === 'Z' || state === 'X' ? undefined : { pid, startTicks }
}

export function thisProcess(): ProcessIdentity {
  return identityOf(process.pid) ?? { pid: process.pid, startTicks: '' }
}

export function isAlive(identity: ProcessIdentity): boolean {
  return isSame(identityOf(identity.pid), identity)
}

export function isSame(one: ProcessIdentity | null | undefined, other: ProcessIdentity | null | undefined): boolean {
  return one != null && other != null && one.pid === other.pid && one.startTicks === other.startTicks
}
