/** Names of `gnv_ending`, by its values. */
const ENDINGS = ['pending', 'success', 'status', 'timeout', 'lost', 'halted', 'busy', 'invalid'] as const

/** How a command of a kernel ended: `gnv::Outcome`. */
export interface DeviceOutcome {
  readonly ending: (typeof ENDINGS)[number]
  /** Status field of the completion without the Phase Tag; 0 unless `ending` is `status`. */
  readonly status: number
  /** `gnv_reason`; 0 unless `ending` is `invalid`. */
  readonly reason: number
}

/** Decodes an outcome that a kernel stored with `Outcome::word()`. @throws RangeError if it is not one. */
export function deviceOutcome(word: bigint): DeviceOutcome {
  const ending = ENDINGS[Number((word >> 32n) & 0xffn)]
  if (ending === undefined) throw new RangeError(`word: expected an outcome of gnv::Device, got 0x${word.toString(16)}`)
  const low = Number(word & 0xffffn)
  return { ending, status: ending === 'status' ? low : 0, reason: ending === 'invalid' ? low : 0 }
}
