import type { TraceCommand, TraceCompletion, TraceEvent } from '../transport/index.js'

/** A command in a trace that has been completed. */
export interface TracedCommand {
  /** Drive of the trace: '' for the first one, '2: ' for the second. */
  readonly drive: string
  readonly command: TraceCommand
  readonly submittedNs: number
  readonly completion: TraceCompletion
  readonly completedNs: number
}

/** Meaning of an event for commands. */
export type CommandEvent =
  | { readonly kind: 'submitted'; readonly drive: string; readonly command: TraceCommand }
  | ({ readonly kind: 'completed' } & TracedCommand)
  /** A completion whose command was submitted before the trace began. */
  | { readonly kind: 'stray'; readonly drive: string; readonly completion: TraceCompletion }

/** Only one command per identifier is in flight: 65,536 per queue. A trace has few queues. */
const MAX_IN_FLIGHT = 1 << 20

/** Names of the events of a controller; those of a host are 'submit' and 'complete'. */
const CONTROLLER = ['fetch', 'post']

/**
 * Matches commands of a trace and their completions, event by event. If a trace has both the host's events and the
 * controller's, it follows the side that comes first.
 */
export class CommandPairs {
  private readonly inFlight = new Map<string, Pick<TracedCommand, 'command' | 'submittedNs'>>()
  /** Whether the controller's events count, by drive. */
  private readonly byController = new Map<string, boolean>()

  /** Undefined for an event without a queue entry, and for one of the other side. */
  add({ track, name, timeNs, command, completion }: TraceEvent): CommandEvent | undefined {
    const entry = command ?? completion
    if (entry === undefined) return undefined
    const drive = /^\d{1,9}: /.exec(track)?.[0] ?? ''
    const isController = CONTROLLER.includes(name)
    if (!this.byController.has(drive)) this.byController.set(drive, isController)
    if (this.byController.get(drive) !== isController) return undefined
    const key = `${drive}${entry.qid}:${entry.cid}`
    const begun = this.inFlight.get(key)
    // An earlier command with the same identifier got no completion.
    this.inFlight.delete(key)
    if (command !== undefined) {
      if (this.inFlight.size < MAX_IN_FLIGHT) this.inFlight.set(key, { command, submittedNs: timeNs })
      return { kind: 'submitted', drive, command }
    }
    if (begun === undefined) return { kind: 'stray', drive, completion: completion! }
    return { kind: 'completed', drive, ...begun, completion: completion!, completedNs: timeNs }
  }
}
