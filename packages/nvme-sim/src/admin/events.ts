import { AEI_NOTICE, AEI_SMART, AET, AsyncEventDw0 } from '@gpunvme/nvme-spec'
import type { Device } from '../controller/device.js'

/** Most Asynchronous Event Requests that may be outstanding: AERL + 1. */
export const ASYNC_EVENT_REQUESTS = 4

interface AsyncEvent {
  readonly aet: number
  readonly aei: number
  readonly lid: number
}

/**
 * Asynchronous events: what there is to report, the requests that wait for it, and what the host has been told and
 * not read up on yet (Base 2.3 §5.2.2).
 */
export class AsyncEvents {
  /** Completes a request; set by the pipeline. */
  report: (cid: number, dw0: number) => void = () => undefined
  private readonly device: Device
  /** Command identifiers of the requests that wait, oldest first. */
  private requests: number[] = []
  private pending: AsyncEvent[] = []
  /** Event types that were reported, each with the log page whose reading lets the next event of that type through. */
  private readonly reported = new Map<number, number>()

  constructor(device: Device) {
    this.device = device
  }

  /** Takes a request; false where there are too many. */
  request(cid: number): boolean {
    if (this.requests.length === ASYNC_EVENT_REQUESTS) return false
    this.requests.push(cid)
    this.deliver()
    return true
  }

  /** Lets go of a request that is to be aborted; false where none waits by that identifier. */
  abort(cid: number): boolean {
    const isThere = this.requests.includes(cid)
    this.requests = this.requests.filter((each) => each !== cid)
    return isThere
  }

  /**
   * Something has happened that the host may want to know: its type, what it is, and the log page that says more. An
   * event that the host has not asked for is dropped, and one that is waiting to be reported already is the same event.
   */
  raise(aet: number, aei: number, lid: number): void {
    const event = { aet, aei, lid }
    if (!this.isEnabled(event)) return
    const isSame = (other: AsyncEvent) => other.aet === aet && other.aei === aei && other.lid === lid
    if (!this.pending.some(isSame)) {
      this.pending.push(event)
      if (aet === AET.ERROR_STATUS) this.device.errors.addEvent(aei)
    }
    this.deliver()
  }

  /** The host has read a log page, and with it everything that its events were about. */
  clear(lid: number): void {
    this.pending = this.pending.filter((event) => event.lid !== lid)
    for (const [aet, page] of [...this.reported]) if (page === lid) this.reported.delete(aet)
    this.deliver()
  }

  /** The host has changed what is reported: what it does not want any more is not pending either. */
  reconsider(): void {
    this.pending = this.pending.filter((event) => this.isEnabled(event))
  }

  /** A reset of the controller: nothing is outstanding, nothing is pending. */
  reset(): void {
    this.requests = []
    this.pending = []
    this.reported.clear()
  }

  private deliver(): void {
    while (this.requests.length > 0) {
      const next = this.pending.find(({ aet }) => !this.reported.has(aet))
      if (next === undefined) return
      const { aet, aei, lid } = next
      this.pending = this.pending.filter((event) => event !== next)
      this.reported.set(aet, lid)
      this.report(this.requests.shift()!, AsyncEventDw0.encode({ AET: aet, AEI: aei, LID: lid }))
    }
  }

  /** Errors are always reported; of the rest only what Asynchronous Event Configuration lets through. */
  private isEnabled({ aet, aei }: AsyncEvent): boolean {
    const { SHCW, NAN } = this.device.features.events
    if (aet === AET.SMART_HEALTH_STATUS) return (SHCW & (warnings.get(aei) ?? 0)) !== 0
    if (aet === AET.NOTICE && aei === AEI_NOTICE.ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED) return NAN === 1
    return aet !== AET.NOTICE
  }
}

/** Which bits of Critical Warning stand behind an event: the same as of SHCW. */
const warnings: ReadonlyMap<number, number> = new Map([
  [AEI_SMART.SUBSYSTEM_RELIABILITY, 0b11_1100],
  [AEI_SMART.TEMPERATURE_THRESHOLD, 0b10],
  [AEI_SMART.SPARE_BELOW_THRESHOLD, 0b1],
])
