import type { DriverContext } from './context.js'
import type { TransportRequest } from './request.js'

/**
 * One requirement of a driver, and how it shows. Unlike a controller case it drives nothing by raw commands: it opens a
 * `Controller` on a transport as anybody would, and looks at what comes of it and at what the device was told.
 */
export interface DriverCase {
  readonly id: string
  /** The requirement, in the specification's words where it has some. */
  readonly title: string
  /** Where it stands, or which failure of other drivers it comes from. */
  readonly spec: string
  /**
   * `virtual`: it waits longer than anybody waits by the wall, or is about exact times, and takes a transport whose time
   * passes only where somebody waits for it.
   */
  readonly time: 'any' | 'virtual'
  /** What each transport that it opens must be. */
  readonly needs?: TransportRequest
  /** Its controller is lost: a driver that cannot stop it keeps the memory that it may still write to. */
  readonly losesController?: true
  /** It makes the host do what the device counts as a mistake, as a faulty doorbell is. */
  readonly provokesMistakes?: true
  /**
   * Why it takes the engine that is the driver's own: that one rings through the transport that the case has wrapped.
   * Any engine will do where it is not given.
   */
  readonly ownEngine?: string
  /** @throws DriverCheckFailed for a broken requirement, NotApplicable where it is not about such a device. */
  readonly run: (context: DriverContext) => Promise<void>
}

/** Cases of one concern. */
export interface DriverArea {
  readonly area: string
  readonly cases: readonly DriverCase[]
}
