/** What limits a link's payload: its generation, its width, and how much of each packet is not payload. */
export interface Link {
  /** PCIe generation, 1 to 5. */
  readonly gen: 1 | 2 | 3 | 4 | 5
  /** Lanes: 1, 2, 4, 8 or 16. */
  readonly width: number
  /** Maximum Payload Size in bytes: 128 to 4096. */
  readonly mps: number
  /** TLP header: 16 bytes with 64-bit addresses (the default), 12 with 32-bit ones. */
  readonly headerBytes?: 12 | 16
}

// Transfers per second and lane, and the share that the line code leaves: 8b/10b up to Gen2, 128b/130b from Gen3.
const lanes = {
  1: { transfersPerSecond: 2.5e9, code: 8 / 10 },
  2: { transfersPerSecond: 5e9, code: 8 / 10 },
  3: { transfersPerSecond: 8e9, code: 128 / 130 },
  4: { transfersPerSecond: 16e9, code: 128 / 130 },
  5: { transfersPerSecond: 32e9, code: 128 / 130 },
} as const

/** Framing with sequence number (4 bytes) and LCRC (4): what each TLP costs beside its header and payload. */
const FRAMING_BYTES = 8

/** Bytes per second on the wire after the line code, before any packet's overhead. */
export function lineRate({ gen, width }: Pick<Link, 'gen' | 'width'>): number {
  const { transfersPerSecond, code } = lanes[gen]
  return (transfersPerSecond * code * width) / 8
}

/**
 * Bytes per second of payload that a stream of full-size memory writes can carry: what a drive's read can reach
 * at most. Flow-control packets and skip sets take a further 1-2 %, which this leaves out.
 * @throws RangeError for an MPS or a width that PCIe does not have.
 */
export function payloadLimit(link: Link): number {
  const { mps, width, headerBytes = 16 } = link
  if (![128, 256, 512, 1024, 2048, 4096].includes(mps))
    throw new RangeError(`MPS: expected 128 to 4096, a power of two, got ${mps}`)
  if (![1, 2, 4, 8, 16].includes(width))
    throw new RangeError(`link width: expected 1, 2, 4, 8 or 16 lanes, got ${width}`)
  return (lineRate(link) * mps) / (mps + headerBytes + FRAMING_BYTES)
}

/** Bytes on the wire, line code left out, of `payloadBytes` sent as memory writes of at most `mps` each. */
export function wireBytes(payloadBytes: number, { mps, headerBytes = 16 }: Pick<Link, 'mps' | 'headerBytes'>): number {
  return payloadBytes + Math.ceil(payloadBytes / mps) * (headerBytes + FRAMING_BYTES)
}
