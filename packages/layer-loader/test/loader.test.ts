import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { Checksummer, DmaAllocator, DmaMemory, ExecuteOptions, TraceEvent } from '@gpunvme/nvme-spec/transport'
import {
  ExtentTooLongError,
  LOAD_CHANNEL,
  openImage,
  openLoader,
  VerificationError,
  zlibChecksummer,
  type Lease,
  type LoadEvent,
  type Loader,
  type LoaderOptions,
  type Move,
  type StoredModel,
  type Ticket,
} from '../src/index.js'
import { pack } from '../src/image/index.js'
import type { BlockStore, StoreTransfer } from '../src/store/index.js'
import { MemoryNamespace, type MemoryNamespaceOptions } from './memory-namespace.js'
import { layeredModel, tensorBytes } from './models.js'

const MIB = 1 << 20
const LAYERS = 6
const LAYER_BYTES = 4 * MIB

let loader: Loader | undefined
afterEach(() => loader?.close())

interface Opened {
  readonly memory: MemoryNamespace
  readonly model: StoredModel
  /** Returns the numbers of layers, in the order in which their first blocks were read. */
  readonly begun: () => number[]
}

/** An image of six layers of four chunks each. */
const image = (async () => {
  const { namespace, media } = new MemoryNamespace({ capacityBytes: 32 * MIB })
  await pack(await layeredModel(LAYERS, LAYER_BYTES), namespace)
  return media
})()

/** Opens the image on a drive that has at most two reads of one chunk in flight. */
async function opened(options: MemoryNamespaceOptions = {}): Promise<Opened> {
  const media = (await image).slice()
  const memory = new MemoryNamespace({ media, maxTransferBytes: 64 << 10, ...options })
  const packed = (await openImage(memory.namespace)).model()
  memory.plans.length = memory.peakBytes = 0
  const begun = () =>
    memory.plans.flatMap(({ slba }) => {
      const index = packed.manifest.layers.findIndex(({ offsetBytes }) => offsetBytes === slba[0]! * 512)
      return index < 0 ? [] : [index]
    })
  return { memory, model: packed, begun }
}

function open(model: StoredModel, options: LoaderOptions = {}): Loader {
  return (loader = openLoader(model, options))
}

/** Runs the event loop until all unblocked work is done. Checksums of a layer take at most one turn per 64 KiB. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 200; turns++) await turn()
}

/** Blocks every plan until it is released; `release` resumes the oldest ones, `open` all present and future ones. */
function gated(memory: MemoryNamespace) {
  const held: (() => void)[] = []
  memory.gate = () => new Promise<void>((resolve) => held.push(resolve))
  return {
    held,
    async release(count = held.length) {
      for (const resume of held.splice(0, count)) resume()
      await settle()
    },
    open() {
      memory.gate = () => Promise.resolve()
      for (const resume of held.splice(0)) resume()
    },
  }
}

describe('priorities', () => {
  test('an urgent request is read before the rest of a speculative one', async () => {
    const { memory, model, begun } = await opened()
    const gate = gated(memory)
    const { request } = bound(open(model, { slots: 3 }))
    const ahead = request(model.layer(0), { priority: 'ahead' })
    const soon = request(model.layer(1))
    const now = request(model.layer(2), { priority: 'now' })
    // Two chunks of the first request are in flight; its other two are read last.
    expect(gate.held).toHaveLength(2)
    gate.open()
    const order: string[] = []
    await Promise.all([ahead, soon, now].map((ticket) => ticket.ready().then(({ name }) => order.push(name))))
    expect(order).toEqual(['layer 2', 'layer 1', 'layer 0'])
    expect(begun()).toEqual([0, 2, 1])
  })

  test('requests of equal priority are read in the order of their calls', async () => {
    const { model, begun } = await opened()
    const { request } = bound(open(model, { slots: 6 }))
    await Promise.all([3, 1, 2].map((layer) => request(model.layer(layer)).ready()))
    expect(begun()).toEqual([3, 1, 2])
  })

  test('an urgent request takes the slot of a ready, unleased one, which is read again later', async () => {
    const { model, begun } = await opened()
    const { request } = bound(open(model, { slots: 1 }))
    const guess = request(model.layer(4), { priority: 'ahead' })
    await guess.ready()
    using needed = await request(model.layer(0), { priority: 'now' }).lease()
    expect(needed.name).toBe('layer 0')
    expect(guess.state).toBe('waiting')
    expect(loader!.statistics.discardedBytes).toBe(LAYER_BYTES)
    needed.release()
    using again = await guess.lease()
    expect(again.name).toBe('layer 4')
    expect(begun()).toEqual([4, 0, 4])
  })

  test('a speculative request that is being read yields its slot after its reads in flight', async () => {
    const { memory, model } = await opened()
    const gate = gated(memory)
    const { request } = bound(open(model, { slots: 1 }))
    const guess = request(model.layer(4), { priority: 'ahead' })
    const needed = request(model.layer(0), { priority: 'now' })
    expect([guess.state, needed.state]).toEqual(['loading', 'waiting'])
    await gate.release(1)
    expect(needed.state).toBe('waiting')
    await gate.release(1)
    expect([guess.state, needed.state]).toEqual(['waiting', 'loading'])
    gate.open()
    using lease = await needed.lease()
    expect(lease.verified).toBe(true)
    expect(loader!.statistics.discardedBytes).toBe(2 * MIB)
  })

  test('a speculative request yields its slot at once if none of it has been read', async () => {
    const { memory, model } = await opened()
    const gate = gated(memory)
    const { request } = bound(open(model, { slots: 2 }))
    const first = request(model.layer(0), { priority: 'ahead' })
    const second = request(model.layer(1), { priority: 'ahead' })
    expect([first.state, second.state]).toEqual(['loading', 'loading'])
    const needed = request(model.layer(2), { priority: 'now' })
    expect([first.state, second.state, needed.state]).toEqual(['loading', 'waiting', 'loading'])
    gate.open()
    for (const ticket of [needed, first, second]) (await ticket.lease()).release()
  })

  test('an urgent request is verified before speculative ones that arrived earlier', async () => {
    const { model } = await opened()
    let begin = (): void => undefined
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const checksummer: Checksummer = {
      name: 'delayed',
      blocks: true,
      checksum: async (...call) => {
        await begun
        await zlibChecksummer.checksum(...call)
      },
    }
    const { request } = bound(open(model, { slots: 4, checksummer }))
    const order: string[] = []
    const note = ({ name }: { name: string }) => order.push(name)
    const guesses = [0, 1].map((layer) => request(model.layer(layer), { priority: 'ahead' }).ready().then(note))
    await settle()
    const needed = request(model.layer(2), { priority: 'now' }).ready().then(note)
    await settle()
    begin()
    await Promise.all([...guesses, needed])
    expect(order[0]).toBe('layer 2')
  })

  test('a leased request keeps its slot when an urgent one arrives', async () => {
    const { model } = await opened()
    const { request } = bound(open(model, { slots: 1 }))
    const guess = request(model.layer(4), { priority: 'ahead' })
    using held = await guess.lease()
    const needed = request(model.layer(0), { priority: 'now' })
    await settle()
    expect([held.released, needed.state]).toEqual([false, 'waiting'])
  })

  test('setPriority makes a speculative request urgent', async () => {
    const { memory, model } = await opened()
    const gate = gated(memory)
    const { request } = bound(open(model, { slots: 3 }))
    request(model.layer(0))
    const guess = request(model.layer(1), { priority: 'ahead' })
    const order: string[] = []
    for (const ticket of [guess, request(model.layer(2))])
      void ticket.ready().then(
        ({ name }) => order.push(name),
        () => undefined,
      )
    guess.setPriority('now')
    expect(guess.priority).toBe('now')
    gate.open()
    await guess.ready()
    expect(order).toEqual(['layer 1'])
  })
})

describe('cancelling a request', () => {
  test('cancelling a request that waits for a slot prevents its read', async () => {
    const { model, begun } = await opened()
    const { request } = bound(open(model, { slots: 1 }))
    using held = await request(model.layer(0)).lease()
    const ticket = request(model.layer(1))
    const lease = ticket.lease().catch((error: unknown) => error)
    ticket.cancel('changed my mind')
    expect(await lease).toBe('changed my mind')
    held.release()
    await settle()
    expect(begun()).toEqual([0])
  })

  test('cancelling a request during its read frees its slot after the reads in flight', async () => {
    const { memory, model } = await opened()
    const gate = gated(memory)
    const { request } = bound(open(model, { slots: 1 }))
    const ticket = request(model.layer(0))
    const next = request(model.layer(1))
    ticket.cancel()
    await expect(ticket.lease()).rejects.toMatchObject({ name: 'AbortError' })
    expect(next.state).toBe('waiting')
    gate.open()
    using lease = await next.lease()
    expect(lease.name).toBe('layer 1')
    expect(loader!.statistics).toMatchObject({ bytes: 2 * MIB + LAYER_BYTES, discardedBytes: 2 * MIB, extents: 1 })
  })

  test('cancelling a ready request frees its slot', async () => {
    const { model } = await opened()
    const { request } = bound(open(model, { slots: 1 }))
    const ticket = request(model.layer(0))
    await ticket.ready()
    ticket.cancel()
    using lease = await request(model.layer(1)).lease()
    expect(lease.name).toBe('layer 1')
    expect(loader!.statistics).toMatchObject({
      ...{ discardedBytes: LAYER_BYTES, extents: 2, requestedBytes: 2 * LAYER_BYTES },
    })
  })

  test.each<[string, (ticket: Ticket, abort: AbortController) => unknown]>([
    ['cancelled', (ticket) => ticket.cancel('gone')],
    ['closed with its loader', () => loader!.end('gone')],
    ['aborted with its loader', (_, abort) => abort.abort('gone')],
  ])('a ready request that was %s rejects later ready and lease calls', async (_, end) => {
    const { model } = await opened()
    const abort = new AbortController()
    const ticket = open(model, { signal: abort.signal }).request(model.layer(0))
    await ticket.ready()
    end(ticket, abort)
    await expect(ticket.ready()).rejects.toBe('gone')
    await expect(ticket.lease()).rejects.toBe('gone')
  })

  test('cancelling a leased request has no effect', async () => {
    const { model } = await opened()
    const ticket = open(model).request(model.layer(0))
    using lease = await ticket.lease()
    ticket.cancel()
    expect(lease.bytes).toHaveLength(LAYER_BYTES)
    expect(await ticket.lease()).toBe(lease)
  })

  test('an aborted signal cancels a request that was ready and lost its slot', async () => {
    const { model } = await opened()
    const { request } = bound(open(model, { slots: 1 }))
    const abort = new AbortController()
    const guess = request(model.layer(4), { priority: 'ahead', signal: abort.signal })
    await guess.ready()
    using needed = await request(model.layer(0), { priority: 'now' }).lease()
    expect([needed.name, guess.state]).toEqual(['layer 0', 'waiting'])
    abort.abort('not any more')
    await expect(guess.lease()).rejects.toBe('not any more')
  })

  test('an aborted signal cancels a request before and during its read', async () => {
    const { memory, model } = await opened()
    const gate = gated(memory)
    const { request } = bound(open(model))
    await expect(request(model.layer(0), { signal: AbortSignal.abort('too late') }).lease()).rejects.toBe('too late')
    const abort = new AbortController()
    const lease = request(model.layer(1), { signal: abort.signal }).lease()
    abort.abort('never mind')
    await expect(lease).rejects.toBe('never mind')
    gate.open()
  })
})

describe('a deadline', () => {
  test('a deadline fails a request that waits for a slot, and the error says so', async () => {
    const { model } = await opened()
    const { request } = bound(open(model, { slots: 1 }))
    const held = await request(model.layer(0)).lease()
    const late = request(model.layer(1), { deadlineMs: 1 })
    await expect(late.lease()).rejects.toMatchObject({
      code: 'ERR_GPUNVME_DEADLINE',
      message: expect.stringMatching(/"layer 1" was not leased within 1 ms: it waited for a free slot/) as unknown,
    })
    held.release()
    await expect(request(model.layer(1)).lease()).resolves.toMatchObject({ name: 'layer 1' })
  })

  test('a deadline fails a request during its read, and frees its slot after the reads in flight', async () => {
    const { memory, model } = await opened()
    const gate = gated(memory)
    const { request } = bound(open(model, { slots: 1 }))
    const late = request(model.layer(0), { deadlineMs: 1 })
    await expect(late.lease()).rejects.toMatchObject({
      code: 'ERR_GPUNVME_DEADLINE',
      message: expect.stringContaining('it was being read') as unknown,
    })
    const next = request(model.layer(1))
    await settle()
    expect(next.state).toBe('waiting')
    gate.open()
    await expect(next.lease()).resolves.toMatchObject({ name: 'layer 1' })
  })

  test('a deadline fails a request that is in memory if its lease was not requested, and the error says so', async () => {
    const { model } = await opened()
    const ticket = open(model).request(model.layer(0), { deadlineMs: 200 })
    await ticket.ready()
    while (ticket.state === 'ready') await new Promise((done) => setTimeout(done, 20))
    await expect(ticket.lease()).rejects.toMatchObject({
      code: 'ERR_GPUNVME_DEADLINE',
      next: 'call lease() before the deadline: ready() does not end it',
    })
  })

  test('a deadline does not end a lease', async () => {
    const { model } = await opened()
    const { request } = bound(open(model, { slots: 1 }))
    const lease = await request(model.layer(0), { deadlineMs: 60_000 }).lease()
    expect(lease.released).toBe(false)
  })

  test.each([0, -1, NaN, 2 ** 31])('a deadline of %s ms is rejected', async (deadlineMs) => {
    const { model } = await opened()
    const { request } = bound(open(model))
    expect(() => request(model.layer(0), { deadlineMs })).toThrow(/deadlineMs: expected more than 0/)
  })
})

test.each([0, 0.5, NaN])('a budget of %s bytes in flight is rejected', async (inFlightBytes) => {
  const { model } = await opened()
  expect(() => openLoader(model, { inFlightBytes })).toThrow(/inFlightBytes: expected an integer from 1 to/)
})

describe('a failure', () => {
  test('a failed request does not affect the others, and its slot is reused', async () => {
    const { memory, model } = await opened()
    const bad = model.layer(1).fullRange!.storeBytes / 512 + 200
    memory.outcome = ({ slba, blocks }, command) =>
      slba[command]! <= bad && bad < slba[command]! + blocks[command]!
        ? { kind: 'status', sct: 2, sc: 0x81, dnr: true, more: false, crd: 0 }
        : { kind: 'success' }
    const { request } = bound(open(model, { slots: 1 }))
    const tickets = [0, 1, 2].map((layer) => request(model.layer(layer)))
    using first = await tickets[0]!.lease()
    first.release()
    await expect(tickets[1]!.lease()).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
    using third = await tickets[2]!.lease()
    expect(third.verified).toBe(true)
  })

  test('a checksum mismatch rejects the lease and names extent, chunk, tensors and LBAs', async () => {
    const { memory, model } = await opened()
    const { storeBytes } = model.layer(3).fullRange!
    memory.media[storeBytes + 2 * MIB + 17]! ^= 4
    const { request } = bound(open(model))
    const error: unknown = await request(model.layer(3))
      .lease()
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(VerificationError)
    expect(error).toMatchObject({
      extent: 'layer 3',
      chunk: 2,
      tensors: ['model.layers.3.weight'],
      location: `NSID 1  LBA 0x${((storeBytes + 2 * MIB) / 512).toString(16)} to 0x${((storeBytes + 3 * MIB) / 512 - 1).toString(16)}`,
    })
    expect(loader!.statistics.extents).toBe(0)
  })

  test('request rejects an extent longer than a slot, and names the required slotBytes', async () => {
    const { model } = await opened()
    const small = open(model, { slotBytes: MIB })
    expect(() => small.request(model.layer(0))).toThrow(ExtentTooLongError)
    expect(() => small.request(model.layer(0))).toThrow(`slotBytes: ${LAYER_BYTES}`)
  })

  test('an extent without all checksums is rejected, and unverified when sampled', async () => {
    const { model } = await opened()
    const extent = { ...model.layer(0), checks: model.layer(0).checks.slice(1) }
    expect(() => open(model).request(extent)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_NO_CHECKSUMS' }))
    await loader!.close()
    using lease = await open(model, { verify: { sample: 1 } })
      .request(extent)
      .lease()
    expect(lease.verified).toBe(false)
  })

  test.each([
    { slots: 0 },
    { slots: 1.5 },
    { slotBytes: 0 },
    { slotBytes: NaN },
    { verify: { sample: 0 } },
    { verify: { sample: 1.5 } },
    { alignBytes: 3 },
    { alignBytes: 3, slotBytes: 4096 },
  ])('openLoader rejects invalid options: %o', async (options) => {
    const { model } = await opened()
    expect(() => openLoader(model, options)).toThrow(RangeError)
  })
})

describe('the end of a loader', () => {
  test('close frees all memory, ends leases, and rejects pending and later requests', async () => {
    const { memory, model } = await opened()
    const { request } = bound(open(model, { slots: 2 }))
    const lease = await request(model.layer(0)).lease()
    const waiting = request(model.layer(1))
      .lease()
      .catch((error: unknown) => error)
    await loader!.close()
    expect(await waiting).toMatchObject({ name: 'AbortError' })
    expect(lease.released).toBe(true)
    expect(memory).toMatchObject({ allocatedBytes: 0, inFlight: 0 })
    expect(() => request(model.layer(2))).toThrow(TypeError)
    await loader!.close()
  })

  test('an abort fails every request with its reason; close waits for reads in flight', async () => {
    const { memory, model } = await opened()
    const gate = gated(memory)
    const abort = new AbortController()
    const { request } = bound(open(model, { signal: abort.signal }))
    const outcomes = [0, 1, 2, 3].map((layer) =>
      request(model.layer(layer))
        .lease()
        .catch((error: unknown) => error),
    )
    abort.abort('power is going')
    expect(await Promise.all(outcomes)).toEqual(Array(4).fill('power is going'))
    const closing = loader!.close()
    expect(memory.inFlight).toBe(2)
    gate.open()
    await closing
    expect(memory).toMatchObject({ allocatedBytes: 0, inFlight: 0 })
  })

  test('an abort ends progress and rejects later requests; a lease stays valid until released', async () => {
    const { memory, model } = await opened()
    const abort = new AbortController()
    const { request } = bound(open(model, { signal: abort.signal }))
    const watching = (async () => {
      for await (const { extents } of loader!.progress()) expect(extents).toBeLessThanOrEqual(1)
    })()
    const lease = await request(model.layer(0)).lease()
    abort.abort('enough')
    await watching
    expect(memory.allocatedBytes).toBe(LAYER_BYTES)
    expect(lease.bytes).toHaveLength(LAYER_BYTES)
    await expect(request(model.layer(1)).lease()).rejects.toBe('enough')
    lease.release()
    expect(memory.allocatedBytes).toBe(0)
  })

  test('an exception of the trace sink fails the request, and all memory is freed', async () => {
    for (const at of ['read', 'verify', 'slot 0']) {
      const { memory, model } = await opened()
      const trace = ({ track }: TraceEvent) => {
        if (track === at) throw new Error(`from ${at}`)
      }
      const { request } = bound(open(model, { trace }))
      await expect(request(model.layer(0)).lease()).rejects.toThrow(`from ${at}`)
      await loader!.close()
      expect(memory).toMatchObject({ allocatedBytes: 0, inFlight: 0 })
    }
  })

  test('nothing is allocated before the first request', async () => {
    const { memory, model } = await opened()
    open(model)
    await settle()
    expect(memory).toMatchObject({ allocatedBytes: 0, plans: [] })
  })
})

describe('slots', () => {
  test('the generation of a slot increases with every lease', async () => {
    const { model } = await opened()
    const { request } = bound(open(model, { slots: 1 }))
    const generations: number[] = []
    for (const layer of [0, 1, 2]) {
      using lease = await request(model.layer(layer)).lease()
      expect(lease.slot).toBe(0)
      generations.push(lease.generation)
    }
    expect(generations).toEqual([1, 2, 3])
  })
})

describe('sampled verification', () => {
  test('sampling checks the same chunks for the same seed, and does not mark the lease verified', async () => {
    const { memory, model } = await opened()
    const checked = async (seed: number) => {
      const found: number[] = []
      for (let chunk = 0; chunk < 4 * LAYERS; chunk++) {
        const layer = Math.floor(chunk / 4)
        const at = model.layer(layer).fullRange!.storeBytes + (chunk % 4) * MIB
        memory.media[at]! ^= 1
        await using sampling = openLoader(model, { verify: { sample: 0.5, seed } })
        await sampling
          .request(model.layer(layer))
          .lease()
          .then((lease) => {
            expect(lease.verified).toBe(false)
          })
          .catch((error: unknown) => {
            expect(error).toBeInstanceOf(VerificationError)
            found.push(chunk)
          })
        memory.media[at]! ^= 1
      }
      return found
    }
    const first = await checked(1)
    // Of 24 chunks; less than one in a million seeds draws fewer than 2 or more than 22.
    expect(first.length).toBeGreaterThan(1)
    expect(first.length).toBeLessThan(23)
    expect(await checked(1)).toEqual(first)
    expect(await checked(2)).not.toEqual(first)
  }, 120_000)
})

describe('observing a loader', () => {
  test('statistics count the bytes, commands and latencies of all requests', async () => {
    const { model } = await opened()
    const { request } = bound(open(model))
    const leases: Lease[] = []
    for (const layer of [0, 1]) leases.push(await request(model.layer(layer)).lease())
    expect(loader!.statistics).toMatchObject({
      extents: 2,
      tensors: 2,
      tensorsVerified: 2,
      bytes: 2 * LAYER_BYTES,
      requestedBytes: 2 * LAYER_BYTES,
      commands: 128,
      movedBytes: 0,
      discardedBytes: 0,
      devices: [],
    })
    const { depths, latencyNs, elapsedNs } = loader!.statistics
    expect(depths.reduce((sum, count) => sum + count, 0)).toBe(8)
    // 100 ns a block on the clock of this namespace, and two reads of one chunk in flight.
    expect(elapsedNs).toBe((2 * LAYER_BYTES * 100) / 512)
    expect(latencyNs.max).toBe((2 * MIB * 100) / 512)
    expect(latencyNs.p50).toBeLessThanOrEqual(latencyNs.max!)
  })

  test('progress reports growing totals and ends when the loader closes', async () => {
    const { model } = await opened()
    const { request } = bound(open(model))
    const seen: number[] = []
    const watching = (async () => {
      for await (const { extents } of loader!.progress()) seen.push(extents)
    })()
    for (const layer of [0, 1, 2]) {
      using lease = await request(model.layer(layer)).lease()
      expect(lease.released).toBe(false)
    }
    await loader!.close()
    await watching
    expect(seen.at(-1)).toBe(3)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
  })

  test('progress skips missed events and returns the newest one', async () => {
    const { model } = await opened()
    const { request } = bound(open(model))
    const progress = loader!.progress()
    const first = progress.next()
    for (const layer of [0, 1, 2]) (await request(model.layer(layer)).lease()).release()
    await first
    expect((await progress.next()).value).toMatchObject({ extents: 3 })
  })

  test('the diagnostics channel publishes each state of a request', async () => {
    const { model } = await opened()
    const events: LoadEvent[] = []
    const listen = (message: unknown) => events.push(message as LoadEvent)
    subscribe(LOAD_CHANNEL, listen)
    try {
      using lease = await open(model).request(model.layer(2)).lease()
      lease.release()
    } finally {
      unsubscribe(LOAD_CHANNEL, listen)
    }
    expect(events.map(({ kind }) => kind)).toEqual(['requested', 'loading', 'ready', 'leased', 'released'])
    expect(events.at(-1)).toMatchObject({ model: 'small.safetensors', extent: 'layer 2', slot: 0, generation: 1 })
  })

  test('the trace has one track for reads, one for checks and one for each slot', async () => {
    const { model } = await opened()
    const events: TraceEvent[] = []
    using lease = await open(model, { trace: (event) => events.push(event) })
      .request(model.layer(0))
      .lease()
    lease.release()
    expect(new Set(events.map(({ track }) => track))).toEqual(new Set(['read', 'verify', 'slot 0']))
    expect(events.filter(({ track }) => track === 'read')).toHaveLength(4)
  })
})

describe('memory without a CPU view', () => {
  /** A drive that writes into memory which only its checksummer and its `move` function can access. */
  async function hidden() {
    const { model } = await opened()
    const views = new Map<DmaMemory, DmaMemory>()
    const dma: DmaAllocator = {
      alloc(lengthBytes, request) {
        expect(request).toEqual({ where: 'gpu' })
        const seen = model.store.dma.alloc(lengthBytes)
        const unseen: DmaMemory = Object.create(seen, { view: { value: undefined } }) as DmaMemory
        views.set(unseen, seen)
        return unseen
      },
    }
    const seenOf = (memory: DmaMemory) => views.get(memory)!
    const store: BlockStore = Object.create(model.store, {
      read: {
        value: (transfers: readonly StoreTransfer[], memory: DmaMemory, limits?: ExecuteOptions) =>
          model.store.read(transfers, seenOf(memory), limits),
      },
    }) as BlockStore
    const checksummer: Checksummer = {
      name: 'with access to hidden memory',
      checksum: (memory, ...rest) => zlibChecksummer.checksum(seenOf(memory as DmaMemory), ...rest),
    }
    return { model: { ...model, store }, dma, checksummer, seenOf }
  }

  test('a layer in memory without a CPU view is verified, but lease.bytes and lease.tensor throw', async () => {
    const { model, dma, checksummer, seenOf } = await hidden()
    const { request } = bound(open(model, { where: 'gpu', dma, checksummer }))
    using lease = await request(model.layer(1)).lease()
    expect(lease.verified).toBe(true)
    expect(seenOf(lease.memory).view!.byteLength).toBe(LAYER_BYTES)
    expect(() => lease.bytes).toThrow('lease.memory')
    expect(() => lease.tensor('model.layers.1.weight')).toThrow(TypeError)
  })

  test('memory without a CPU view requires a checksummer that can access it, before any read', async () => {
    const { model, dma } = await hidden()
    const refused = open(model, { where: 'gpu', dma }).request(model.layer(1)).lease()
    await expect(refused).rejects.toThrow('checksummer: expected')
    expect(loader!.statistics.bytes).toBe(0)
  })

  test('memory without a CPU view requires a move function for unaligned pieces', async () => {
    const { model, dma, checksummer, seenOf } = await hidden()
    const layer = model.layer(0)
    const [tensor] = layer.pieces
    const { storeBytes } = layer.fullRange!
    const piece = { ...tensor!, lengthBytes: 100, runs: [{ storeBytes: storeBytes + 520, lengthBytes: 100 }] }
    const odd = { name: 'a piece that starts inside a block', pieces: [piece], checks: [] }
    const options = { where: 'gpu', dma, checksummer, alignBytes: 4096, slotBytes: MIB, verify: 'off' } as const
    await expect(open(model, options).request(odd).lease()).rejects.toThrow('move: required')
    await loader!.close()
    const moved: Move[] = []
    const move = (memory: DmaMemory, moves: readonly Move[]) => {
      moved.push(...moves)
      expect(seenOf(memory).lengthBytes).toBe(MIB)
      return Promise.resolve()
    }
    using lease = await open(model, { ...options, move })
      .request(odd)
      .lease()
    expect(lease.tensors[0]!.offsetBytes % 4096).toBe(0)
    expect(moved).toEqual([{ fromBytes: 8, toBytes: 4096, lengthBytes: 100 }])
  })
})

test('the extent of a tensor is loaded with the bytes of its file', async () => {
  const model = await layeredModel(2, 3 * MIB + 4096)
  const memory = new MemoryNamespace({ capacityBytes: 32 * MIB })
  await pack(model, memory.namespace)
  const stored = (await openImage(memory.namespace)).model()
  using lease = await open(stored, { verify: 'full' }).request(stored.tensor('model.layers.1.weight')).lease()
  expect(Buffer.compare(lease.tensor('model.layers.1.weight'), await tensorBytes(model, 'model.layers.1.weight'))).toBe(
    0,
  )
})

function bound(opened: Loader) {
  return { request: opened.request.bind(opened) }
}
