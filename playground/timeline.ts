import type { TraceEvent } from '@gpunvme/nvme-spec/transport'

/** Where the commands of the I/O queue pair are from `timeNs` on. */
export interface QueueState {
  readonly timeNs: number
  /** In the submission queue: the doorbell has been rung, and the controller has not fetched the entry. */
  readonly submitted: number
  /** In the drive: fetched, and not completed. */
  readonly inDrive: number
  /** In the completion queue: posted, and not consumed by the driver. */
  readonly posted: number
  /** Completions consumed since the start. */
  readonly completed: number
}

/** Follows the fill of a queue pair by the simulator's trace. */
export class Timeline {
  readonly states: QueueState[] = []
  /** Time of the fault; undefined before it. */
  faultNs: number | undefined
  private readonly entries: number
  private tail = 0
  private head = 0
  private submitted = 0
  private inDrive = 0
  private posted = 0
  private completed = 0

  /** @param entries of each of the two queues */
  constructor(entries: number) {
    this.entries = entries
  }

  readonly sink = ({ timeNs, track, name, details }: TraceEvent): void => {
    if (track === 'sq 1' && name === 'ring tail') {
      this.submitted += this.advance(this.tail, (this.tail = Number(details!['value'])))
    } else if (track === 'sq 1' && name === 'fetch') {
      this.submitted--
      this.inDrive++
    } else if (track === 'cq 1' && name === 'post') {
      this.inDrive--
      this.posted++
    } else if (track === 'cq 1' && name === 'ring head') {
      const consumed = this.advance(this.head, (this.head = Number(details!['value'])))
      this.posted -= consumed
      this.completed += consumed
    } else if (track === 'fault') {
      this.faultNs ??= timeNs
      // A reset and a removal take the queues with them.
      if (['surprise-reset', 'fatal-status', 'remove-device'].includes(name)) this.clear()
      else return
    } else if (track === 'sq 0' && String(details?.['entry']).startsWith('Create I/O Submission Queue')) {
      if (!/QID=1\b/.test(String(details!['entry']))) return
      this.clear()
      this.tail = this.head = 0
    } else return
    const { submitted, inDrive, posted, completed } = this
    this.states.push({ timeNs, submitted, inDrive, posted, completed })
  }

  private clear(): void {
    this.submitted = this.inDrive = this.posted = 0
  }

  private advance(from: number, to: number): number {
    return (to - from + this.entries) % this.entries
  }
}
