import { AEI_NOTICE, AEI_SMART, AET, AsyncEventDw0 } from '@gpunvme/nvme-spec'
import type { Device } from '../controller/device.js'

/** Maximum number of outstanding Asynchronous Event Requests: AERL + 1. */
export const ASYNC_EVENT_REQUESTS = 4

interface AsyncEvent {
  readonly aet: number
  readonly aei: number
  readonly lid: number
}

/**
 * Asynchronous events: pending events, outstanding requests, and reported events that the host has not cleared yet
 * (Base 2.3 §5.2.2).
 */
export class AsyncEvents {
  /** Completes a request; set by the pipeline. */
  report: (cid: number, dw0: number) => void = () => undefined
  private readonly device: Device
  /** Command identifiers of outstanding requests, oldest first. */
  private requests: number[] = []
  private pending: AsyncEvent[] = []
  /** Event types that were reported, each with the log page that clears it. */
  private readonly reported = new Map<number, number>()

  constructor(device: Device) {
    this.device = device
  }

  /** Adds a request; returns false if there are too many. */
  request(cid: number): boolean {
    if (this.requests.length === ASYNC_EVENT_REQUESTS) return false
    this.requests.push(cid)
    this.deliver()
    return true
  }

  /** Removes a request that is to be aborted; returns false if there is none with this identifier. */
  abort(cid: number): boolean {
    const isThere = this.requests.includes(cid)
    this.requests = this.requests.filter((each) => each !== cid)
    return isThere
  }

  /**
   * Reports an event: its type, its information, and the log page with details. Events that the host has not enabled
   * are dropped; an event that is already pending is not added again.
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

  /**
   * Completes the oldest request with an event of the fault plan, whether or not it is enabled or masked. Returns false
   * if no request is outstanding.
   */
  force(aet: number, aei: number, lid: number): boolean {
    const cid = this.requests.shift()
    if (cid === undefined) return false
    this.report(cid, AsyncEventDw0.encode({ AET: aet, AEI: aei, LID: lid }))
    return true
  }

  /** Clears the events of a log page that the host has read. */
  clear(lid: number): void {
    this.pending = this.pending.filter((event) => event.lid !== lid)
    for (const [aet, page] of [...this.reported]) if (page === lid) this.reported.delete(aet)
    this.deliver()
  }

  /** Drops pending events that the host no longer enables. */
  reconsider(): void {
    this.pending = this.pending.filter((event) => this.isEnabled(event))
  }

  /** Controller reset: no request is outstanding, no event is pending. */
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

  /** Errors are always reported; other events only if Asynchronous Event Configuration enables them. */
  private isEnabled({ aet, aei }: AsyncEvent): boolean {
    const { SHCW, NAN } = this.device.features.events
    if (aet === AET.SMART_HEALTH_STATUS) return (SHCW & (warnings.get(aei) ?? 0)) !== 0
    if (aet === AET.NOTICE && aei === AEI_NOTICE.ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED) return NAN === 1
    return aet !== AET.NOTICE
  }
}

/** The bits of Critical Warning behind each event, which are also those of SHCW. */
const warnings: ReadonlyMap<number, number> = new Map([
  [AEI_SMART.SUBSYSTEM_RELIABILITY, 0b11_1100],
  [AEI_SMART.TEMPERATURE_THRESHOLD, 0b10],
  [AEI_SMART.SPARE_BELOW_THRESHOLD, 0b1],
])
