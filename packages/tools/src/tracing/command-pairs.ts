import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { parseCompleted, parseSubmitted, type CompletedEntry, type SubmittedEntry } from './entry-text.js'

/** A command in a trace: from its submission doorbell to the doorbell that freed its completion. */
export interface TracedCommand {
  /** Drive of the trace: '' for the first one, '2: ' for the second. */
  readonly drive: string
  readonly qid: number
  readonly submitted: SubmittedEntry
  readonly submittedNs: number
  readonly completed: CompletedEntry
  readonly completedNs: number
}

/** Meaning of an event for commands. */
export type CommandEvent =
  | { readonly kind: 'submitted'; readonly drive: string; readonly qid: number; readonly submitted: SubmittedEntry }
  | { readonly kind: 'completed'; readonly command: TracedCommand }
  /** A completion whose command was submitted before the trace began. */
  | { readonly kind: 'stray' }
  /** A submission or completion with an unreadable entry. */
  | { readonly kind: 'unreadable' }

/** Only one command per identifier is in flight: 65536 per queue. A trace has few queues. */
const MAX_IN_FLIGHT = 1 << 20

/** Matches submissions and completions, event by event. */
export class CommandPairs {
  private readonly inFlight = new Map<string, Pick<TracedCommand, 'submitted' | 'submittedNs'>>()

  /** Undefined for an event without a command. */
  add({ track, name, timeNs, details }: TraceEvent): CommandEvent | undefined {
    const [, drive = '', side, number = ''] = /^(\d{1,9}: )?([sc]q) (\d{1,5})$/.exec(track) ?? []
    const isSubmit = side === 'sq' && name === 'submit'
    if (!isSubmit && !(side === 'cq' && name === 'complete')) return undefined
    const text = String(details?.['entry'] ?? '')
    if (isSubmit) {
      const submitted = parseSubmitted(text)
      if (submitted === undefined) return { kind: 'unreadable' }
      const qid = Number(number)
      const key = keyOf(drive, qid, submitted.cid)
      // An earlier command with the same identifier got no completion.
      this.inFlight.delete(key)
      if (this.inFlight.size < MAX_IN_FLIGHT) this.inFlight.set(key, { submitted, submittedNs: timeNs })
      return { kind: 'submitted', drive, qid, submitted }
    }
    const completed = parseCompleted(text)
    if (completed === undefined) return { kind: 'unreadable' }
    const qid = completed.sqid
    const key = keyOf(drive, qid, completed.cid)
    const begun = this.inFlight.get(key)
    if (begun === undefined) return { kind: 'stray' }
    this.inFlight.delete(key)
    return { kind: 'completed', command: { drive, qid, ...begun, completed, completedNs: timeNs } }
  }
}

function keyOf(drive: string, qid: number, cid: number): string {
  return `${drive}${qid}:${cid}`
}
