// Resident memory while streaming a 4 GiB model through two slots, and while reading models of 4 and 400 GiB in place.
import { execFileSync } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { writeGguf } from '@gpunvme/layer-loader/formats'
import { simulate } from '@gpunvme/nvme-sim'
import { packFile, scratchFolder } from './lib/demo-drive.mjs'
import { sparseFileMedia } from './lib/sparse-file-media.mjs'

const MIB = 1024 * 1024
const LAYERS = 64
const LAYER_BYTES = 64 * MIB

/** Data of a layer, which `writeSparseModel` recognizes and does not write. */
const hole = new Uint8Array(LAYER_BYTES)

export async function bench() {
  const folder = scratchFolder()
  const model = join(folder, 'model.gguf')
  const image = join(folder, 'image')
  await writeZeroModel(model)
  const media = sparseFileMedia(image, 5120 * MIB)
  await packFile(simulate, media, model)
  media.close()
  // In its own process, to exclude memory allocated for packing.
  const child = join(import.meta.dirname, 'lib', 'stream-and-watch.mjs')
  const { beforeBytes, peakBytes, growthBytes, slotBytes, streamedBytes } = JSON.parse(
    execFileSync(process.execPath, ['--expose-gc', child, image], { encoding: 'utf8' }),
  )
  const beyondMiB = (peakBytes - 2 * slotBytes) / MIB
  return [
    {
      name: 'Resident memory beyond the slots, streaming a 4 GiB model through 2 slots',
      value: beyondMiB,
      unit: 'MiB',
      goal: '≤ 150 MB',
      met: (beyondMiB * MIB) / 1e6 <= 150,
      note: `peak ${(peakBytes / MIB).toFixed(0)} MiB; 2 slots of ${slotBytes / MIB} MiB; ${(beforeBytes / MIB).toFixed(0)} MiB before the first layer; ${(streamedBytes / 2 ** 30).toFixed(1)} GiB streamed and verified`,
    },
    {
      name: 'Growth of resident memory from the first quarter of the layers to the last',
      value: growthBytes / MIB,
      unit: 'MiB',
      goal: 'flat: ≤ 16 MiB',
      met: growthBytes <= 16 * MIB,
    },
    await sparseModels(folder),
  ]
}

/** Reads the same number of layers from models of 4 and 400 GiB: only the metadata in memory differ. */
async function sparseModels(folder) {
  const child = join(import.meta.dirname, 'lib', 'read-in-place.mjs')
  const peakMiB = []
  for (const layers of [LAYERS, 100 * LAYERS]) {
    const path = join(folder, `${layers}.gguf`)
    await writeSparseModel(path, layers)
    const output = execFileSync(process.execPath, ['--expose-gc', child, path, `${LAYERS}`], { encoding: 'utf8' })
    peakMiB.push(JSON.parse(output).peakBytes / MIB)
  }
  const [small, large] = peakMiB
  return {
    name: 'Resident memory of reading 64 layers in place from a model of 400 GiB (sparse), minus that for a model of 4 GiB',
    value: large - small,
    unit: 'MiB',
    goal: 'flat: ≤ 32 MiB',
    met: large - small <= 32,
    note: `peaks ${small.toFixed(0)} and ${large.toFixed(0)} MiB, 2 slots of ${LAYER_BYTES / MIB} MiB, ${LAYERS} and ${100 * LAYERS} layers`,
  }
}

/** Writes a sparse GGUF: the file system stores only the header. */
async function writeSparseModel(path, layers) {
  const tensors = Array.from({ length: layers }, (_, layer) => ({
    name: `blk.${layer}.weight`,
    dtype: 'F32',
    shape: [LAYER_BYTES / 4096, 1024],
    data: [hole],
  }))
  const file = await open(path, 'w')
  let sizeBytes = 0
  const write = async (bytes) => {
    if (bytes.buffer !== hole.buffer) await file.write(bytes, 0, bytes.length, sizeBytes)
    sizeBytes += bytes.length
    return { bytesWritten: bytes.length }
  }
  await writeGguf({ write }, { metadata: new Map([['general.architecture', 'llama']]), tensors })
  await file.truncate(sizeBytes)
  await file.close()
}

/** Writes a GGUF of zeros, of which the file system stores almost nothing. */
async function writeZeroModel(path) {
  const tensors = Array.from({ length: LAYERS }, (_, layer) => ({
    name: `blk.${layer}.weight`,
    dtype: 'F32',
    shape: [LAYER_BYTES / 4096, 1024],
    data: zeroes(LAYER_BYTES),
  }))
  await writeGguf(path, { metadata: new Map([['general.architecture', 'llama']]), tensors })
}

function* zeroes(lengthBytes) {
  const block = new Uint8Array(MIB)
  for (let done = 0; done < lengthBytes; done += MIB) yield block
}
