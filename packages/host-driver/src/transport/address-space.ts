/** A range of an address space (memory, a file, or what an IOMMU translates), in bytes or another unit. */
export interface AddressRange {
  readonly start: number
  readonly lengthBytes: number
}

/**
 * Returns where in the free addresses from `from` to before `until` an allocation begins; undefined if it does not fit.
 */
export type Place = (from: number, until: number) => number | undefined

/**
 * Records which addresses are taken: first fit; freed addresses merge with free neighbours. Maps and allocates nothing.
 */
export class AddressSpace {
  private free: { start: number; end: number }[]
  private readonly taken = new Map<number, number>()

  /** @throws RangeError for ranges that overlap or are invalid. */
  constructor(ranges: readonly AddressRange[]) {
    this.free = ranges
      .map(({ start, lengthBytes }) => ({ start, end: start + lengthBytes }))
      .sort((one, other) => one.start - other.start)
    let last = 0
    for (const { start, end } of this.free) {
      if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < last || end <= start)
        throw new RangeError(`ranges: expected addresses that do not overlap, got ${start} to ${end} after ${last}`)
      last = end
    }
  }

  /**
   * Takes `lengthBytes` at the lowest address that `place` accepts; undefined if there is none.
   * @throws RangeError for a length that is not a positive integer.
   */
  take(lengthBytes: number, place: Place): number | undefined {
    checkPositive('lengthBytes', lengthBytes)
    for (const [index, { start, end }] of this.free.entries()) {
      const at = place(start, end)
      if (at === undefined || at < start || at + lengthBytes > end) continue
      this.free.splice(index, 1, { start, end: at }, { start: at + lengthBytes, end })
      this.free = this.free.filter((range) => range.end > range.start)
      this.taken.set(at, lengthBytes)
      return at
    }
    return undefined
  }

  /** Same as `take`, at a multiple of `alignBytes`. */
  takeAligned(lengthBytes: number, alignBytes: number): number | undefined {
    checkPositive('alignBytes', alignBytes)
    return this.take(lengthBytes, (from) => Math.ceil(from / alignBytes) * alignBytes)
  }

  /** Frees what `take` returned. @throws TypeError for an address that is not taken. */
  give(start: number): void {
    const lengthBytes = this.taken.get(start)
    if (lengthBytes === undefined) throw new TypeError(`address 0x${start.toString(16)} is not taken`)
    this.taken.delete(start)
    const end = start + lengthBytes
    const next = this.free.findIndex((range) => range.start >= end)
    const index = next === -1 ? this.free.length : next
    this.free.splice(index, 0, { start, end })
    this.join(index)
    if (index > 0) this.join(index - 1)
  }

  get isEmpty(): boolean {
    return this.taken.size === 0
  }

  /** Free ranges, lowest first. Adjacent ones are merged, unless the space was constructed with both. */
  get freeRanges(): AddressRange[] {
    return this.free.map(({ start, end }) => ({ start, lengthBytes: end - start }))
  }

  /** Joins a free range with its upper neighbour if they touch. */
  private join(index: number): void {
    const range = this.free[index]
    const upper = this.free[index + 1]
    if (range === undefined || upper?.start !== range.end) return
    this.free.splice(index, 2, { start: range.start, end: upper.end })
  }
}

function checkPositive(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value <= 0)
    throw new RangeError(`${name}: expected a positive integer, got ${value}`)
}
