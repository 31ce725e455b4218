/** Commands in flight on one queue at most: more would leave an identifier's 16 bits fewer than sixteen generations. */
export const MOST_IN_FLIGHT = 4095

/**
 * How many low bits of a command identifier name one of `slots` places for commands in flight; above them is the
 * place's generation. One number stays unused, the one of all ones: that keeps FFFFh out of the identifiers, which
 * Base 2.1 §4.1.1 advises against.
 * @throws RangeError for no slots, or more than `MOST_IN_FLIGHT`.
 */
export function cidSlotBits(slots: number): number {
  if (!Number.isInteger(slots) || slots < 1 || slots > MOST_IN_FLIGHT) {
    throw new RangeError(`commands in flight on a queue: expected 1 to ${MOST_IN_FLIGHT}, got ${slots}`)
  }
  return Math.ceil(Math.log2(slots + 1))
}

/** The identifier of the command in `slot`; of the generation the bits above what an identifier holds are left out. */
export function cidOf(generation: number, slot: number, slotBits: number): number {
  return ((generation << slotBits) | slot) & 0xffff
}

/** The place that an identifier names; of one that the controller made up it may be none that there is. */
export function slotOfCid(cid: number, slotBits: number): number {
  return cid & ((1 << slotBits) - 1)
}

/** The low bits of the place's generation, as many as an identifier holds: 16 - `slotBits`. */
export function generationOfCid(cid: number, slotBits: number): number {
  return (cid & 0xffff) >>> slotBits
}
