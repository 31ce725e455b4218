/** Generations of NVIDIA GPUs, oldest first. */
export const GENERATIONS = [
  'older',
  'Maxwell',
  'Pascal',
  'Volta',
  'Turing',
  'Ampere',
  'Hopper',
  'Ada',
  'Blackwell',
] as const

export type Generation = (typeof GENERATIONS)[number]

/**
 * Generations by PCI device ID: first and last of each block of chips. Source: the list of supported GPUs in the README
 * of driver 590.48.01, appendix A, and the PCI ID repository.
 */
const BLOCKS: readonly (readonly [first: number, last: number, generation: Generation])[] = [
  [0x0040, 0x133f, 'older'],
  [0x1340, 0x17ff, 'Maxwell'],
  [0x15f0, 0x15ff, 'Pascal'],
  [0x1b00, 0x1d7f, 'Pascal'],
  [0x1d80, 0x1dff, 'Volta'],
  [0x1e00, 0x1fff, 'Turing'],
  [0x2080, 0x20ff, 'Ampere'],
  [0x2180, 0x21ff, 'Turing'],
  [0x2200, 0x22ff, 'Ampere'],
  [0x2300, 0x23ff, 'Hopper'],
  [0x2400, 0x25ff, 'Ampere'],
  [0x2680, 0x28ff, 'Ada'],
  [0x2900, 0x2fff, 'Blackwell'],
  [0x3180, 0x31ff, 'Blackwell'],
]

/** Returns the generation of a device ID; undefined if no block has it, such as for a newer GPU. */
export function generationOf(deviceId: number): Generation | undefined {
  // The block of GP100 is inside Maxwell's; the narrower block comes last.
  return BLOCKS.filter(([first, last]) => deviceId >= first && deviceId <= last).at(-1)?.[2]
}

/** Whether `generation` precedes `other`. */
export function isBefore(generation: Generation, other: Generation): boolean {
  return GENERATIONS.indexOf(generation) < GENERATIONS.indexOf(other)
}
