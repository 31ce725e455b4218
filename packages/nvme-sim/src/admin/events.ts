import { AsyncEventDw0 } from '@gpunvme/nvme-spec'

/** Most Asynchronous Event Requests that may be outstanding: AERL + 1. */
export const ASYNC_EVENT_REQUESTS = 4

interface AsyncEvent {
  readonly aet: number
  readonly aei: number
  readonly lid: number
}

/** Asynchronous events: what there is to report, and the requests that wait for it (Base 2.1 §5.1.2). */
export class AsyncEvents {
  /** Completes a request; set by the pipeline. */
  report: (cid: number, dw0: number) => void = () => undefined
  /** Command identifiers of the requests that wait, oldest first. */
  private readonly requests: number[] = []
  private readonly pending: AsyncEvent[] = []

  /** Takes a request; false where there are too many. */
  request(cid: number): boolean {
    if (this.requests.length === ASYNC_EVENT_REQUESTS) return false
    this.requests.push(cid)
    this.deliver()
    return true
  }

  /** Something has happened that the host may want to know: what, and the log page that says more. */
  raise(aet: number, aei: number, lid: number): void {
    this.pending.push({ aet, aei, lid })
    this.deliver()
  }

  /** A reset of the controller: nothing is outstanding, nothing is pending. */
  reset(): void {
    this.requests.length = 0
    this.pending.length = 0
  }

  private deliver(): void {
    while (this.requests.length > 0 && this.pending.length > 0) {
      const { aet, aei, lid } = this.pending.shift()!
      this.report(this.requests.shift()!, AsyncEventDw0.encode({ AET: aet, AEI: aei, LID: lid }))
    }
  }
}
