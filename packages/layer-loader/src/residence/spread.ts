/** Place of a layer between passes: on the GPU, in host memory, or only on the drive. */
export type Residence = 'vram' | 'ram' | 'nvme'

const RESIDENCES = ['vram', 'ram', 'nvme'] as const

/** Available space. */
export interface Rooms {
  readonly vramBytes: number
  readonly ramBytes: number
  /** Whether layers may stay on the drive; otherwise all must fit elsewhere. */
  readonly nvme: boolean
}

/**
 * Assigns a place to each layer, mixed as evenly as their shares allow: vram, ram, nvme, ram, nvme, vram, … rather than
 * one kind after the other. Layers are used in order, and only as many as there are slots can be in transit: during a
 * run of 30 layers from host memory, the drive would be idle, and during the following run of 30 from the drive, the
 * copies nearly so. With 103 ms per copy and 201 ms per read, that takes 30 x 103 + 30 x 201 = 9.1 s; alternating, both
 * overlap, and 60 transfers over the GPU's link take 6.2 s.
 * @param lengths memory of each layer in bytes, in the order of computation
 * @returns undefined if they do not fit
 */
export function spread(lengths: readonly number[], { vramBytes, ramBytes, nvme }: Rooms): Residence[] | undefined {
  const totalBytes = lengths.reduce((sum, bytes) => sum + bytes, 0)
  const room = { vram: vramBytes, ram: ramBytes, nvme: nvme ? Infinity : 0 }
  const vramShare = Math.min(room.vram, totalBytes)
  const ramShare = Math.min(room.ram, totalBytes - vramShare)
  const share = { vram: vramShare, ram: ramShare, nvme: totalBytes - vramShare - ramShare }
  const given = { vram: 0, ram: 0, nvme: 0 }
  const places: Residence[] = []
  let passedBytes = 0
  for (const bytes of lengths) {
    passedBytes += bytes
    // The place that is furthest behind its share, among those with space.
    const lack = (place: Residence) => (share[place] / totalBytes) * passedBytes - given[place]
    const fitting = RESIDENCES.filter((place) => given[place] + bytes <= room[place])
    const [first, ...others] = fitting
    if (first === undefined) return undefined
    const place = others.reduce<Residence>((best, other) => (lack(other) > lack(best) ? other : best), first)
    given[place] += bytes
    places.push(place)
  }
  fillUp(lengths, places, room, given)
  return places
}

/** Shares are in bytes, but layers are whole: moves each layer to the best place with enough space. */
function fillUp(
  lengths: readonly number[],
  places: Residence[],
  room: Readonly<Record<Residence, number>>,
  given: Record<Residence, number>,
): void {
  for (const better of ['vram', 'ram'] as const) {
    for (const [index, bytes] of lengths.entries()) {
      const place = places[index]!
      if (RESIDENCES.indexOf(place) <= RESIDENCES.indexOf(better) || given[better] + bytes > room[better]) continue
      given[place] -= bytes
      given[better] += bytes
      places[index] = better
    }
  }
}
