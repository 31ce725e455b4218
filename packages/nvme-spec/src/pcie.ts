/** Properties of a link that limit its payload: generation, width, and the overhead of each packet. */
export interface Link {
  /** PCIe generation, 1 to 5. */
  readonly gen: 1 | 2 | 3 | 4 | 5
  /** Lanes: 1, 2, 4, 8 or 16. */
  readonly width: number
  /** Maximum Payload Size in bytes: 128 to 4096. */
  readonly mps: number
  /** TLP header of reads and writes: 16 bytes with 64-bit addresses (the default), 12 with 32-bit ones. */
  readonly headerBytes?: 12 | 16
  /**
   * Boundary at which read completions are split, in bytes: the host's Read Completion Boundary, 64 or 128, or more if
   * the host merges completions. Default: MPS, the best case.
   */
  readonly rcb?: number
  /** Max_Read_Request_Size in bytes, 128 to 4096. Default: 512. */
  readonly maxReadRequestBytes?: number
}

// Transfers per second and lane, and the share left by the line code: 8b/10b up to Gen2, 128b/130b from Gen3.
const lanes = {
  1: { transfersPerSecond: 2.5e9, code: 8 / 10 },
  2: { transfersPerSecond: 5e9, code: 8 / 10 },
  3: { transfersPerSecond: 8e9, code: 128 / 130 },
  4: { transfersPerSecond: 16e9, code: 128 / 130 },
  5: { transfersPerSecond: 32e9, code: 128 / 130 },
} as const

/** Overhead of each TLP beside its header and payload: framing with sequence number (4 bytes) and LCRC (4). */
const FRAMING_BYTES = 8

/** A completion header has no address, so it has the same length for both kinds. */
const COMPLETION_HEADER_BYTES = 12

/** Returns the bytes per second on the wire after the line code, before packet overhead. */
export function lineRate({ gen, width }: Pick<Link, 'gen' | 'width'>): number {
  const { transfersPerSecond, code } = lanes[gen]
  return (transfersPerSecond * code * width) / 8
}

/**
 * Returns the maximum payload in bytes per second of full-size memory writes: the upper limit of a drive's reads.
 * Flow-control packets and skip sets, which take a further 1-2 %, are not included.
 * @throws RangeError for an MPS or a width that PCIe does not have.
 */
export function payloadLimit(link: Link): number {
  const { mps, headerBytes = 16 } = link
  checkLink(link)
  return (lineRate(link) * mps) / (mps + headerBytes + FRAMING_BYTES)
}

/**
 * Returns the bytes on the wire, without the line code, for `payloadBytes` sent as memory writes of at most `mps` each.
 */
export function wireBytes(payloadBytes: number, { mps, headerBytes = 16 }: Pick<Link, 'mps' | 'headerBytes'>): number {
  return payloadBytes + Math.ceil(payloadBytes / mps) * (headerBytes + FRAMING_BYTES)
}

/**
 * Returns the bytes on the wire of completions that carry `payloadBytes` of read data, split at the host's boundary.
 */
export function completionWireBytes(payloadBytes: number, { mps, rcb = mps }: Pick<Link, 'mps' | 'rcb'>): number {
  const completions = Math.ceil(payloadBytes / Math.min(rcb, mps))
  return payloadBytes + completions * (COMPLETION_HEADER_BYTES + FRAMING_BYTES)
}

/** Returns the bytes on the wire of read requests for `payloadBytes` of memory: headers and framing, no payload. */
export function requestWireBytes(
  payloadBytes: number,
  { headerBytes = 16, maxReadRequestBytes = 512 }: Pick<Link, 'headerBytes' | 'maxReadRequestBytes'>,
): number {
  return Math.ceil(payloadBytes / maxReadRequestBytes) * (headerBytes + FRAMING_BYTES)
}

/** Payload of the packets of NVMe itself, in bytes. */
const SQE_BYTES = 64
const CQE_BYTES = 16
const DOORBELL_BYTES = 4
/** An MSI-X message: one dword. */
export const INTERRUPT_BYTES = 4

/** Returns the length of a PRP list in bytes, for page-aligned data in pages of 4 KiB: two pages need none. */
function prpListBytes(lengthBytes: number): number {
  const pages = Math.ceil(lengthBytes / 4096)
  return pages > 2 ? 8 * (pages - 1) : 0
}

/** Bytes on the wire of one command, by direction. */
export interface CommandWireBytes {
  /** To the host: data read, the completion entry, read requests of the controller. */
  readonly upstreamBytes: number
  /** To the controller: the submission entry, two doorbells, the PRP list, data written. */
  readonly downstreamBytes: number
}

/**
 * Returns the wire bytes of one Read or Write of `lengthBytes`: its data, its entries, its PRP list (for aligned data
 * in pages of 4 KiB), and two doorbell writes. `interrupt` adds one MSI-X message.
 */
export function commandWireBytes(
  operation: 'read' | 'write',
  lengthBytes: number,
  link: Link,
  { interrupt = false }: { readonly interrupt?: boolean } = {},
): CommandWireBytes {
  const listBytes = prpListBytes(lengthBytes)
  const isRead = operation === 'read'
  const requests =
    requestWireBytes(SQE_BYTES, link) +
    requestWireBytes(listBytes, link) +
    (isRead ? 0 : requestWireBytes(lengthBytes, link))
  const writes =
    wireBytes(CQE_BYTES, link) +
    (isRead ? wireBytes(lengthBytes, link) : 0) +
    (interrupt ? wireBytes(INTERRUPT_BYTES, link) : 0)
  const answers =
    completionWireBytes(SQE_BYTES, link) +
    completionWireBytes(listBytes, link) +
    (isRead ? 0 : completionWireBytes(lengthBytes, link))
  return { upstreamBytes: requests + writes, downstreamBytes: answers + 2 * wireBytes(DOORBELL_BYTES, link) }
}

/**
 * Returns the maximum number of commands of `lengthBytes` per second on a link, with all overhead of NVMe itself; the
 * busier direction decides. Multiply by `lengthBytes` for a rate.
 * @throws RangeError for an MPS, a width or an RCB that PCIe does not have.
 */
export function commandLimit(operation: 'read' | 'write', lengthBytes: number, link: Link): number {
  checkLink(link)
  const { upstreamBytes, downstreamBytes } = commandWireBytes(operation, lengthBytes, link)
  return lineRate(link) / Math.max(upstreamBytes, downstreamBytes)
}

/** Checks a link. @throws RangeError for an MPS, a width, an RCB or a read request size that PCIe does not have. */
export function checkLink({ mps, width, rcb = 64, maxReadRequestBytes = 512 }: Link): void {
  checkSize('MPS', mps, 128)
  checkSize('RCB', rcb, 64)
  checkSize('Max_Read_Request_Size', maxReadRequestBytes, 128)
  if (![1, 2, 4, 8, 16].includes(width))
    throw new RangeError(`link width: expected 1, 2, 4, 8 or 16 lanes, got ${width}`)
}

function checkSize(name: string, bytes: number, min: number): void {
  if (![min, 128, 256, 512, 1024, 2048, 4096].includes(bytes))
    throw new RangeError(`${name}: expected ${min} to 4096, a power of two, got ${bytes}`)
}
