import type { Checksummer } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { ExtentNotFoundError } from '../src/formats/index.js'
import {
  openImage,
  openLoader,
  planStream,
  streamLayers,
  zlibChecksummer,
  type Lease,
  type PackedModel,
  type StreamProgress,
} from '../src/index.js'
import { pack } from '../src/image/index.js'
import { MemoryNamespace, type MemoryNamespaceOptions } from './memory-namespace.js'
import { layeredModel } from './models.js'

const LAYERS = 6
const LAYER_BYTES = 1 << 20

interface Opened {
  readonly memory: MemoryNamespace
  readonly model: PackedModel
}

/** A model of six layers of one chunk each, with nothing allocated and nothing read yet. */
async function opened(options: MemoryNamespaceOptions = {}): Promise<Opened> {
  const memory = new MemoryNamespace({ capacityBytes: 12 << 20, ...options })
  await pack(await layeredModel(LAYERS, LAYER_BYTES), memory.namespace)
  const model = (await openImage(memory.namespace)).model()
  memory.plans.length = memory.peakBytes = memory.peakInFlight = 0
  return { memory, model }
}

/** Runs the event loop until all unblocked work is done. */
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

async function take(stream: AsyncIterator<Lease, undefined>, count: number): Promise<Lease[]> {
  const leases: Lease[] = []
  while (leases.length < count) {
    const { done, value } = await stream.next()
    if (done === true) break
    leases.push(value)
  }
  return leases
}

describe('back-pressure', () => {
  test('nothing is allocated or read before the first call of next', async () => {
    const { memory, model } = await opened()
    const stream = streamLayers(model)
    await settle()
    expect(memory).toMatchObject({ plans: [], allocatedBytes: 0 })
    await stream.close()
  })

  test.each([1, 2, 3, 5])('with %i slots, at most that many layers are read until one is released', async (slots) => {
    const { memory, model } = await opened()
    await using stream = streamLayers(model, { slots })
    const [first] = await take(stream, 1)
    await settle()
    expect(memory.plans).toHaveLength(slots)
    expect(memory.peakBytes).toBe(slots * LAYER_BYTES)
    first!.release()
    await settle()
    expect(memory.plans).toHaveLength(slots + 1)
  })

  test('reads of several layers are in flight at once', async () => {
    const { memory, model } = await opened()
    memory.gate = () => new Promise(setImmediate)
    for await (using lease of streamLayers(model)) expect(lease.verified).toBe(true)
    expect(memory.peakInFlight).toBe(3)
    expect(memory).toMatchObject({ allocatedBytes: 0, peakBytes: 3 * LAYER_BYTES })
  })

  test('a stream allocates at most one slot for each layer', async () => {
    const { memory, model } = await opened()
    for await (using lease of streamLayers(model, { slots: 99, layers: [4] })) expect(lease.name).toBe('layer 4')
    expect(memory.peakBytes).toBe(LAYER_BYTES)
  })

  test('next fails when the consumer holds all slots', async () => {
    const { memory, model } = await opened()
    const stream = streamLayers(model, { slots: 2 })
    const leases = await take(stream, 2)
    const error: unknown = await stream.next().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_ALL_SLOTS_HELD' })
    expect((error as Error).message).toContain('leases hold all 2')
    // The stream has ended; its leases stay valid until they are released.
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(leases[0]!.bytes).toHaveLength(LAYER_BYTES)
    for (const lease of leases) lease.release()
    expect(memory.allocatedBytes).toBe(0)
  })

  test('next waits for a released slot with whenHeld: wait', async () => {
    const { memory, model } = await opened()
    const seen: string[] = []
    for await (const lease of streamLayers(model, { slots: 2, whenHeld: 'wait' })) {
      seen.push(lease.name)
      setImmediate(() => lease.release())
    }
    expect(seen).toHaveLength(LAYERS)
    await settle()
    expect(memory.allocatedBytes).toBe(0)
  })

  test('an abort or close ends a call of next that waits for a slot', async () => {
    for (const end of ['abort', 'close'] as const) {
      const { memory, model } = await opened()
      const controller = new AbortController()
      const stream = streamLayers(model, { slots: 1, whenHeld: 'wait', signal: controller.signal })
      const [lease] = await take(stream, 1)
      const next = stream.next().catch((error: unknown) => error)
      await settle()
      if (end === 'abort') controller.abort(end)
      else await stream.close()
      expect(await next).toEqual(end === 'abort' ? 'abort' : { done: true, value: undefined })
      lease!.release()
      expect(memory.allocatedBytes).toBe(0)
    }
  })
})

describe('the order of layers', () => {
  test('layers come in the order of the layers option, by number or name, with repetitions', async () => {
    const { model } = await opened()
    const names: string[] = []
    const layers = [5, 'layer 0', 5, 'layer 2']
    for await (using lease of streamLayers(model, { layers })) names.push(`${lease.index} ${lease.name}`)
    expect(names).toEqual(['0 layer 5', '1 layer 0', '2 layer 5', '3 layer 2'])
  })

  test('a stream omits skipped layers, and does not read them', async () => {
    const { memory, model } = await opened()
    const names: string[] = []
    for await (using lease of streamLayers(model, { skip: [1, 'layer 4'] })) names.push(lease.name)
    expect(names).toEqual(['layer 0', 'layer 2', 'layer 3', 'layer 5'])
    expect(memory.plans).toHaveLength(4)
    expect(() => streamLayers(model, { skip: ['layer 9'] })).toThrow('no layer "layer 9"')
  })

  test('overlapping calls of next return layers in the order of the calls', async () => {
    const { model } = await opened()
    const stream = streamLayers(model, { slots: 4 })
    const results = await Promise.all([stream.next(), stream.next(), stream.next()])
    expect(results.map(({ value }) => value?.name)).toEqual(['layer 0', 'layer 1', 'layer 2'])
    await stream.close()
  })

  test('the order of layers does not depend on the order in which reads finish', async () => {
    const { memory, model } = await opened()
    memory.gate = (plan) => new Promise((resolve) => setTimeout(resolve, plan === memory.plans[0] ? 20 : 0))
    const names: string[] = []
    const loaded: number[] = []
    const onProgress = ({ index }: StreamProgress) => loaded.push(index)
    for await (using lease of streamLayers(model, { onProgress })) names.push(lease.name)
    expect(names).toEqual(model.layers)
    expect(loaded).toEqual([0, 1, 2, 3, 4, 5])
  })

  test.each([{ layers: [6] }, { layers: ['layer 6'] }, { layers: [-1] }])(
    'streamLayers rejects unknown layers: %o',
    async (options) => {
      const { model } = await opened()
      expect(() => streamLayers(model, options)).toThrow(ExtentNotFoundError)
    },
  )

  test.each([{ slots: 0 }, { slots: 1.5 }, { slotBytes: 0 }, { slotBytes: NaN }])(
    'streamLayers rejects an invalid number or length of slots: %o',
    async (options) => {
      const { model } = await opened()
      expect(() => streamLayers(model, options)).toThrow(RangeError)
    },
  )

  test('an empty layers option yields an empty stream without reads', async () => {
    const { memory, model } = await opened()
    for await (const lease of streamLayers(model, { layers: [] })) lease.release()
    expect(memory.plans).toEqual([])
  })
})

describe('a lease', () => {
  test('a lease throws on use after release; a second release has no effect', async () => {
    const { model } = await opened()
    await using stream = streamLayers(model, { poison: true, slots: 1 })
    const [lease] = await take(stream, 1)
    const name = 'model.layers.0.weight'
    const kept = lease!.tensor(name)
    expect(lease!.memory.lengthBytes).toBe(LAYER_BYTES)
    expect(() => lease!.tensor('other')).toThrow(RangeError)
    lease!.release()
    lease!.release()
    expect(lease!.released).toBe(true)
    for (const use of [() => lease!.tensor(name), () => lease!.bytes, () => lease!.memory]) {
      expect(use).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_USE_AFTER_RELEASE' }))
    }
    expect(lease).toMatchObject({ name: 'layer 0', index: 0, tensors: [{ name }], verified: true })
    expect(lease!.statistics).toMatchObject({ bytes: LAYER_BYTES })
    // An array that was obtained before the release stays readable; `poison` overwrites it.
    expect(kept.every((byte) => byte === 0xa5)).toBe(true)
  })

  test('a second release of a lease does not free the slot of the next lease', async () => {
    const { memory, model } = await opened()
    await using stream = streamLayers(model, { slots: 1 })
    const [first] = await take(stream, 1)
    first!.release()
    const [second] = await take(stream, 1)
    const before = second!.bytes.slice()
    first!.release()
    await settle()
    expect(memory.plans).toHaveLength(2)
    expect(Buffer.compare(second!.bytes, before)).toBe(0)
  })

  test('a lease stays valid after the last layer of a stream', async () => {
    const { memory, model } = await opened()
    const leases: Lease[] = []
    for await (const lease of streamLayers(model, { layers: [0, 1] })) leases.push(lease)
    expect(leases[0]!.bytes).toHaveLength(LAYER_BYTES)
    expect(memory.allocatedBytes).toBe(2 * LAYER_BYTES)
    for (const lease of leases) lease.release()
    expect(memory.allocatedBytes).toBe(0)
  })

  test('a lease ends when the loop is left early', async () => {
    const { memory, model } = await opened()
    let kept: Lease | undefined
    for await (const lease of streamLayers(model)) {
      kept = lease
      break
    }
    expect(() => kept!.bytes).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_USE_AFTER_RELEASE' }))
    expect(memory).toMatchObject({ allocatedBytes: 0, inFlight: 0 })
  })

  test('a lease is released by `await using` too', async () => {
    const { memory, model } = await opened()
    for await (await using lease of streamLayers(model, { slots: 1 })) expect(lease.released).toBe(false)
    expect(memory.allocatedBytes).toBe(0)
  })
})

describe('the end of a stream', () => {
  test('an abort at any stage throws its reason; nothing stays in flight or allocated', async () => {
    for (let stage = 0; stage < 24; stage++) {
      const { memory, model } = await opened()
      const controller = new AbortController()
      memory.gate = async () => {
        for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
      }
      const reason = new Error(`stage ${stage}`)
      const run = async () => {
        for await (const lease of streamLayers(model, { signal: controller.signal })) lease.release()
      }
      const running = run().catch((error: unknown) => error)
      for (let turn = 0; turn < stage; turn++) await new Promise(setImmediate)
      controller.abort(reason)
      const outcome = await running
      expect([reason, undefined]).toContain(outcome)
      if (stage < 5) expect(outcome).toBe(reason)
      expect(memory).toMatchObject({ allocatedBytes: 0, inFlight: 0 })
    }
  })

  test('a signal that is already aborted prevents all reads', async () => {
    const { memory, model } = await opened()
    const stream = streamLayers(model, { signal: AbortSignal.abort('no') })
    await expect(stream.next()).rejects.toBe('no')
    expect(memory).toMatchObject({ plans: [], allocatedBytes: 0 })
  })

  test('close waits for reads in flight before it frees their slots', async () => {
    const { memory, model } = await opened()
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    memory.gate = () => gate
    const stream = streamLayers(model)
    const next = stream.next()
    await settle()
    const closing = stream.close()
    await settle()
    expect(memory).toMatchObject({ inFlight: 3, allocatedBytes: 3 * LAYER_BYTES })
    open()
    await closing
    expect(await next).toEqual({ done: true, value: undefined })
    expect(memory).toMatchObject({ inFlight: 0, allocatedBytes: 0 })
    await stream.close()
  })

  test('a failed command ends the stream with its error after all earlier layers', async () => {
    const { memory, model } = await opened({ maxTransferBytes: 64 << 10 })
    const bad = model.manifest.layers[2]!.offsetBytes / 512 + 128
    memory.outcome = (plan, command) =>
      plan.slba[command] === bad
        ? { kind: 'status', sct: 2, sc: 0x81, dnr: true, more: false, crd: 0 }
        : { kind: 'success' }
    const names: string[] = []
    const streaming = async () => {
      for await (using lease of streamLayers(model)) names.push(lease.name)
    }
    await expect(streaming()).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER', category: 'device' })
    expect(names).toEqual(['layer 0', 'layer 1'])
    expect(memory).toMatchObject({ allocatedBytes: 0, inFlight: 0 })
  })

  test('a failed allocation frees the slots allocated before it', async () => {
    const { memory, model } = await opened()
    const { dma } = model.store
    const store = Object.create(model.store, {
      dma: {
        value: {
          alloc: (lengthBytes: number) => {
            if (memory.allocatedBytes > 0) throw new RangeError('out of memory')
            return dma.alloc(lengthBytes)
          },
        },
      },
    }) as PackedModel['store']
    await expect(streamLayers({ ...model, store }).next()).rejects.toThrow('out of memory')
    expect(memory.allocatedBytes).toBe(0)
  })

  test('an abort or close inside the progress callback ends the stream', async () => {
    for (const end of ['abort', 'close'] as const) {
      const { memory, model } = await opened()
      const controller = new AbortController()
      const onProgress = () => {
        if (end === 'abort') controller.abort('in the callback')
        else void stream.close()
      }
      const stream = streamLayers(model, { signal: controller.signal, onProgress })
      const outcome = await stream.next().catch((error: unknown) => error)
      expect(outcome).toEqual(end === 'abort' ? 'in the callback' : { done: true, value: undefined })
      expect(await stream.next()).toEqual({ done: true, value: undefined })
      await stream.close()
      expect(memory).toMatchObject({ allocatedBytes: 0, inFlight: 0 })
    }
  })

  test('an exception of the progress callback ends the stream and frees its memory', async () => {
    const { memory, model } = await opened()
    const onProgress = () => {
      throw new Error('callback failed')
    }
    await expect(streamLayers(model, { onProgress }).next()).rejects.toThrow('callback failed')
    expect(memory.allocatedBytes).toBe(0)
  })
})

test('the statistics count bytes, commands and layers, and the time of reads and checks', async () => {
  const { model } = await opened({ maxTransferBytes: 256 << 10 })
  const progress: StreamProgress[] = []
  const stream = streamLayers(model, { onProgress: (event) => progress.push(event) })
  let readNs = 0
  for await (using lease of stream) {
    expect(lease.statistics).toMatchObject({ bytes: LAYER_BYTES, commands: 4 })
    readNs += lease.statistics.readNs
  }
  const { statistics } = stream
  expect(statistics).toMatchObject({
    bytes: LAYERS * LAYER_BYTES,
    commands: 24,
    layers: 6,
    tensors: 6,
    tensorsVerified: 6,
  })
  // 100 ns a block on the clock of this namespace; nothing else moves it.
  expect(statistics.elapsedNs).toBe((LAYERS * LAYER_BYTES * 100) / 512)
  expect(readNs).toBe(statistics.elapsedNs)
  expect(statistics.verifyNs).toBeGreaterThan(0)
  expect(progress.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
  expect(progress.at(-1)).toMatchObject({
    layer: 'layer 5',
    layers: 6,
    totalBytes: LAYERS * LAYER_BYTES,
    statistics: { layers: 6 },
  })
})

test('the read time of a layer does not include the wait for its check', async () => {
  const { model } = await opened()
  let checks = 0
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const checksummer: Checksummer = {
    name: 'the first check ends last',
    blocks: false,
    async checksum(...call) {
      if (++checks === 1) await ended
      await zlibChecksummer.checksum(...call)
    },
  }
  const loader = openLoader(model, { slots: 2, checksummer })
  const [first, second] = [0, 1].map((layer) => loader.request(model.layer(layer)))
  await second!.ready()
  end()
  for (const ticket of [first!, second!]) {
    using lease = await ticket.lease()
    expect(lease.statistics.readNs).toBe((LAYER_BYTES * 100) / 512)
  }
  await loader.close()
})

test('planStream returns the number and length of slots', async () => {
  const { model } = await opened()
  expect(planStream(model, { slots: 2 })).toMatchObject({
    slots: 2,
    slotBytes: LAYER_BYTES,
    totalBytes: 6 * LAYER_BYTES,
  })
})
