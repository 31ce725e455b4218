import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { openFileSource, openModel, rangeSource, type ByteSource, type Model } from '../src/formats/index.js'
import { openImage } from '../src/index.js'
import { pack, planPack, verifyImage, type PackOptions, type PackReceipt } from '../src/image/index.js'
import { MemoryNamespace, type JournalEntry } from './memory-namespace.js'
import { expectAllLoads, safetensorsFile, smallModel, type TensorSize } from './models.js'
import { firstChange, judgeCuts, type Recording } from './power-cut.js'

const SLOW_MS = 240_000

/** Six layers of 1 to 5 pages, 18 pages in all. Each layer is written as one piece. */
const LAYERS = [3, 1, 4, 1, 5, 4].map((pages, index): TensorSize => [`model.layers.${index}.w`, pages * 4096 - index])
const LAYER_BYTES = 18 * 4096

interface Watched {
  readonly model: Model
  /** Bytes of tensor data read from the file. */
  readonly reads: { bytes: number }
}

/** Returns a model whose source has a revision and counts the bytes read. */
async function revised(revision: string, seed = 1): Promise<Watched> {
  const model = await smallModel(LAYERS, seed)
  const [{ source, headerBytes }] = model.parts
  const reads = { bytes: 0 }
  const read: ByteSource['read'] = (offsetBytes, into, options) => {
    if (offsetBytes >= headerBytes) reads.bytes += into.byteLength
    return source.read(offsetBytes, into, options)
  }
  const watched = Object.assign(Object.create(source) as ByteSource, { revision, read })
  return { model: { ...model, parts: [{ source: watched, headerBytes }] }, reads }
}

/** Writes a checkpoint after each piece. */
const EACH: PackOptions = { name: 'new', checkpointBytes: 1 }

/** Returns the manifest that packing `revised()` onto this namespace gives. */
async function placesIn(memory: MemoryNamespace): Promise<PackReceipt['manifest']> {
  const { model } = await revised('1')
  return (await pack(model, new MemoryNamespace({ media: memory.media.slice() }).namespace, EACH)).manifest
}

/** Returns a namespace on which the write of layer `ended` failed; all earlier writes are kept. */
async function interrupted(ended: number, capacityBytes = 4 << 20): Promise<MemoryNamespace> {
  const memory = new MemoryNamespace({ capacityBytes })
  const slba = (await placesIn(memory)).layers[ended]!.offsetBytes / 512
  const { model } = await revised('1')
  memory.outcome = (plan) =>
    plan.operation === 'write' && plan.slba[0] === slba
      ? { kind: 'status', sct: 2, sc: 0x80, dnr: true, more: false, crd: 0 }
      : { kind: 'success' }
  await expect(pack(model, memory.namespace, EACH)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
  memory.outcome = () => ({ kind: 'success' })
  memory.journal.length = 0
  return memory
}

/** Returns the length of all layers before this one. */
const bytesBefore = (layer: number) => [3, 1, 4, 1, 5, 4].slice(0, layer).reduce((sum, pages) => sum + pages * 4096, 0)

async function expectSound(memory: MemoryNamespace, name: string): Promise<void> {
  expect(await verifyImage(memory.namespace)).toMatchObject({ ok: true, problems: [] })
  await expectAllLoads((await openImage(memory.namespace)).model(name))
}

describe('resuming an interrupted pack', () => {
  test.each([1, 3, 5])(
    'resumption in layer %i reads earlier layers back from the drive instead of the file',
    async (layer) => {
      const memory = await interrupted(layer)
      const { model, reads } = await revised('1')
      const progress: number[] = []
      const receipt = await pack(model, memory.namespace, {
        ...EACH,
        onProgress: (event) => progress.push(event.doneBytes),
      })
      expect(receipt.resumedBytes).toBe(bytesBefore(layer))
      const tensorBytes = LAYERS.slice(layer).reduce((sum, [, lengthBytes]) => sum + lengthBytes, 0)
      expect(reads.bytes).toBe(tensorBytes)
      const [{ headerBytes }] = model.parts
      expect(progress.at(-1)).toBe(LAYER_BYTES + headerBytes)
      await expectSound(memory, 'new')
      const { fingerprint } = await pack(await smallModel(LAYERS), new MemoryNamespace().namespace)
      expect(receipt.fingerprint).toBe(fingerprint)
    },
  )

  test('pack resumes from a file only with the same modification time', async () => {
    const folder = scratch()
    const path = join(folder, 'm.safetensors')
    await writeFile(path, safetensorsFile(LAYERS))
    const memory = new MemoryNamespace()
    const packFile = async (options: PackOptions = {}) => {
      await using source = await openFileSource(path)
      return await pack(await openModel(source), memory.namespace, { ...EACH, ...options })
    }
    const controller = new AbortController()
    let pieces = 0
    const onProgress = () => {
      if (++pieces === 4) controller.abort('killed')
    }
    const kill = () => packFile({ signal: controller.signal, onProgress })
    await expect(kill()).rejects.toBe('killed')
    const before = memory.media.slice()
    expect((await packFile()).resumedBytes).toBeGreaterThanOrEqual(bytesBefore(3))
    memory.media.set(before)
    await utimes(path, 1, 1)
    expect(await packFile()).toMatchObject({ resumedBytes: 0 })
    await expectSound(memory, 'new')
  })

  test('rangeSource has a revision if its source has one', async () => {
    const { model } = await revised('7')
    const [{ source }] = model.parts
    expect(rangeSource(source, 2, 3).revision).toBe('7 [2, 3]')
    expect((await smallModel()).parts[0].source.revision).toBeUndefined()
  })
})

test('a checkpoint is written after a flush of all data that it records', async () => {
  const memory = new MemoryNamespace()
  const { model } = await revised('1')
  const { spare } = planPack(model, 512, { name: 'new' })
  await pack(model, memory.namespace, EACH)
  const isNote = (entry: JournalEntry) =>
    entry.kind === 'write' && entry.offsetBytes >= spare.offsetBytes && entry.content.some((byte) => byte !== 0)
  const notes = memory.journal.flatMap((entry, index) => (isNote(entry) ? [index] : []))
  expect(notes.length).toBeGreaterThanOrEqual(LAYERS.length)
  expect(notes.map((index) => memory.journal[index - 1]!.kind)).toEqual(notes.map(() => 'flush'))
})

describe('packing starts over', () => {
  test.each([
    ['for another revision of the file', () => revised('2', 2), EACH],
    ['under another name', () => revised('1'), { ...EACH, name: 'other' }],
    ['with resume: false', () => revised('1'), { ...EACH, resume: false }],
  ] as const)('packing starts over %s', async (_, open, options) => {
    const memory = await interrupted(4)
    const { model } = await open()
    expect(await pack(model, memory.namespace, options)).toMatchObject({ resumedBytes: 0 })
    await expectSound(memory, options.name!)
  })

  test('packing starts over after an interrupted pack with resume: false and no checkpoint', async () => {
    const memory = await interrupted(4)
    const { model } = await revised('1')
    const onProgress = () => {
      throw new Error('killed')
    }
    const startOver = { ...EACH, resume: false, checkpointBytes: 1 << 30, onProgress }
    await expect(pack(model, memory.namespace, startOver)).rejects.toThrow('killed')
    expect(await pack(model, memory.namespace, EACH)).toMatchObject({ resumedBytes: 0 })
  })

  test('packing starts over after another model was published', async () => {
    const memory = await interrupted(4)
    await pack(await smallModel(undefined, 5), memory.namespace, { name: 'between' })
    const { model } = await revised('1')
    expect(await pack(model, memory.namespace, EACH)).toMatchObject({ resumedBytes: 0 })
    await expectSound(memory, 'new')
    await expectSound(memory, 'between')
  })

  test('a source without a revision is packed without checkpoints', async () => {
    const memory = new MemoryNamespace()
    const flushes = () => memory.journal.filter(({ kind }) => kind === 'flush').length
    await pack(await smallModel(LAYERS), memory.namespace, EACH)
    expect(flushes()).toBe(3)
  })

  test('packing starts over if the checkpoint or chunk table is damaged or unreadable', async () => {
    for (const damage of ['table', 'notes', 'unreadable'] as const) {
      const memory = await interrupted(4)
      const { chunkTable } = await placesIn(memory)
      const { spare } = planPack((await revised('1')).model, 512, { name: 'new' })
      const unreadable = spare.offsetBytes / 512
      if (damage === 'table') memory.media[chunkTable.offsetBytes]! ^= 1
      if (damage === 'notes') [100, 4196].forEach((at) => (memory.media[spare.offsetBytes + at]! ^= 1))
      if (damage === 'unreadable') {
        memory.outcome = ({ operation, slba }, command) =>
          operation === 'read' && slba[command]! >= unreadable && slba[command]! < unreadable + 16
            ? { kind: 'status', sct: 2, sc: 0x81, dnr: false, more: false, crd: 0 }
            : { kind: 'success' }
      }
      const { model } = await revised('1')
      expect(await pack(model, memory.namespace, EACH), damage).toMatchObject({ resumedBytes: 0 })
      await expectSound(memory, 'new')
    }
  })
})

test('resuming rewrites only the layers that were damaged or became unreadable since', async () => {
  for (const isUnreadable of [false, true]) {
    const memory = await interrupted(4)
    const { layers } = await placesIn(memory)
    const { offsetBytes, lengthBytes } = layers[2]!
    memory.media[offsetBytes + 5000]! ^= 0x10
    if (isUnreadable) {
      let isWritten = false
      memory.outcome = ({ operation, slba }) => {
        isWritten ||= operation === 'write' && slba[0] === offsetBytes / 512
        return operation === 'read' && slba[0] === offsetBytes / 512 && !isWritten
          ? { kind: 'status', sct: 2, sc: 0x81, dnr: false, more: false, crd: 0 }
          : { kind: 'success' }
      }
    }
    const { model } = await revised('1')
    const { resumedBytes } = await pack(model, memory.namespace, EACH)
    expect(resumedBytes).toBe(bytesBefore(4) - lengthBytes)
    await expectSound(memory, 'new')
  }
})

test('resuming the first image zeroes the reserved areas again', async () => {
  const { model } = await revised('1')
  const { endBytes } = planPack(model, 512, { name: 'new' })
  // The checkpoint is at the end of this namespace, which is zeroed too.
  const memory = await interrupted(4, endBytes)
  memory.media.set([0x53, 0xef], 0x438) // ext2/3/4
  memory.media.set(Buffer.from('EFI PART'), 512)
  expect((await pack(model, memory.namespace, EACH)).resumedBytes).toBe(bytesBefore(4))
  await expectSound(memory, 'new')
  const between = [memory.media.subarray(4096, 1 << 20), memory.media.subarray((1 << 20) + 4096, 2 << 20)]
  for (const bytes of between) expect(bytes.every((byte) => byte === 0)).toBe(true)
})

test.each([0, -1, NaN])('pack rejects checkpointBytes: %s', async (checkpointBytes) => {
  const packing = pack(await smallModel(), new MemoryNamespace().namespace, { checkpointBytes })
  await expect(packing).rejects.toThrow('checkpointBytes: expected more than 0')
})

describe('resuming after a cut at any write or flush that loses any unflushed writes', () => {
  async function record(memory: MemoryNamespace, options: PackOptions): Promise<Recording> {
    const before = memory.media.slice()
    memory.journal.length = 0
    await pack((await revised('1')).model, memory.namespace, { ...EACH, ...options })
    return { before, journal: memory.journal }
  }

  const cutsOf = (recording: Recording, step: number): number[] => {
    const first = firstChange(recording)
    const cuts = Array.from({ length: recording.journal.length - first + 1 }, (_, index) => first + index)
    return cuts.filter((cut, index) => index % step === 0 || recording.journal[cut]?.kind === 'flush')
  }

  /** Each layer needs two flushes, for its data and for its checkpoint, as does the first checkpoint. */
  const minResumedBytes = ({ journal }: Recording, cut: number): number => {
    const flushes = journal.slice(0, cut).filter(({ kind }) => kind === 'flush').length - 2
    return bytesBefore(Math.min(6, Math.max(0, Math.floor(flushes / 2))))
  }

  async function expectResumed(media: Uint8Array, options: PackOptions): Promise<PackReceipt | undefined> {
    const memory = new MemoryNamespace({ media })
    const { model } = await revised('1')
    const images = await openImage(memory.namespace).catch(() => undefined)
    const published = images?.models.find(({ name }) => name === 'new')
    if (published !== undefined && options.replace !== true) {
      // The cut is between the writes of the two superblock copies, or after both.
      await expectAllLoads(published)
      return undefined
    }
    const receipt = await pack(model, memory.namespace, { ...EACH, ...options })
    await expectSound(memory, 'new')
    return receipt
  }

  test(
    'resuming completes the first image of a namespace and keeps all data of its checkpoints',
    async () => {
      const memory = new MemoryNamespace({ capacityBytes: (2 << 20) + (160 << 10), maxTransferBytes: 4096 })
      const recording = await record(memory, {})
      await judgeCuts(
        recording,
        cutsOf(recording, 3),
        async (media, cut) => {
          const receipt = await expectResumed(media, {})
          if (receipt === undefined) return
          expect(receipt.resumedBytes, `after ${cut}`).toBeGreaterThanOrEqual(minResumedBytes(recording, cut))
        },
        20,
      )
    },
    SLOW_MS,
  )

  test(
    'resuming completes a second image; the first one is complete after every cut',
    async () => {
      const memory = new MemoryNamespace({ capacityBytes: 3 << 20, maxTransferBytes: 4096 })
      const { fingerprint } = await pack(await smallModel(), memory.namespace, { name: 'old' })
      const recording = await record(memory, {})
      await judgeCuts(
        recording,
        cutsOf(recording, 1),
        async (media, cut) => {
          const { namespace } = new MemoryNamespace({ media })
          const old = (await openImage(namespace)).model('old')
          expect(old.fingerprint).toBe(fingerprint)
          await expectAllLoads(old)
          const receipt = await expectResumed(media, {})
          await expectAllLoads((await openImage(namespace)).model('old'))
          if (receipt === undefined) return
          expect(receipt.resumedBytes, `after ${cut}`).toBeGreaterThanOrEqual(minResumedBytes(recording, cut))
        },
        30,
      )
    },
    SLOW_MS,
  )

  test(
    'resuming completes a replacement whose predecessor was discarded, next to another model',
    async () => {
      const memory = new MemoryNamespace({ capacityBytes: (2 << 20) + (200 << 10), maxTransferBytes: 4096 })
      await pack(await smallModel(), memory.namespace, { name: 'old' })
      await pack(await smallModel(LAYERS, 9), memory.namespace, { name: 'new' })
      const given: string[] = []
      const recording = await record(memory, { replace: true, onDiscard: () => void given.push('up') })
      expect(given).toEqual(['up'])
      await judgeCuts(
        recording,
        cutsOf(recording, 2),
        async (media) => {
          await expectResumed(media, { replace: true })
          await expectAllLoads((await openImage(new MemoryNamespace({ media }).namespace)).model('old'))
        },
        20,
      )
    },
    SLOW_MS,
  )
})
