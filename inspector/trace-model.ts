import type { TraceEvent } from '@gpunvme/nvme-spec/transport'

/** A command of a trace, from its submission to its completion. */
export interface Command {
  /** The queue, after the drive if the trace has several: `queue 1`, `2: queue 1`. */
  readonly track: string
  readonly name: string
  readonly startNs: number
  /** Undefined if the trace has no completion of the command. */
  readonly endNs: number | undefined
  /** The submission queue entry, as text. */
  readonly entry: string
  /** Text of the status; '' without a completion. */
  readonly status: string
  readonly failed: boolean
}

/** Any other event: a register access, a doorbell, a fault. `endNs` is set if the event has a duration. */
export interface Mark {
  readonly track: string
  readonly name: string
  readonly startNs: number
  readonly endNs: number | undefined
  readonly details: TraceEvent['details']
}

/** Commands, other events and tracks of a trace. */
export interface TraceModel {
  readonly commands: readonly Command[]
  readonly marks: readonly Mark[]
  /** Tracks, queues first, with their number of commands or marks. */
  readonly tracks: readonly { readonly name: string; readonly count: number; readonly isQueue: boolean }[]
}

/** Collects the commands and other events of a trace. A completion without a command becomes a mark. */
export function modelOf(events: readonly TraceEvent[]): TraceModel {
  const commands: Command[] = []
  const marks: Mark[] = []
  /** Index in `commands` of each command in flight, by queue and command identifier. */
  const inFlight = new Map<string, number>()
  for (const event of events) {
    const { track, name, timeNs, durationNs, details } = event
    const [, drive = '', side, number = ''] = /^(\d+: )?([sc]q) (\d+)$/.exec(track) ?? []
    const entry = String(details?.['entry'] ?? '')
    if (side === 'sq' && (name === 'submit' || name === 'fetch')) {
      inFlight.set(keyOf(drive, number, entry), commands.length)
      const queue = `${drive}queue ${number}`
      const common = { endNs: undefined, status: '', failed: false }
      commands.push({ track: queue, name: nameOf(entry), startNs: timeNs, entry, ...common })
      continue
    }
    if (side === 'cq' && (name === 'complete' || name === 'post')) {
      const key = keyOf(drive, /\bSQID=(\d+)/.exec(entry)?.[1] ?? number, entry)
      const at = inFlight.get(key)
      if (at !== undefined) {
        inFlight.delete(key)
        const status = entry.replace(/^(?:[A-Z\d]+=\S+ ?)+/, '')
        commands[at] = { ...commands[at]!, endNs: timeNs, status, failed: !status.startsWith('Successful') }
        continue
      }
    }
    marks.push({ track, name, startNs: timeNs, endNs: durationNs && timeNs + durationNs, details })
  }
  return { commands, marks, tracks: tracksOf(commands, marks) }
}

function tracksOf(commands: readonly Command[], marks: readonly Mark[]): TraceModel['tracks'] {
  const counts = new Map<string, { name: string; count: number; isQueue: boolean }>()
  for (const [items, isQueue] of [
    [commands, true],
    [marks, false],
  ] as const)
    for (const { track } of items) {
      const known = counts.get(track) ?? { name: track, count: 0, isQueue }
      known.count++
      counts.set(track, known)
    }
  const byName = new Intl.Collator('en', { numeric: true }).compare
  return [...counts.values()].sort((a, b) => Number(b.isQueue) - Number(a.isQueue) || byName(a.name, b.name))
}

/** Returns the key of a command. An entry without CID has CID 0, which formatSqe omits. */
function keyOf(drive: string, qid: string, entry: string): string {
  return `${drive}${qid}:${/\bCID=0x([\da-f]+)/.exec(entry)?.[1]?.replace(/^0+(?=.)/, '') ?? '0'}`
}

/** Returns the command name of an entry: the words before its first field. */
function nameOf(entry: string): string {
  return /^(.*?)(?: [A-Z\d_]+=.*)?$/.exec(entry)![1]!
}
