import { CQE } from '../entries.js'
import { GpuNvmeError } from '../error.js'
import { CSTS } from '../registers.js'
import type { Outcome } from '../transport/index.js'

/**
 * Maximum number of commands in flight on one queue: more would leave fewer than sixteen generations in the 16 bits of
 * an identifier.
 */
export const MAX_IN_FLIGHT = 4095

/**
 * Returns how many low bits of a command identifier select one of `slots` slots for commands in flight; the bits above
 * are the slot's generation. The all-ones slot stays unused, which avoids the identifier FFFFh, as advised by Base 2.1
 * §4.1.1.
 * @throws RangeError for no slots, or more than `MAX_IN_FLIGHT`.
 */
export function cidSlotBits(slots: number): number {
  if (!Number.isInteger(slots) || slots < 1 || slots > MAX_IN_FLIGHT) {
    throw new RangeError(`commands in flight on a queue: expected 1 to ${MAX_IN_FLIGHT}, got ${slots}`)
  }
  return Math.ceil(Math.log2(slots + 1))
}

/** Returns the identifier of the command in `slot`. Bits of the generation that do not fit are dropped. */
export function cidOf(generation: number, slot: number, slotBits: number): number {
  return ((generation << slotBits) | slot) & 0xffff
}

/** Returns the slot of an identifier. If the controller made up the identifier, the slot may not exist. */
export function slotOfCid(cid: number, slotBits: number): number {
  return cid & ((1 << slotBits) - 1)
}

/** Returns the low bits of the slot's generation that an identifier holds: 16 - `slotBits` of them. */
export function generationOfCid(cid: number, slotBits: number): number {
  return (cid & 0xffff) >>> slotBits
}

/** Registers or memory could not be accessed at all. Commands in flight may or may not have been executed. */
export class EngineFailedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_ENGINE_FAILED'
  readonly category = 'device'
  /** @param engine its `name`. @param next next step. Default: opening everything again. */
  constructor(engine: string, cause: unknown, next = 'see the cause; open the transport and the controller again') {
    super(`The engine '${engine}' lost its transport: ${cause instanceof Error ? cause.message : String(cause)}`, {
      next,
      cause,
    })
  }
}

/**
 * Whether a controller that was ready has left the bus, has failed, or was reset externally. It no longer responds.
 * @param csts value read from CSTS; all ones if the device has left the bus (Base 2.1 §3.1.4.6).
 */
export function isLost(csts: number): boolean {
  return csts === 0xffff_ffff || CSTS.CFS.of(csts) === 1 || CSTS.RDY.of(csts) === 0
}

/** Converts the 15 bits of a completion's Status field, without the phase tag (Base 2.1 §4.2.3), to an outcome. */
export function statusOutcome(status15: number): Extract<Outcome, { kind: 'status' }> {
  const { SC, SCT, M, DNR, CRD } = CQE.STATUS
  const word = status15 << 1
  return {
    kind: 'status',
    sc: SC.of(word),
    sct: SCT.of(word),
    crd: CRD.of(word),
    more: M.of(word) === 1,
    dnr: DNR.of(word) === 1,
  }
}
