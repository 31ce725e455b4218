import { describe, expect, test } from 'vitest'
import { Catalogue, memorySource, openModel, writeGguf, type Model } from '../src/formats/index.js'
import { modelInPlace, openLoader, streamLayers, type FileRun } from '../src/index.js'
import { storeSource } from '../src/store/index.js'
import { MemoryNamespace } from './memory-namespace.js'

const MIB = 1 << 20
const BLOCK = 4096

/** Returns a GGUF file of two layers with four experts each, aligned to 32 bytes only. */
async function moeGguf(): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  const fill = (seed: number, lengthBytes: number) =>
    Uint8Array.from({ length: lengthBytes }, (_, index) => (Math.imul(index + seed, 2_654_435_761) >>> 13) & 0xff)
  const tensors = [0, 1].flatMap((layer) => [
    { name: `blk.${layer}.attn_q.weight`, dtype: 'F32', shape: [33, 100], data: [fill(layer, 13_200)] },
    { name: `blk.${layer}.ffn_up_exps.weight`, dtype: 'F16', shape: [4, 50, 25], data: [fill(layer + 7, 10_000)] },
  ])
  const write = (bytes: Uint8Array) => {
    pieces.push(bytes.slice())
    return Promise.resolve({ bytesWritten: bytes.byteLength })
  }
  await writeGguf({ write }, { metadata: new Map([['general.architecture', 'qwen2moe']]), tensors })
  return Buffer.concat(pieces)
}

/** Writes a file to the media in fragments of one or two blocks, in descending order of offsets. */
function fragmented(file: Uint8Array, media: Uint8Array): FileRun[] {
  const runs: FileRun[] = []
  let deviceOffsetBytes = 2 * MIB
  for (let at = 0, index = 0; at < file.length; index++) {
    const lengthBytes = Math.min(file.length - at, BLOCK * (1 + (index % 2)))
    deviceOffsetBytes -= 5 * BLOCK
    media.set(file.subarray(at, at + lengthBytes), deviceOffsetBytes)
    runs.push({ fileOffsetBytes: at, deviceOffsetBytes, lengthBytes })
    at += lengthBytes
  }
  return runs
}

const expectedBytes = (model: Model, file: Buffer, name: string) => {
  const { offsetBytes, lengthBytes } = model.tensors.find((tensor) => tensor.name === name)!
  return file.subarray(offsetBytes, offsetBytes + lengthBytes)
}

describe.each(['in one run', 'in fragments'])('a GGUF file stored %s on a drive', (how) => {
  async function opened() {
    const file = await moeGguf()
    const { namespace, media } = new MemoryNamespace({ capacityBytes: 4 * MIB })
    const startBytes = 1313 * 512
    if (how !== 'in fragments') media.set(file, startBytes)
    const runs =
      how === 'in fragments'
        ? fragmented(file, media)
        : [{ fileOffsetBytes: 0, deviceOffsetBytes: startBytes, lengthBytes: file.length }]
    const source =
      how === 'in fragments'
        ? memorySource(file, 'moe.gguf')
        : storeSource(namespace, { offsetBytes: startBytes, lengthBytes: file.length })
    const model = await openModel(source)
    return { file, model, namespace, runs, stored: modelInPlace(new Catalogue(model), namespace, [runs]) }
  }

  test('a GGUF file in place is streamed byte-identical, and its leases are not marked verified', async () => {
    const { file, model, stored } = await opened()
    const names: string[] = []
    for await (using lease of streamLayers(stored, { verify: 'off' })) {
      expect(lease.verified).toBe(false)
      for (const { name, offsetBytes } of lease.tensors) {
        names.push(name)
        expect(offsetBytes % 32).toBe(0)
        expect(Buffer.compare(lease.tensor(name), expectedBytes(model, file, name))).toBe(0)
      }
    }
    expect(names.sort()).toEqual(model.tensors.map(({ name }) => name).sort())
  })

  test.each([1, 32, 256, 4096])(
    'a GGUF file in place loads the slice of an expert at a multiple of %i bytes',
    async (alignBytes) => {
      const { file, model, stored } = await opened()
      await using loader = openLoader(stored, { verify: 'off', alignBytes, slotBytes: MIB })
      for (const expert of [0, 3]) {
        using lease = await loader.request(stored.expert(1, expert)).lease()
        const [slice] = lease.tensors
        expect(slice).toMatchObject({ name: `blk.1.ffn_up_exps.weight[${expert}]`, shape: [50, 25], lengthBytes: 2500 })
        expect(slice!.offsetBytes % alignBytes).toBe(0)
        const whole = expectedBytes(model, file, 'blk.1.ffn_up_exps.weight')
        const expected = whole.subarray(2500 * expert, 2500 * (expert + 1))
        expect(Buffer.compare(lease.tensor(slice!.name), expected)).toBe(0)
      }
      const { bytes, requestedBytes, movedBytes } = loader.statistics
      expect(requestedBytes).toBe(5000)
      expect(bytes).toBeGreaterThan(requestedBytes)
      // At least one of two slices of 2500 bytes is not aligned to 256 bytes, whatever the alignment of the file.
      if (alignBytes >= 256) expect(movedBytes).toBeGreaterThan(0)
    },
  )

  test('a GGUF file in place requires verify: off, since it has no checksums', async () => {
    const { stored } = await opened()
    expect(() => openLoader(stored)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_NO_CHECKSUMS' }))
    expect(() => streamLayers(stored, { verify: { sample: 0.5 } })).toThrow('{ verify: "off" }')
  })
})

describe('modelInPlace rejects', () => {
  test.each<[string, (runs: FileRun[]) => FileRun[][]]>([
    ['too few files', () => []],
    ['too many files', (runs) => [runs, runs]],
    ['a gap between runs', (runs) => [runs.filter((_, index) => index !== 1)]],
    ['runs that end before the file', (runs) => [runs.slice(0, -1)]],
    [
      'a run past the end of the drive',
      (runs) => [[{ ...runs[0]!, deviceOffsetBytes: 4 * MIB - 512 }, ...runs.slice(1)]],
    ],
    ['a run before the start of the drive', (runs) => [[{ ...runs[0]!, deviceOffsetBytes: -512 }, ...runs.slice(1)]]],
    ['an empty run', (runs) => [[{ ...runs[0]!, lengthBytes: 0 }, ...runs]]],
  ])('%s', async (_, change) => {
    const file = await moeGguf()
    const { namespace, media } = new MemoryNamespace({ capacityBytes: 4 * MIB })
    const catalogue = new Catalogue(await openModel(memorySource(file)))
    expect(() => modelInPlace(catalogue, namespace, change(fragmented(file, media)))).toThrow(/^files: expected/)
  })
})
