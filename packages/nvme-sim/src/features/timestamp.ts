import { TimestampData } from '@gpunvme/nvme-spec'
import type { EventClock } from '../time/clock.js'

const NS_PER_MS = 1e6

/** The controller's time, counted from a reset or from the host's setting (Base 2.3 §5.2.26.1.7). */
export class ControllerTime {
  private readonly clock: EventClock
  private origin: 0 | 1 = TimestampData.TSTMPS.TSTMPO.RESET
  private setMs = 0
  private setAtNs = 0

  constructor(clock: EventClock) {
    this.clock = clock
  }

  /** Milliseconds since 1970. */
  set(ms: number): void {
    this.origin = TimestampData.TSTMPS.TSTMPO.SET_FEATURES
    this.setMs = ms
    this.setAtNs = this.clock.now()
  }

  /** A reset loses the time. */
  reset(): void {
    this.origin = TimestampData.TSTMPS.TSTMPO.RESET
    this.setMs = 0
    this.setAtNs = this.clock.now()
  }

  /** The eight bytes that Get Features returns. */
  read(): DataView {
    const ms = this.setMs + Math.floor((this.clock.now() - this.setAtNs) / NS_PER_MS)
    return TimestampData.create({ TSTMP: ms % 2 ** 48, TSTMPS: { TSTMPO: this.origin } }).data
  }
}
