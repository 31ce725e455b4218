import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { quote } from './formats/quote.js'
import { appendCrc } from './image/append-crc.js'
import { encodeCrc } from './image/extent.js'
import type { PackedLayer, PackedTensor } from './image/manifest.js'
import type { PackedModel } from './image/open-image.js'
import type { Remedy } from './image/remedy.js'

/** Parts of a slice seen so far, in any order. */
interface SeenSlice {
  readonly runs: { readonly fromBytes: number; readonly lengthBytes: number; readonly crc32: number }[]
  seenBytes: number
}

/**
 * Compares a layer's slices with their checksums while its chunks pass, in any order. Chunks that reach it match the
 * chunk table: if a slice still differs, one of the two checksums is wrong.
 */
export class SliceChecks {
  private readonly model: PackedModel
  private readonly layer: PackedLayer
  private readonly sliced: readonly PackedTensor[]
  private readonly seen = new Map<string, SeenSlice>()

  constructor(model: PackedModel, layer: PackedLayer) {
    this.model = model
    this.layer = layer
    this.sliced = layer.tensors.filter(({ sliceCrcs, lengthBytes }) => sliceCrcs !== undefined && lengthBytes > 0)
  }

  /**
   * @param bytes verified by the chunk table, from byte `startBytes` of the layer.
   * @throws SliceMismatchError for the first complete slice that does not match.
   */
  add(bytes: Uint8Array, startBytes: number): void {
    const endBytes = startBytes + bytes.byteLength
    for (const tensor of this.sliced) {
      const from = Math.max(startBytes, tensor.offsetBytes)
      const to = Math.min(endBytes, tensor.offsetBytes + tensor.lengthBytes)
      const sliceBytes = tensor.lengthBytes / tensor.sliceCrcs!.length
      for (let at = from; at < to;) {
        const slice = Math.floor((at - tensor.offsetBytes) / sliceBytes)
        const sliceStart = tensor.offsetBytes + slice * sliceBytes
        const end = Math.min(to, sliceStart + sliceBytes)
        const crc = crc32(bytes.subarray(at - startBytes, end - startBytes))
        this.addRun(tensor, slice, { fromBytes: at - sliceStart, lengthBytes: end - at, crc32: crc })
        at = end
      }
    }
  }

  private addRun(tensor: PackedTensor, slice: number, run: SeenSlice['runs'][number]): void {
    const key = `${slice} ${tensor.name}`
    const seen = this.seen.get(key) ?? { runs: [], seenBytes: 0 }
    this.seen.set(key, seen)
    seen.runs.push(run)
    seen.seenBytes += run.lengthBytes
    if (seen.seenBytes < tensor.lengthBytes / tensor.sliceCrcs!.length) return
    this.seen.delete(key)
    const inOrder = seen.runs.sort((a, b) => a.fromBytes - b.fromBytes)
    const got = inOrder.reduce((crc, next) => appendCrc(crc, next.crc32, next.lengthBytes), 0)
    if (got !== tensor.sliceCrcs![slice]) throw new SliceMismatchError(this.model, this.layer, tensor, slice, got)
  }
}

/** Error of a slice that matches the chunk table but not its own checksum: the image contradicts itself. */
export class SliceMismatchError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SLICE_MISMATCH'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-model'
  readonly tensor: string
  readonly slice: number
  /** Expected CRC-32. */
  readonly expected: number
  readonly got: number

  constructor(model: PackedModel, layer: PackedLayer, tensor: PackedTensor, slice: number, got: number) {
    const expected = tensor.sliceCrcs![slice]!
    const sliceBytes = tensor.lengthBytes / tensor.sliceCrcs!.length
    super(`The image contradicts itself: slice ${slice} of ${quote(tensor.name)} in model ${quote(model.name)}`, {
      facts: [
        'its chunks match the chunk table, but the slice does not match its own checksum in the manifest',
        model.store.locate(layer.offsetBytes + tensor.offsetBytes + slice * sliceBytes, sliceBytes),
        `CRC-32 expected ${encodeCrc(expected)}, got ${encodeCrc(got)}`,
      ],
      next: 'pack the model again with { replace: true }, with a writer that follows image format 1',
    })
    this.tensor = tensor.name
    this.slice = slice
    this.expected = expected
    this.got = got
  }
}
