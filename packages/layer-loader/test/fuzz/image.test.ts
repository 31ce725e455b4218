import { crc32 } from 'node:zlib'
import { endingOf, fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import { mutate, type Dice } from '../../../../test/fuzz/mutator.js'
import { encodeSuperblock } from '../../src/image/superblock.js'
import { loadTensor, openImage, type PackedModel } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import { MemoryNamespace } from '../memory-namespace.js'
import { smallModel } from '../models.js'

/** Offsets of the two superblock copies, and their length (docs/image-format-1.md). */
const COPIES_BYTES = { A: 0, B: 1 << 20 } as const
const SUPERBLOCK_BYTES = 4096
/** Offset for changed structures: after the image, since their length also changes. */
const SPARE_BYTES = 3 << 20

const media = new Uint8Array(4 << 20)
await pack(await smallModel(), new MemoryNamespace({ media }).namespace)
await pack(await smallModel(undefined, 2), new MemoryNamespace({ media }).namespace, { name: 'second' })
const valid = await openImage(new MemoryNamespace({ media }).namespace)
const { superblock } = valid

interface Json {
  models: { manifest: { offsetBytes: number; lengthBytes: number; crc32: string } }[]
}
const directory = Buffer.from(at(superblock.directory))
const places = (JSON.parse(directory.toString()) as Json).models.map(({ manifest }) => manifest)
/** Packed tensors, by their checksum in the image. */
const contents = new Map<string, Uint8Array>()
for (const { manifest } of valid.models) {
  for (const { offsetBytes, tensors } of manifest.layers) {
    for (const { sha256, offsetBytes: within, lengthBytes } of tensors)
      contents.set(sha256, media.slice(offsetBytes + within, offsetBytes + within + lengthBytes))
  }
}

function at({ offsetBytes, lengthBytes }: { offsetBytes: number; lengthBytes: number }): Uint8Array {
  return media.subarray(offsetBytes, offsetBytes + lengthBytes)
}

/** Changes of a case: bytes and their offsets. */
type Patch = readonly [offsetBytes: number, bytes: Uint8Array]

/** Makes both superblocks point to another directory, with its checksum. */
function withDirectory(json: Uint8Array, offsetBytes: number): Patch[] {
  const extent = { offsetBytes, lengthBytes: json.byteLength, crc32: crc32(json) }
  const usedEndBytes = Math.ceil((offsetBytes + json.byteLength) / 4096) * 4096
  const changed = { ...superblock, directory: extent, usedEndBytes }
  const copies = (['A', 'B'] as const).map((copy): Patch => [COPIES_BYTES[copy], encodeSuperblock(copy, changed)])
  return [[offsetBytes, json], ...copies]
}

/** Any bytes of the image. */
function withoutChecksums(dice: Dice): Patch[] {
  const place = dice.int(0, Math.ceil(superblock.usedEndBytes / 4096) - 1) * 4096
  return [[place, mutate(media.subarray(place, place + 4096), dice, 'fields')]]
}

const PATCHES: readonly ((dice: Dice) => Patch[])[] = [
  // A superblock, usually with its checksum corrected.
  (dice) => {
    const hasChecksum = dice.chance(0.8)
    return dice.pick([['A'], ['B'], ['A', 'B']] as const).map((copy): Patch => {
      const bytes = mutate(media.subarray(COPIES_BYTES[copy], COPIES_BYTES[copy] + SUPERBLOCK_BYTES), dice, 'fields', [
        [0, 160],
      ])
      if (hasChecksum) bytes.writeUInt32LE(crc32(bytes.subarray(0, SUPERBLOCK_BYTES - 4)), SUPERBLOCK_BYTES - 4)
      return [COPIES_BYTES[copy], bytes]
    })
  },
  (dice) => withDirectory(mutate(directory, dice, 'json'), SPARE_BYTES),
  // A manifest, and the directory that points to it.
  (dice) => {
    const index = dice.int(0, places.length - 1)
    const manifest = mutate(at(places[index]!), dice, 'json')
    const changed = JSON.parse(directory.toString()) as Json
    const extent = { offsetBytes: SPARE_BYTES, lengthBytes: manifest.byteLength }
    changed.models[index]!.manifest = { ...extent, crc32: crc32(manifest).toString(16).padStart(8, '0') }
    const behind = SPARE_BYTES + Math.ceil(manifest.byteLength / 4096) * 4096
    return [[SPARE_BYTES, manifest], ...withDirectory(Buffer.from(JSON.stringify(changed)), behind)]
  },
  withoutChecksums,
]

/** Loads everything in an image. @param isJudged false if checksums were forged for other content. */
async function loadAll(model: PackedModel, isJudged: boolean): Promise<void> {
  for (const { tensors } of model.manifest.layers) {
    for (const { name, sha256 } of tensors) {
      const loaded = await loadTensor(model, name)
      const packed = contents.get(sha256)
      if (isJudged && packed !== undefined && Buffer.compare(loaded, packed) !== 0)
        throw new Error(`tensor ${name} has other bytes than were packed`)
    }
  }
}

async function open(dice: Dice): Promise<string> {
  const make = dice.pick(PATCHES)
  const patches = make(dice).filter(([offsetBytes, bytes]) => offsetBytes + bytes.byteLength <= media.byteLength)
  const before = patches.map(([offsetBytes, { byteLength }]): Patch => [
    offsetBytes,
    media.slice(offsetBytes, offsetBytes + byteLength),
  ])
  for (const [offsetBytes, bytes] of patches) media.set(bytes, offsetBytes)
  const memory = new MemoryNamespace({ media })
  let ending: string
  try {
    ending = await endingOf(async () => {
      const image = await openImage(memory.namespace)
      for (const { name } of image.models) await loadAll(image.model(name), make === withoutChecksums)
      await verifyImage(memory.namespace)
    })
  } finally {
    for (const [offsetBytes, bytes] of before.reverse()) media.set(bytes, offsetBytes)
  }
  if (memory.allocatedBytes !== 0) throw new Error(`${memory.allocatedBytes} bytes of DMA memory were not freed`)
  return ending
}

testFuzzer(fuzzer('image', open), 400, ['accepted', 'ERR_GPUNVME_IMAGE_SUPERBLOCK', 'ERR_GPUNVME_IMAGE_CONTENT'])
