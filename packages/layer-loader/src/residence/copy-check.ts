import type { AbortSignalLike, ChecksummedMemory, Checksummer } from '@gpunvme/nvme-spec/transport'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { zlibChecksummer } from '../checksum/zlib-checksummer.js'
import { quote } from '../formats/quote.js'
import { encodeCrc } from '../image/extent.js'
import { CHUNK_BYTES } from '../image/format.js'
import { firstMismatch, type MemoryUnit, type Mismatch } from '../load/check-units.js'
import type { Lease } from '../load/lease.js'
import type { LoadPlan, PlacedPiece } from '../load/load-plan.js'

/** A layer in host memory, the source of copies. */
export interface SourceLayer {
  readonly model: string
  readonly lease: Lease
  readonly plan: LoadPlan
  /** Computes checksums of host memory if the model stores none; `zlibChecksummer` by default. */
  readonly checksummer?: Checksummer | undefined
}

/** Checksums of layers in host memory: a layer that stays there is copied in each pass. */
const known = new WeakMap<Lease, readonly MemoryUnit[]>()

/**
 * Compares a copy with its source.
 * @throws CopyMismatchError for the first chunk that differs; errors of the checksummers; the signal's reason
 */
export async function checkCopy(
  copy: ChecksummedMemory,
  source: SourceLayer,
  checksummer: Checksummer,
  signal: AbortSignalLike,
): Promise<void> {
  const { model, lease, plan } = source
  const units = known.get(lease) ?? (await unitsOf(source))
  known.set(lease, units)
  const mismatch = await firstMismatch(units, { memory: copy, checksummer, signal })
  if (mismatch !== undefined) throw new CopyMismatchError(model, lease.name, { ...mismatch, pieces: plan.pieces })
}

/**
 * Returns the checksums stored with the model if they cover the layer and no byte was moved; otherwise those of host
 * memory, which prove the copy but not the read.
 */
async function unitsOf({ lease, plan, checksummer = zlibChecksummer }: SourceLayer): Promise<readonly MemoryUnit[]> {
  if (plan.checksAll && plan.moves.length === 0) return plan.units
  const sums = new Uint32Array(Math.ceil(plan.memoryBytes / CHUNK_BYTES))
  await checksummer.checksum(lease.memory, 0, plan.memoryBytes, CHUNK_BYTES, sums)
  return Array.from(sums, (crc32, chunk) => {
    const memoryBytes = chunk * CHUNK_BYTES
    return { memoryBytes, lengthBytes: Math.min(CHUNK_BYTES, plan.memoryBytes - memoryBytes), crc32 }
  })
}

/** Error of a layer whose copy in GPU memory differs from the verified one in host memory. It is not handed out. */
export class CopyMismatchError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_COPY_MISMATCH'
  readonly category = 'verification'
  readonly model: string
  readonly layer: string
  /** Offset of the first differing chunk in the layer's memory. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** Expected CRC-32. */
  readonly expected: number
  readonly got: number

  constructor(
    model: string,
    layer: string,
    { unit, got, pieces }: Mismatch<MemoryUnit> & { readonly pieces: readonly PlacedPiece[] },
  ) {
    const { memoryBytes, lengthBytes, crc32 } = unit
    const endBytes = memoryBytes + lengthBytes
    const inside = pieces.filter((piece) => {
      return piece.offsetBytes < endBytes && piece.offsetBytes + piece.lengthBytes > memoryBytes
    })
    super(`GPU memory differs from host memory: ${quote(layer)} of model ${quote(model)}`, {
      facts: [
        `bytes ${memoryBytes} to ${endBytes - 1}: CRC-32 expected ${encodeCrc(crc32)}, got ${encodeCrc(got)}`,
        `tensors in these bytes: ${inside.length === 0 ? 'none' : quote(inside[0]!.name)}${inside.length > 1 ? ` and ${inside.length - 1} more` : ''}`,
      ],
      next: 'load it again; if it fails again, GPU memory or the PCIe path to it corrupts data',
    })
    this.model = model
    this.layer = layer
    this.offsetBytes = memoryBytes
    this.lengthBytes = lengthBytes
    this.expected = crc32
    this.got = got
  }
}
