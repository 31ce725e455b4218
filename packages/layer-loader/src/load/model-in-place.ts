import type { Catalogue } from '../formats/catalogue.js'
import type { ModelExtent } from '../formats/extent.js'
import { asStore, type Readable } from '../store/as-store.js'
import { requestedAs, type StoredExtent, type StoredModel, type StoredPiece, type StoredRun } from './extent.js'

/** A run of a file's bytes and its location on a store. */
export interface FileRun {
  readonly fileOffsetBytes: number
  /** Offset from the start of the store. */
  readonly deviceOffsetBytes: number
  readonly lengthBytes: number
}

/**
 * Returns a model in its original files on a store: a GGUF at an LBA, files of a file system. Nothing is converted or
 * written. Its bytes cannot be verified.
 *
 * @param files for each part of the model, the location of its bytes: in file order, without gaps.
 * @throws RangeError for files that do not cover the parts, or are outside the store.
 */
export function modelInPlace(
  catalogue: Catalogue,
  target: Readable,
  files: readonly (readonly FileRun[])[],
): StoredModel {
  const store = asStore(target)
  const { model } = catalogue
  if (files.length !== model.parts.length) {
    throw new RangeError(`files: expected one per part of the model, ${model.parts.length}, got ${files.length}`)
  }
  for (const [part, { source }] of model.parts.entries()) {
    let endBytes = 0
    for (const { fileOffsetBytes, deviceOffsetBytes, lengthBytes } of files[part]!) {
      const isWhole = Number.isSafeInteger(deviceOffsetBytes) && Number.isSafeInteger(lengthBytes)
      const isInside = isWhole && deviceOffsetBytes >= 0 && lengthBytes <= store.capacityBytes - deviceOffsetBytes
      if (fileOffsetBytes !== endBytes || lengthBytes <= 0 || !isInside) {
        throw new RangeError(
          `files: expected runs of ${source.name} in order and inside ${store.name}, got ${lengthBytes} bytes from byte ${fileOffsetBytes} at ${deviceOffsetBytes}`,
        )
      }
      endBytes += lengthBytes
    }
    if (endBytes < source.sizeBytes) {
      throw new RangeError(`files: expected all ${source.sizeBytes} bytes of ${source.name}, got ${endBytes}`)
    }
  }

  const place = ({ name, pieces }: ModelExtent): StoredExtent => {
    const placed = pieces.map(({ name, dtype, shape, part, offsetBytes, lengthBytes }): StoredPiece => {
      return { name, dtype, shape, lengthBytes, runs: runsOf(files[part]!, offsetBytes, lengthBytes) }
    })
    return { name, pieces: placed, checks: [] }
  }
  return {
    name: model.name ?? model.parts[0].source.name,
    store,
    layers: catalogue.layers,
    hasChecksums: false,
    layer: (layer, options) => place(catalogue.layer(layer, options)),
    experts: (layer) => catalogue.experts(layer),
    tensor: (name) => requestedAs(name, place(catalogue.tensor(name))),
    expert: (layer, expert) => place(catalogue.expert(layer, expert)),
  }
}

/** Returns the runs of the store that hold a range of a file, by binary search: a fragmented file has thousands. */
function runsOf(file: readonly FileRun[], offsetBytes: number, lengthBytes: number): StoredRun[] {
  let [low, high] = [0, file.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const run = file[middle]!
    if (run.fileOffsetBytes + run.lengthBytes > offsetBytes) high = middle
    else low = middle + 1
  }
  const runs: StoredRun[] = []
  const endBytes = offsetBytes + lengthBytes
  for (let index = low, at = offsetBytes; at < endBytes; index++) {
    const run = file[index]!
    const taken = Math.min(endBytes, run.fileOffsetBytes + run.lengthBytes) - at
    runs.push({ storeBytes: run.deviceOffsetBytes + (at - run.fileOffsetBytes), lengthBytes: taken })
    at += taken
  }
  return runs
}
