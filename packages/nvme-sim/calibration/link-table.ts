import { deriveProfile } from '../src/profiles/index.js'
import { KIB } from '../src/profiles/units.js'
import { steady } from './measure.js'

/** A link saturated with identical commands, and its rate calculated from its TLPs. */
export interface LinkCell {
  readonly operation: 'read' | 'write'
  readonly gen: 3 | 4 | 5
  readonly mps: 128 | 256 | 512
  readonly rcb: 64 | 128 | 256
  readonly blockBytes: number
  readonly expectedBytesPerSecond: number
}

const generations = [3, 4, 5] as const

const reads = (mps: 128 | 256 | 512, blockBytes: number, gigabytes: readonly [number, number, number]): LinkCell[] =>
  generations.map((gen, i) => ({
    operation: 'read',
    gen,
    mps,
    rcb: 64,
    blockBytes,
    expectedBytesPerSecond: gigabytes[i]! * 1e9,
  }))

const writes = (rcb: 64 | 128 | 256, gigabytes: readonly [number, number, number]): LinkCell[] =>
  generations.map((gen, i) => ({
    operation: 'write',
    gen,
    mps: 256,
    rcb,
    blockBytes: 128 * KIB,
    expectedBytesPerSecond: gigabytes[i]! * 1e9,
  }))

/** Rates in GB/s for Gen3, Gen4 and Gen5, all x4, with 64-bit addresses and only TLPs on the wire. */
export const linkCells: readonly LinkCell[] = [
  ...reads(128, 1024 * KIB, [3.32, 6.63, 13.27]),
  ...reads(256, 1024 * KIB, [3.6, 7.2, 14.4]),
  ...reads(512, 1024 * KIB, [3.76, 7.52, 15.05]),
  ...reads(256, 128 * KIB, [3.6, 7.2, 14.4]),
  ...reads(256, 4 * KIB, [3.55, 7.1, 14.2]),
  ...reads(256, 512, [3.23, 6.46, 12.9]),
  ...writes(64, [2.99, 5.98, 11.97]),
  ...writes(128, [3.4, 6.79, 13.6]),
  ...writes(256, [3.64, 7.28, 14.6]),
]

/** Returns the simulator's rate over this link, for a drive without other costs. */
export async function linkRate({ operation, gen, mps, rcb, blockBytes }: LinkCell): Promise<number> {
  const link = { gen, width: 4, mps, rcb, propagationNs: 150, maxReadRequestBytes: 512 } as const
  const { intervalNs } = await steady(deriveProfile('ideal', { link }), { operation, blockBytes, depth: 64 })
  return (blockBytes / intervalNs) * 1e9
}
