import type { StoreTransfer } from '../store/store.js'
import { weightsOf } from './pattern.js'

/** A byte of one of the members, counted from where the set's data begins on it. */
export interface MemberPlace {
  readonly member: number
  readonly offsetBytes: number
}

/** A part of a transfer that one member has. */
export interface MemberTransfer {
  readonly member: number
  readonly transfer: StoreTransfer
}

/** Where the bytes of a stripe lie: arithmetic, and all that is to be known beside the label. */
export class Placement {
  readonly members: number
  readonly unitBytes: number
  readonly weights: readonly number[]
  private readonly pattern: Uint8Array
  /** For each unit of the pattern, how many of its member's come before. */
  private readonly ranks: Uint16Array
  /** For each member, which units of the pattern are its. */
  private readonly slots: readonly number[][]

  constructor(members: number, pattern: Uint8Array, unitBytes: number) {
    this.members = members
    this.pattern = pattern
    this.unitBytes = unitBytes
    this.weights = weightsOf(pattern, members)
    const slots = Array.from({ length: members }, (): number[] => [])
    this.ranks = Uint16Array.from(pattern, (member, slot) => slots[member]!.push(slot) - 1)
    this.slots = slots
  }

  /** Which member has a byte of the set, and where. */
  placeOf(offsetBytes: number): MemberPlace {
    const { pattern, ranks, weights, unitBytes } = this
    const unit = Math.floor(offsetBytes / unitBytes)
    const slot = unit % pattern.length
    const member = pattern[slot]!
    const memberUnit = Math.floor(unit / pattern.length) * weights[member]! + ranks[slot]!
    return { member, offsetBytes: memberUnit * unitBytes + (offsetBytes % unitBytes) }
  }

  /** Which byte of the set a byte of a member is. */
  offsetOf({ member, offsetBytes }: MemberPlace): number {
    const { pattern, weights, unitBytes } = this
    const weight = weights[member]!
    const memberUnit = Math.floor(offsetBytes / unitBytes)
    const unit = Math.floor(memberUnit / weight) * pattern.length + this.slots[member]![memberUnit % weight]!
    return unit * unitBytes + (offsetBytes % unitBytes)
  }

  /** What each member has of a transfer, in order; what is one run on a member is one part. */
  *split({ offsetBytes, lengthBytes, memoryBytes }: StoreTransfer): Generator<MemberTransfer> {
    const { unitBytes } = this
    const endBytes = offsetBytes + lengthBytes
    let run: { member: number; offsetBytes: number; lengthBytes: number; memoryBytes: number } | undefined
    for (let at = offsetBytes; at < endBytes;) {
      const partBytes = Math.min(endBytes, (Math.floor(at / unitBytes) + 1) * unitBytes) - at
      const place = this.placeOf(at)
      // Units that follow each other, on the member as in the set.
      if (run?.member === place.member && run.offsetBytes + run.lengthBytes === place.offsetBytes) {
        run.lengthBytes += partBytes
      } else {
        if (run !== undefined) yield { member: run.member, transfer: run }
        run = { ...place, lengthBytes: partBytes, memoryBytes: memoryBytes + at - offsetBytes }
      }
      at += partBytes
    }
    if (run !== undefined) yield { member: run.member, transfer: run }
  }

  /** How many bytes a stripe has over members of which each has that many. */
  capacityOver(memberBytes: readonly number[]): number {
    const { pattern, ranks, weights, unitBytes } = this
    const units = memberBytes.map((bytes) => Math.floor(bytes / unitBytes))
    const cycles = units.reduce(
      (least, count, member) => Math.min(least, Math.floor(count / weights[member]!)),
      Infinity,
    )
    // The first unit of the last, broken cycle that its member has no room for ends it.
    const rest = pattern.findIndex((member, slot) => cycles * weights[member]! + ranks[slot]! >= units[member]!)
    return (cycles * pattern.length + rest) * unitBytes
  }

  /** How many bytes of a set of `setBytes` each member has. */
  sharesOf(setBytes: number): number[] {
    const { pattern, weights, unitBytes } = this
    const units = setBytes / unitBytes
    const cycles = Math.floor(units / pattern.length)
    const rest = weightsOf(pattern.subarray(0, units % pattern.length), this.members)
    return rest.map((count, member) => (cycles * weights[member]! + count) * unitBytes)
  }
}
