/**
 * Maximum number of commands in flight on one queue: more would leave fewer than sixteen generations in the 16 bits of
 * an identifier.
 */
export const MOST_IN_FLIGHT = 4095

/**
 * Returns how many low bits of a command identifier select one of `slots` slots for commands in flight; the bits above
 * are the slot's generation. The all-ones slot stays unused, which avoids the identifier FFFFh, as advised by Base 2.1
 * §4.1.1.
 * @throws RangeError for no slots, or more than `MOST_IN_FLIGHT`.
 */
export function cidSlotBits(slots: number): number {
  if (!Number.isInteger(slots) || slots < 1 || slots > MOST_IN_FLIGHT) {
    throw new RangeError(`commands in flight on a queue: expected 1 to ${MOST_IN_FLIGHT}, got ${slots}`)
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
