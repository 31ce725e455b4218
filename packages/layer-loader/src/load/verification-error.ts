import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { quote } from '../formats/quote.js'
import { encodeCrc } from '../image/extent.js'
import type { BlockStore } from '../store/store.js'
import type { CheckUnit, StoredExtent } from './extent.js'
import type { Remedy } from '../image/remedy.js'

/** Error of bytes that differ from the packed ones. They are never handed out. */
export class VerificationError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VERIFICATION'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-model'
  readonly model: string
  /** Name of the layer, part of a layer, expert or tensor. */
  readonly extent: string
  /** Tensors that the chunk overlaps; empty if only padding differs. */
  readonly tensors: readonly string[]
  /** Index of the chunk among the checked ranges of the extent, from 0. For a part of a layer: of the complete layer. */
  readonly chunk: number
  /** Offset of the chunk from the start of the store. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** Location as the devices name it. */
  readonly location: string
  /** Expected CRC-32. */
  readonly expected: number
  readonly got: number

  constructor(model: { name: string; store: BlockStore }, extent: StoredExtent, unit: CheckUnit, got: number) {
    const { storeBytes, lengthBytes, crc32: expected } = unit
    const endBytes = storeBytes + lengthBytes
    const chunk = extent.checks.findIndex((check) => check.storeBytes === storeBytes)
    const inside = extent.pieces.filter(({ runs }) =>
      runs.some((run) => run.storeBytes < endBytes && run.storeBytes + run.lengthBytes > storeBytes),
    )
    const shown = inside.slice(0, 5).map(({ name }) => quote(name))
    if (inside.length > shown.length) shown.push(`and ${inside.length - shown.length} more`)
    const where = model.store.locate(storeBytes, lengthBytes)
    super(`Verification failed: ${quote(extent.name)} of model ${quote(model.name)}, chunk ${chunk}`, {
      facts: [
        `tensors in this chunk: ${shown.join(', ') || 'none, it is padding'}`,
        where,
        `CRC-32 expected ${encodeCrc(expected)}, got ${encodeCrc(got)}`,
      ],
      next:
        'read it again; if it fails again, the media or the connection corrupts data: ' +
        'pack the model again with { replace: true }',
    })
    this.model = model.name
    this.extent = extent.name
    this.tensors = inside.map(({ name }) => name)
    this.chunk = chunk
    this.offsetBytes = storeBytes
    this.lengthBytes = lengthBytes
    this.location = where
    this.expected = expected
    this.got = got
  }
}
