import type { Namespace } from '@gpunvme/host-driver'
import { ToolsError } from '../command-line/tools-error.js'
import { plural } from '../terminal/units.js'
import type { DifferingExtent, Oracle, ReadFacts, StepFacts } from './report.js'
import { SkippedStep } from './sequence.js'

const MIB = 1024 * 1024
const EXTENTS = 16
/** Content of memory before a read, so that bytes that do not arrive are noticed. */
const UNTOUCHED = 0xa5
/** Size of the commands of a second read, below every drive's MDTS. */
const SMALL_BYTES = 16 * 1024
/** Time limit of a command. */
const COMMAND_NS = 10_000_000_000

/** A range of bytes of a namespace, in whole blocks. */
export interface Extent {
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** Bytes of extents, to compare reads with. */
export interface Reference {
  readonly comparedWith: Oracle
  readonly nsid: number | undefined
  readonly capacityBytes: number
  readonly blockBytes: number
  readonly extents: readonly Extent[]
  /** Content of each extent. */
  readonly contents: readonly Uint8Array[]
}

/** Spreads extents of 1 MiB over a namespace: the first and the last one, and others at equal distances. */
export function chooseExtents(capacityBytes: number, blockBytes: number): Extent[] {
  const lengthBytes = Math.min(MIB, capacityBytes)
  const count = Math.min(EXTENTS, Math.floor(capacityBytes / MIB))
  if (count <= 1) return capacityBytes === 0 ? [] : [{ offsetBytes: 0, lengthBytes }]
  const last = capacityBytes - lengthBytes
  return Array.from({ length: count }, (_, at) => ({
    offsetBytes: Math.floor((at * last) / (count - 1) / blockBytes) * blockBytes,
    lengthBytes,
  }))
}

/** Reads extents from a namespace. @param commandBytes size of each command; default: as large as possible */
export async function readExtents(
  namespace: Namespace,
  extents: readonly Extent[],
  signal: AbortSignal,
  commandBytes = Infinity,
): Promise<Uint8Array[]> {
  const { blockBytes } = namespace
  const contents: Uint8Array[] = []
  for (const { offsetBytes, lengthBytes } of extents) {
    signal.throwIfAborted()
    const memory = namespace.dma.alloc(lengthBytes)
    try {
      const view = memory.view!
      const bytes = new Uint8Array(view.buffer, view.byteOffset, lengthBytes).fill(UNTOUCHED)
      const step = Math.max(blockBytes, Math.min(commandBytes, lengthBytes))
      for (let at = 0; at < lengthBytes; at += step) {
        const blocks = Math.min(step, lengthBytes - at) / blockBytes
        const slba = (offsetBytes + at) / blockBytes
        await namespace.read(slba, blocks, memory, { offsetBytes: at, timeoutNs: COMMAND_NS, signal })
      }
      contents.push(bytes.slice())
    } finally {
      memory.free()
    }
  }
  return contents
}

/** Reads the extents by the CPU alone, as a reference for other reads. Reads them twice, and compares. */
export async function readReference(
  namespace: Namespace,
  signal: AbortSignal,
  record: (facts: StepFacts) => void,
): Promise<Reference> {
  const { nsid, capacityBytes, blockBytes } = namespace
  const extents = chooseExtents(capacityBytes, blockBytes)
  if (extents.length === 0) throw new SkippedStep('the namespace has no blocks')
  const contents = await readExtents(namespace, extents, signal)
  const reference = { comparedWith: 'cpu', nsid, capacityBytes, blockBytes, extents, contents } as const
  compareReads(reference, await readExtents(namespace, extents, signal, SMALL_BYTES), record)
  return reference
}

/** @throws ToolsError (SIZE_DIFFERS) if a namespace has another size than the reference */
export function requireSameSize(
  reference: Reference,
  namespace: Pick<Namespace, 'capacityBytes' | 'blockBytes'>,
): void {
  const { capacityBytes, blockBytes, comparedWith } = reference
  // An image file has no block size of its own.
  const isSame = comparedWith === 'image' || blockBytes === namespace.blockBytes
  if (isSame && capacityBytes === namespace.capacityBytes) return
  throw new ToolsError(
    'ERR_GPUNVME_SIZE_DIFFERS',
    'verification',
    `The namespace differs from ${ORACLES[comparedWith]}`,
    {
      facts: [
        `expected ${capacityBytes} bytes in blocks of ${blockBytes}`,
        `got ${namespace.capacityBytes} bytes in blocks of ${namespace.blockBytes}`,
      ],
    },
  )
}

/** Compares reads with the reference, and records the result. @throws ToolsError (BYTES_DIFFER) */
export function compareReads(
  { extents, contents, comparedWith }: Reference,
  found: readonly Uint8Array[],
  record: (facts: StepFacts) => void,
): ReadFacts {
  const differing = extents.flatMap((extent, at) => differenceIn(extent, contents[at]!, found[at]!) ?? [])
  const bytes = extents.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const reads = { comparedWith, extents: extents.length, bytes, uniform: countUniform(contents), differing }
  record({ reads })
  if (differing.length > 0) throw bytesDifferError(reads)
  return reads
}

/** Returns a note on extents whose bytes prove little; empty if there are none. */
export function describeUniform(uniform: number, extents: number): string {
  if (uniform === 0) return ''
  const note = `; ${uniform} of them ${uniform === 1 ? 'contains' : 'contain'} a single repeated byte`
  return uniform < extents ? note : `${note}: addresses are not proven`
}

/** Returns the number of extents of one repeated byte. */
export function countUniform(contents: readonly Uint8Array[]): number {
  return contents.filter((bytes) => bytes.every((byte) => byte === bytes[0])).length
}

function differenceIn(extent: Extent, expected: Uint8Array, found: Uint8Array): DifferingExtent | undefined {
  if (Buffer.compare(expected, found) === 0) return undefined
  let [firstDifference, differingBytes, untouchedBytes] = [-1, 0, 0]
  for (const [at, byte] of found.entries()) {
    if (byte === expected[at]) continue
    if (differingBytes++ === 0) firstDifference = at
    if (byte === UNTOUCHED) untouchedBytes++
  }
  return { ...extent, firstDifference, differingBytes, untouchedBytes }
}

/** Origins of the reference, for messages. */
export const ORACLES: Readonly<Record<Oracle, string>> = {
  linux: "Linux's block device",
  image: 'the image file',
  cpu: 'a read by the CPU',
}

/** Error of reads with other bytes than the reference. */
function bytesDifferError({ differing, extents, comparedWith }: ReadFacts): ToolsError {
  const facts = differing.slice(0, 4).map(({ offsetBytes, firstDifference, differingBytes, untouchedBytes }) => {
    const untouched = untouchedBytes === 0 ? '' : `, ${untouchedBytes} of them not written by the drive`
    return `at byte ${offsetBytes + firstDifference}: ${differingBytes} bytes differ${untouched}`
  })
  const headline = `${differing.length} of ${plural(extents, 'extent')} differ from ${ORACLES[comparedWith]}`
  return new ToolsError('ERR_GPUNVME_BYTES_DIFFER', 'verification', headline, { facts })
}
