import { CommandPairs } from '@gpunvme/nvme-spec/trace'
import type { TraceCommand, TraceEvent } from '@gpunvme/nvme-spec/transport'

/** A command of a trace, from its submission to its completion. */
export interface Command {
  /** The queue, after the drive if the trace has several: `queue 1`, `2: queue 1`. */
  readonly track: string
  readonly name: string
  readonly startNs: number
  /** Undefined if the trace has no completion of the command. */
  readonly endNs: number | undefined
  /** The submission queue entry, in words. */
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
  const pairs = new CommandPairs()
  /** Index in `commands` of each command. */
  const indexOf = new Map<TraceCommand, number>()
  for (const event of events) {
    const { track, name, timeNs: startNs, durationNs, completion } = event
    const found = pairs.add(event)
    if (found?.kind === 'submitted') {
      const { drive, command } = found
      indexOf.set(command, commands.length)
      const place = { track: `${drive}queue ${command.qid}`, name: command.name, startNs, entry: command.text }
      commands.push({ ...place, endNs: undefined, status: '', failed: false })
    } else if (found?.kind === 'completed') {
      const { sct, sc, status } = found.completion
      const at = indexOf.get(found.command)!
      commands[at] = { ...commands[at]!, endNs: startNs, status, failed: sct !== 0 || sc !== 0 }
    } else {
      const details = { ...(completion && { entry: completion.text }), ...event.details }
      marks.push({ track, name, startNs, endNs: durationNs && startNs + durationNs, details })
    }
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
