import { CSTS } from '../registers.js'

/**
 * Whether a controller that was ready has left the bus, has failed, or was reset externally. It no longer responds.
 * @param csts value read from CSTS; all ones if the device has left the bus (Base 2.1 §3.1.4.6).
 */
export function isLost(csts: number): boolean {
  return csts === 0xffff_ffff || CSTS.CFS.of(csts) === 1 || CSTS.RDY.of(csts) === 0
}
