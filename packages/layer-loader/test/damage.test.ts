import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  LoaderError,
  loadTensor,
  openImage,
  readSourceHeader,
  streamLayers,
  VerificationError,
  type Image,
} from '../src/index.js'
import {
  ImageChecksumError,
  pack,
  SuperblockError,
  verifyImage,
  type Extent,
  type PackReceipt,
} from '../src/image/index.js'
import type { BlockStore } from '../src/store/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { smallModel, tensorBytes } from './models.js'

interface Packed {
  readonly memory: MemoryNamespace
  readonly receipt: PackReceipt
  readonly image: Image
}

async function packed(): Promise<Packed> {
  const memory = new MemoryNamespace({ capacityBytes: 4 << 20 })
  const receipt = await pack(await smallModel(), memory.namespace, { imageId: new Uint8Array(16) })
  return { memory, receipt, image: await openImage(memory.namespace) }
}

function flip(memory: MemoryNamespace, byte: number, bit = 0): void {
  memory.media[byte]! ^= 1 << bit
}

/** Returns the first, middle and last offset of an extent. */
const bytesIn = ({ offsetBytes, lengthBytes }: Extent) => [
  offsetBytes,
  offsetBytes + (lengthBytes >> 1),
  offsetBytes + lengthBytes - 1,
]

describe('superblock copies', () => {
  test.each(['A', 'B'] as const)('damage to copy %s alone is reported, and the other copy is used', async (copy) => {
    const { memory } = await packed()
    const start = copy === 'A' ? 0 : 1 << 20
    for (const at of [0, 20, 70, 3000, 4095]) {
      flip(memory, start + at)
      const image = await openImage(memory.namespace)
      expect(image.problems).toMatchObject([{ code: 'ERR_GPUNVME_IMAGE_SUPERBLOCK', copy }])
      expect(image.models).toHaveLength(1)
      expect(await verifyImage(memory.namespace)).toMatchObject({ ok: false, problemCount: 1 })
      flip(memory, start + at)
    }
  })

  test('damage to both copies is a SuperblockError', async () => {
    const { memory } = await packed()
    memory.media.fill(0, 2048, 4096)
    memory.media.fill(0, (1 << 20) + 2048, (1 << 20) + 4096)
    await expect(openImage(memory.namespace)).rejects.toBeInstanceOf(SuperblockError)
    const report = await verifyImage(memory.namespace)
    const remedy = 'replace-image'
    expect(report).toMatchObject({
      ok: false,
      image: undefined,
      problems: [
        { copy: 'A', remedy },
        { copy: 'B', remedy },
      ],
    })
  })

  test('absence of both copies is ERR_GPUNVME_NO_IMAGE', async () => {
    for (const capacityBytes of [512, 2 << 20, 4 << 20]) {
      const { namespace } = new MemoryNamespace({ capacityBytes })
      await expect(openImage(namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
      await expect(verifyImage(namespace)).rejects.toMatchObject({ category: 'not-found' })
    }
  })

  test('each copy is read once, whatever it holds', async () => {
    const memory = new MemoryNamespace({ capacityBytes: 4 << 20 })
    await expect(openImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
    expect(memory.plans).toHaveLength(2)
  })

  test('a media error in copy A is reported, and copy B is used', async () => {
    const { memory } = await packed()
    memory.outcome = (plan) =>
      plan.slba[0] === 0 ? { kind: 'status', sct: 2, sc: 0x81, dnr: false, more: false, crd: 0 } : { kind: 'success' }
    const image = await openImage(memory.namespace)
    expect(image.problems.map(({ code }) => code)).toEqual(['ERR_GPUNVME_TRANSFER'])
  })

  test('verifyImage reports an unreadable layer of a file and verifies the rest', async () => {
    const { image } = await packed()
    const { store } = image
    const bad = image.model().manifest.layers[1]!
    const read: BlockStore['read'] = (transfers, ...rest) => {
      if (!transfers.some(({ offsetBytes }) => offsetBytes === bad.offsetBytes)) return store.read(transfers, ...rest)
      const cause = Object.assign(new Error('i/o error'), { code: 'EIO' })
      return Promise.reject(new LoaderError('ERR_GPUNVME_SOURCE_READ', 'failure', 'it cannot be read', { cause }))
    }
    const file = Object.create(store, { read: { value: read } }) as BlockStore
    const report = await verifyImage(file)
    expect(report.problems.map(({ code }) => code)).toEqual(['ERR_GPUNVME_SOURCE_READ'])
    const whole = await verifyImage(store)
    expect([report.chunks, report.bytes]).toEqual([whole.chunks - 1, whole.bytes - bad.lengthBytes])
  })

  test('verifyImage supports stores whose blocks are longer than the alignment of extents', async () => {
    const { image } = await packed()
    const { store } = image
    for (const blockBytes of [8192, 65_536]) {
      const coarse = Object.create(store, { blockBytes: { value: blockBytes } }) as BlockStore
      expect(await verifyImage(coarse)).toMatchObject({ ok: true, problemCount: 0 })
    }
  })

  test('a lost device is reported as a transfer error, not as damage', async () => {
    const { memory } = await packed()
    memory.outcome = () => ({ kind: 'device-lost', csts: 0xffff_ffff })
    await expect(openImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
    await expect(verifyImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
  })
})

describe('a flipped bit', () => {
  test('a flipped bit in the directory, a manifest or a chunk table fails openImage', async () => {
    const { memory, image } = await packed()
    for (const { holds, ...extent } of image.extents.filter(({ holds }) => /^(dir|man|chunk)/.test(holds))) {
      for (const at of bytesIn(extent)) {
        flip(memory, at)
        const error: unknown = await openImage(memory.namespace).catch((thrown: unknown) => thrown)
        expect(error).toBeInstanceOf(ImageChecksumError)
        expect(error).toMatchObject({ region: holds, category: 'verification' })
        expect(await verifyImage(memory.namespace)).toMatchObject({ ok: false, problems: [{ region: holds }] })
        flip(memory, at)
      }
    }
    expect(await verifyImage(memory.namespace)).toMatchObject({ ok: true })
  })

  test('a flipped bit in the source header is detected when the header is read', async () => {
    const { memory, receipt, image } = await packed()
    flip(memory, receipt.manifest.header.offsetBytes + 9)
    await expect(readSourceHeader(image.model())).rejects.toBeInstanceOf(ImageChecksumError)
    expect(await verifyImage(image)).toMatchObject({ ok: false, problemCount: 1, chunks: 4 })
  })

  test('a layer with a flipped bit is never leased; the error names extent, chunk and LBAs', async () => {
    const { memory, receipt, image } = await packed()
    const layer = receipt.manifest.layers[1]!
    const tensor = layer.tensors[1]!
    flip(memory, layer.offsetBytes + tensor.offsetBytes, 7)
    const names: string[] = []
    const streaming = async () => {
      for await (using lease of streamLayers(image.model())) names.push(lease.name)
    }
    const error: unknown = await streaming().catch((thrown: unknown) => thrown)
    expect(names).toEqual(['embedding'])
    expect(error).toBeInstanceOf(VerificationError)
    expect(error).toMatchObject({
      code: 'ERR_GPUNVME_VERIFICATION',
      category: 'verification',
      model: 'small.safetensors',
      extent: 'layer 0',
      chunk: 0,
      offsetBytes: layer.offsetBytes,
      lengthBytes: layer.lengthBytes,
      location:
        'NSID 1  LBA 0x' +
        (layer.offsetBytes / 512).toString(16) +
        ' to 0x' +
        ((layer.offsetBytes + layer.lengthBytes) / 512 - 1).toString(16),
    })
    expect((error as VerificationError).tensors).toContain(tensor.name)
    expect((error as VerificationError).expected).not.toBe((error as VerificationError).got)
    await expect(loadTensor(image.model(), tensor.name)).rejects.toBeInstanceOf(VerificationError)
    expect(memory.allocatedBytes).toBe(0)
  })

  test('a layer with a flipped bit is leased as unverified with verify: off', async () => {
    const { memory, receipt, image } = await packed()
    flip(memory, receipt.manifest.layers[0]!.offsetBytes)
    const stream = streamLayers(image.model(), { verify: 'off', layers: ['embedding'] })
    for await (using lease of stream) expect(lease.verified).toBe(false)
    expect(stream.statistics).toMatchObject({ tensors: 1, tensorsVerified: 0, verifyNs: 0 })
  })

  test('a flipped bit is detected anywhere but in padding outside of all extents', async () => {
    const { memory, image } = await packed()
    const model = await smallModel()
    const harmless = (byte: number) =>
      byte >= 4096 &&
      !image.extents.some(({ offsetBytes: start, lengthBytes }) => byte >= start && byte < start + lengthBytes)
    const bits = fc.tuple(
      fc.oneof(
        fc.nat({ max: 4095 }),
        fc.integer({ min: 2 << 20, max: image.superblock.usedEndBytes - 1 }),
        fc.integer({ min: 1 << 20, max: (1 << 20) + 4095 }),
      ),
      fc.nat({ max: 7 }),
    )
    await fc.assert(
      fc.asyncProperty(bits, async ([byte, bit]) => {
        flip(memory, byte, bit)
        try {
          const { ok } = await verifyImage(memory.namespace)
          const inCopyB = byte >= 1 << 20 && byte < (1 << 20) + 4096
          expect(ok).toBe(harmless(byte) && !inCopyB)
          if (ok || byte < 2 << 20) {
            for await (using lease of streamLayers((await openImage(memory.namespace)).model())) {
              for (const { name } of lease.tensors) {
                expect(Buffer.compare(lease.tensor(name), await tensorBytes(model, name))).toBe(0)
              }
            }
          }
        } finally {
          flip(memory, byte, bit)
        }
      }),
      { numRuns: 200 },
    )
  })
})

test('a problem that packing repairs names the option in remedy and next', async () => {
  const { memory, receipt } = await packed()
  const { layers, chunkTable } = receipt.manifest
  for (const [at, remedy, option] of [
    [0, 'replace-model', '{ replace: true }'],
    [layers[0]!.offsetBytes, 'replace-model', '{ replace: true }'],
    [chunkTable.offsetBytes, 'replace-image', "{ replace: 'image' }"],
  ] as const) {
    flip(memory, at)
    const { problems } = await verifyImage(memory.namespace)
    expect(problems).toMatchObject([{ remedy, next: expect.stringContaining(option) as string }])
    flip(memory, at)
  }
})

test('verifyImage counts all problems and keeps the first hundred', async () => {
  const memory = new MemoryNamespace({ capacityBytes: 4 << 20 })
  const tensors = Array.from({ length: 150 }, (_, index) => [`model.layers.${index}.w`, 10] as const)
  const { manifest } = await pack(await smallModel(tensors), memory.namespace)
  for (const { offsetBytes } of manifest.layers) flip(memory, offsetBytes)
  const report = await verifyImage(memory.namespace)
  expect(report).toMatchObject({ ok: false, problemCount: 150, chunks: 150 })
  expect(report.problems).toHaveLength(100)
  expect(memory.allocatedBytes).toBe(0)
})

test('verifyImage reads concurrently in bounded memory, and reports all bytes as progress', async () => {
  const memory = new MemoryNamespace({ capacityBytes: 128 << 20 })
  const tensors = Array.from({ length: 3 }, (_, index) => [`model.layers.${index}.w`, 30 << 20] as const)
  await pack(await smallModel(tensors), memory.namespace)
  memory.peakBytes = memory.peakInFlight = 0
  memory.gate = () => new Promise(setImmediate)
  let last = { doneBytes: 0, totalBytes: 0 }
  const report = await verifyImage(memory.namespace, { onProgress: (progress) => (last = progress) })
  expect(report).toMatchObject({ ok: true, chunks: 90 })
  expect(memory.peakInFlight).toBeGreaterThanOrEqual(32)
  expect(memory.peakBytes).toBeLessThan(50 << 20)
  expect(last).toEqual({ doneBytes: report.bytes, totalBytes: report.bytes })
})

test('an abort ends verifyImage and frees its memory', async () => {
  const memory = new MemoryNamespace({ capacityBytes: 128 << 20 })
  await pack(await smallModel([['model.layers.0.w', 100 << 20]]), memory.namespace)
  const reason = new Error('enough')
  const controller = new AbortController()
  const options = { signal: controller.signal, onProgress: () => controller.abort(reason) }
  await expect(verifyImage(memory.namespace, options)).rejects.toBe(reason)
  expect(memory.allocatedBytes).toBe(0)
})
