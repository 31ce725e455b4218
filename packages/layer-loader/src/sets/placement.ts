import type { StoreTransfer } from '../store/store.js'
import { weightsOf } from './pattern.js'

/** A byte of a member, counted from the start of the set's data on it. */
export interface MemberPlace {
  readonly member: number
  readonly offsetBytes: number
}

/** The part of a transfer that is on one member. */
export interface MemberTransfer {
  readonly member: number
  readonly transfer: StoreTransfer
}

/** Computes where the bytes of a stripe are, from its label. */
export class Placement {
  readonly members: number
  readonly unitBytes: number
  readonly weights: readonly number[]
  private readonly pattern: Uint8Array
  /** For each unit of the pattern, the number of earlier units of its member. */
  private readonly ranks: Uint16Array
  /** For each member, the positions of its units in the pattern. */
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

  /** Returns the member of a byte of the set, and the offset on it. */
  placeOf(offsetBytes: number): MemberPlace {
    const { pattern, ranks, weights, unitBytes } = this
    const unit = Math.floor(offsetBytes / unitBytes)
    const slot = unit % pattern.length
    const member = pattern[slot]!
    const memberUnit = Math.floor(unit / pattern.length) * weights[member]! + ranks[slot]!
    return { member, offsetBytes: memberUnit * unitBytes + (offsetBytes % unitBytes) }
  }

  /** Returns the offset in the set of a byte of a member. */
  offsetOf({ member, offsetBytes }: MemberPlace): number {
    const { pattern, weights, unitBytes } = this
    const weight = weights[member]!
    const memberUnit = Math.floor(offsetBytes / unitBytes)
    const unit = Math.floor(memberUnit / weight) * pattern.length + this.slots[member]![memberUnit % weight]!
    return unit * unitBytes + (offsetBytes % unitBytes)
  }

  /** Splits a transfer into parts per member, in order. Contiguous runs on a member are one part. */
  *split({ offsetBytes, lengthBytes, memoryBytes }: StoreTransfer): Generator<MemberTransfer> {
    const { unitBytes } = this
    const endBytes = offsetBytes + lengthBytes
    let run: { member: number; offsetBytes: number; lengthBytes: number; memoryBytes: number } | undefined
    for (let at = offsetBytes; at < endBytes;) {
      const partBytes = Math.min(endBytes, (Math.floor(at / unitBytes) + 1) * unitBytes) - at
      const place = this.placeOf(at)
      // Units that are contiguous on the member and in the set.
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

  /** Returns the capacity of a stripe over members of these sizes, in bytes. */
  capacityOver(memberBytes: readonly number[]): number {
    const { pattern, ranks, weights, unitBytes } = this
    const units = memberBytes.map((bytes) => Math.floor(bytes / unitBytes))
    const cycles = units.reduce((min, count, member) => Math.min(min, Math.floor(count / weights[member]!)), Infinity)
    // The last, incomplete cycle ends at the first unit whose member is full.
    const rest = pattern.findIndex((member, slot) => cycles * weights[member]! + ranks[slot]! >= units[member]!)
    return (cycles * pattern.length + rest) * unitBytes
  }

  /** Returns the bytes on each member of a set of `setBytes`. */
  sharesOf(setBytes: number): number[] {
    const { pattern, weights, unitBytes } = this
    const units = setBytes / unitBytes
    const cycles = Math.floor(units / pattern.length)
    const rest = weightsOf(pattern.subarray(0, units % pattern.length), this.members)
    return rest.map((count, member) => (cycles * weights[member]! + count) * unitBytes)
  }
}
