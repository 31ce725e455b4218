import type { CaseIdentity } from '@gpunvme/nvme-sim/case-kit'
import type { DriverContext } from './context.js'
import type { TransportRequest } from './request.js'

/**
 * A requirement for a driver, and a check of it. Unlike a controller case it sends no raw commands: it opens a
 * `Controller` as any program does, then checks the result and what the device received.
 */
export interface DriverCase extends CaseIdentity {
  /**
   * `virtual`: takes longer than a test should in wall time, or checks exact times; needs a transport whose time passes
   * only during waits.
   */
  readonly time: 'any' | 'virtual'
  /** Requirements for each transport that the case opens. */
  readonly needs?: TransportRequest
  /** The case loses its controller. A driver that cannot stop it keeps the memory that it may still write to. */
  readonly losesController?: true
  /** The case makes the host do something that the device reports as a mistake, such as a faulty doorbell. */
  readonly provokesMistakes?: true
  /**
   * Why the case needs the driver's own engine, which rings doorbells through the wrapped transport. Undefined if any
   * engine will do.
   */
  readonly ownEngine?: string
  /** @throws CheckFailed for a broken requirement, NotApplicable if the device lacks what the case needs. */
  readonly run: (context: DriverContext) => Promise<void>
}

/** Cases of one concern. */
export interface DriverArea {
  readonly area: string
  readonly cases: readonly DriverCase[]
}
