import { readFileSync } from 'node:fs'

/** A process, told from a later one of the same number. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in the kernel's ticks since boot (proc(5), field 22 of stat). */
  readonly startTicks: string
}

/** The process of that number; undefined where there is none, or only what its parent has not yet asked after. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined // it has ended, or may not be looked at, and then it is not ours
  }
  // What comes before is its name, in which there may be blanks and brackets.
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
