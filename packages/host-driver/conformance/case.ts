import type { CaseIdentity } from '@gpunvme/nvme-sim/case-kit'
import type { DriverContext } from './context.js'
import type { TransportRequest } from './request.js'

/**
 * A requirement for a driver, and a check for it. Unlike a controller case, it sends no raw commands: it opens a
 * controller through the driver, and checks the results and the accesses that reach the device.
 */
export interface DriverCase extends CaseIdentity {
  /**
   * `virtual` if the case would take too long in wall time, or checks exact times. It then needs a transport whose time
   * passes only during waits.
   */
  readonly time: 'any' | 'virtual'
  /** Requirements for the transports that the case opens. */
  readonly needs?: TransportRequest
  /** Whether the case loses its controller: a driver then keeps the memory to which the controller may still write. */
  readonly losesController?: true
  /** Whether the case causes the device to report host mistakes, such as wrong doorbell writes. */
  readonly provokesMistakes?: true
  /**
   * Reason why the case needs the driver's own engine, which rings doorbells through the wrapped transport. Undefined
   * if the case works with any engine.
   */
  readonly ownEngine?: string
  /** @throws CheckFailed if the requirement is not met, NotApplicable if the device does not support the case. */
  readonly run: (context: DriverContext) => Promise<void>
}

/** Driver cases of one area. */
export interface DriverArea {
  readonly area: string
  readonly cases: readonly DriverCase[]
}
