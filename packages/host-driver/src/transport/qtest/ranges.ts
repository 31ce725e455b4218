/**
 * Hands out parts of one range of addresses: the first place that fits. What comes back grows together with its
 * neighbours, so that whoever frees everything has the whole range again.
 */
export class AddressRanges {
  /** What is free, in order of address, never two that touch. */
  readonly #free: { start: number; end: number }[]

  constructor(start: number, lengthBytes: number) {
    this.#free = [{ start, end: start + lengthBytes }]
  }

  /** How much is free, and how much of it in one piece. */
  get left(): { readonly bytes: number; readonly largestBytes: number } {
    const sizes = this.#free.map(({ start, end }) => end - start)
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), largestBytes: Math.max(0, ...sizes) }
  }

  /** The address of `lengthBytes` bytes at a multiple of `alignBytes`; undefined where no place is large enough. */
  take(lengthBytes: number, alignBytes: number): number | undefined {
    for (const [index, { start, end }] of this.#free.entries()) {
      const address = Math.ceil(start / alignBytes) * alignBytes
      const behind = address + lengthBytes
      if (behind > end) continue
      const rest = [
        { start, end: address },
        { start: behind, end },
      ]
      this.#free.splice(index, 1, ...rest.filter((range) => range.end > range.start))
      return address
    }
    return undefined
  }

  /** Gives back what `take` gave, whole. */
  give(address: number, lengthBytes: number): void {
    const end = address + lengthBytes
    const next = this.#free.findIndex(({ start }) => start >= end)
    const index = next < 0 ? this.#free.length : next
    const before = this.#free[index - 1]
    const after = this.#free[index]
    const joinsBefore = before?.end === address
    const joinsAfter = after?.start === end
    const joined = { start: joinsBefore ? before.start : address, end: joinsAfter ? after.end : end }
    this.#free.splice(index - (joinsBefore ? 1 : 0), (joinsBefore ? 1 : 0) + (joinsAfter ? 1 : 0), joined)
  }
}
