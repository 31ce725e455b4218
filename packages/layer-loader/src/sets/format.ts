/** The numbers of set format 1. docs/sets-1.md says what they are for. */

const KIB = 1024
const MIB = 1024 * KIB

export const SET_VERSION = 1

export const LABEL_BYTES = 4 * KIB

/** Where the two copies of a label start on a member, in bytes. */
export const LABEL_OFFSET_BYTES = { A: 0, B: MIB } as const

export type LabelCopyName = keyof typeof LABEL_OFFSET_BYTES

/** Where the set's data begins on a member. What is before it and no label is reserved, and zero. */
export const MEMBER_DATA_BYTES = 2 * MIB

/** What the data of a member, and the unit of a stripe, is a multiple of. */
export const SET_ALIGNMENT_BYTES = 4 * KIB

export const MAX_MEMBERS = 16

/** Units after which the places of a stripe's units repeat, at most. */
export const MOST_PATTERN_UNITS = 256

/** The unit of a stripe is a power of two. */
export const MIN_UNIT_BYTES = SET_ALIGNMENT_BYTES
export const MAX_UNIT_BYTES = 64 * MIB
export const DEFAULT_UNIT_BYTES = MIB

export type SetKind = 'stripe' | 'mirror'

/** `KIND` of a label. */
export const KIND_CODES: Readonly<Record<SetKind, number>> = { stripe: 1, mirror: 2 }
