/** Constants of set format 1, explained in docs/sets-1.md. */

const KIB = 1024
const MIB = 1024 * KIB

export const SET_VERSION = 1

/** Offset of the set's data on a member. Other bytes before it are reserved and zero. */
export const MEMBER_DATA_BYTES = 2 * MIB

/** Alignment of a member's data, and of the unit of a stripe. */
export const SET_ALIGNMENT_BYTES = 4 * KIB

/** Maximum number of members of a set. */
export const MAX_MEMBERS = 16

/** Maximum units of a pattern, after which the places of a stripe's units repeat. */
export const MAX_PATTERN_UNITS = 256

/** Minimum unit of a stripe, a power of two. */
export const MIN_UNIT_BYTES = SET_ALIGNMENT_BYTES
/** Maximum length of a stripe unit, in bytes. */
export const MAX_UNIT_BYTES = 64 * MIB
/** Default length of a stripe unit, in bytes. */
export const DEFAULT_UNIT_BYTES = MIB

/** Kinds of sets. */
export type SetKind = 'stripe' | 'mirror'

/** `KIND` of a label. */
export const KIND_CODES: Readonly<Record<SetKind, number>> = { stripe: 1, mirror: 2 }
