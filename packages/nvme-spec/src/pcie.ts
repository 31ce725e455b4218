/** What limits a link's payload: its generation, its width, and how much of each packet is not payload. */
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
   * What the answers to reads are split at, in bytes: the host's Read Completion Boundary, 64 or 128, or more where it
   * merges. MPS, the best a host can do, when not given.
   */
  readonly rcb?: number
  /** Max_Read_Request_Size in bytes, 128 to 4096: what one read may ask for; 512 when not given. */
  readonly maxReadRequestBytes?: number
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

/** A completion's header has no address, so it is the same for both kinds. */
const COMPLETION_HEADER_BYTES = 12

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
  const { mps, headerBytes = 16 } = link
  checkLink(link)
  return (lineRate(link) * mps) / (mps + headerBytes + FRAMING_BYTES)
}

/** Bytes on the wire, line code left out, of `payloadBytes` sent as memory writes of at most `mps` each. */
export function wireBytes(payloadBytes: number, { mps, headerBytes = 16 }: Pick<Link, 'mps' | 'headerBytes'>): number {
  return payloadBytes + Math.ceil(payloadBytes / mps) * (headerBytes + FRAMING_BYTES)
}

/** Bytes on the wire of completions that carry `payloadBytes`, the answer to reads, split at the boundary of the host. */
export function completionWireBytes(payloadBytes: number, { mps, rcb = mps }: Pick<Link, 'mps' | 'rcb'>): number {
  const completions = Math.ceil(payloadBytes / Math.min(rcb, mps))
  return payloadBytes + completions * (COMPLETION_HEADER_BYTES + FRAMING_BYTES)
}

/** Bytes on the wire of the requests that ask for `payloadBytes` of memory: headers and framing, no payload. */
export function requestWireBytes(
  payloadBytes: number,
  { headerBytes = 16, maxReadRequestBytes = 512 }: Pick<Link, 'headerBytes' | 'maxReadRequestBytes'>,
): number {
  return Math.ceil(payloadBytes / maxReadRequestBytes) * (headerBytes + FRAMING_BYTES)
}

/** What a packet of NVMe's own carries, in bytes. */
const SQE_BYTES = 64
const CQE_BYTES = 16
const DOORBELL_BYTES = 4
/** An MSI-X message: one dword. */
export const INTERRUPT_BYTES = 4

/** A PRP list's length in bytes, for page-aligned data in pages of 4 KiB: two pages need none. */
function prpListBytes(lengthBytes: number): number {
  const pages = Math.ceil(lengthBytes / 4096)
  return pages > 2 ? 8 * (pages - 1) : 0
}

/** What one command puts on each direction of the wire, in bytes. */
export interface CommandWireBytes {
  /** To the host: data read, the completion entry, requests for what the controller reads from host memory. */
  readonly upstreamBytes: number
  /** To the controller: the submission entry, two doorbells, the PRP list, data written. */
  readonly downstreamBytes: number
}

/**
 * Wire bytes of one Read or Write of `lengthBytes`: its data, its entries, its PRP list (pages of 4 KiB, data aligned
 * to them), and two doorbells of its own. With `interrupt` one MSI-X message more.
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
 * Commands of `lengthBytes` a second that a link can carry at most, with all that NVMe itself puts on the wire: the
 * fuller direction decides. Times `lengthBytes` it is a rate.
 * @throws RangeError for an MPS, a width or an RCB that PCIe does not have.
 */
export function commandLimit(operation: 'read' | 'write', lengthBytes: number, link: Link): number {
  checkLink(link)
  const { upstreamBytes, downstreamBytes } = commandWireBytes(operation, lengthBytes, link)
  return lineRate(link) / Math.max(upstreamBytes, downstreamBytes)
}

/** Passes a link that can be. @throws RangeError for an MPS, a width, an RCB or a read request size that PCIe lacks. */
export function checkLink({ mps, width, rcb = 64, maxReadRequestBytes = 512 }: Link): void {
  checkSize('MPS', mps, 128)
  checkSize('RCB', rcb, 64)
  checkSize('Max_Read_Request_Size', maxReadRequestBytes, 128)
  if (![1, 2, 4, 8, 16].includes(width))
    throw new RangeError(`link width: expected 1, 2, 4, 8 or 16 lanes, got ${width}`)
}

function checkSize(name: string, bytes: number, least: number): void {
  if (![least, 128, 256, 512, 1024, 2048, 4096].includes(bytes))
    throw new RangeError(`${name}: expected ${least} to 4096, a power of two, got ${bytes}`)
}
