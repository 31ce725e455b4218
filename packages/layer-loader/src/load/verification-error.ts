import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { quote } from '../formats/quote.js'
import { encodeCrc } from '../image/extent.js'
import type { BlockStore } from '../store/store.js'
import type { CheckUnit, StoredExtent } from './extent.js'
import type { Remedy } from '../image/remedy.js'

/** Bytes that were read are not those that were packed. They were not, and will not be, handed to anybody. */
export class VerificationError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VERIFICATION'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-model'
  readonly model: string
  /** The layer, expert or tensor that was to be loaded. */
  readonly extent: string
  /** The tensors that the chunk overlaps; none when it is padding that changed. */
  readonly tensors: readonly string[]
  /** Which of the extent's checked runs of bytes, counted from 0. */
  readonly chunk: number
  /** The bytes of the chunk, from the start of the store. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** Where they lie, in the words of the devices that hold them. */
  readonly where: string
  /** CRC-32s. */
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
        'read it again; if it fails again, the media or the path to it corrupts data: ' +
        'pack the model again with { replace: true }',
    })
    this.model = model.name
    this.extent = extent.name
    this.tensors = inside.map(({ name }) => name)
    this.chunk = chunk
    this.offsetBytes = storeBytes
    this.lengthBytes = lengthBytes
    this.where = where
    this.expected = expected
    this.got = got
  }
}
