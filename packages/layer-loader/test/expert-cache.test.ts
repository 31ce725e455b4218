import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Controller } from '@gpunvme/host-driver'
import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import { simulate } from '@gpunvme/nvme-sim'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ExtentNotFoundError, type Model } from '../src/formats/index.js'
import {
  openExpertCache,
  openImage,
  openLoader,
  openModelInFiles,
  VerificationError,
  type ExpertCache,
  type ExpertCacheOptions,
  type Lease,
} from '../src/index.js'
import { pack } from '../src/image/index.js'
import { MemoryNamespace, type MemoryNamespaceOptions } from './memory-namespace.js'
import { EXPERT_BYTES, EXPERTS, LAYERS, moeFile, moeModel, STACKS } from './moe-model.js'
import { smallModel, tensorBytes } from './models.js'

const MIB = 1 << 20
/** An error of a wrong argument. */
const INVALID = expect.objectContaining({ code: 'ERR_GPUNVME_INVALID_ARGUMENT' }) as Error
/** An expert, and the blocks around its three slices. */
const SLOT_BYTES = EXPERT_BYTES + 3 * 4096

let file: Model
let image: Uint8Array
beforeAll(async () => {
  file = await moeModel()
  const memory = new MemoryNamespace({ capacityBytes: 24 * MIB })
  await pack(file, memory.namespace)
  image = memory.media
})

let cache: ExpertCache | undefined
afterEach(() => cache?.close())

/** Opens a cache of this many slots over the packed model on a new drive. */
async function opened(
  slots: number,
  options: Omit<ExpertCacheOptions, 'cacheBytes'> = {},
  drive: MemoryNamespaceOptions = {},
) {
  const memory = new MemoryNamespace({ media: image.slice(), ...drive })
  const model = (await openImage(memory.namespace)).model()
  memory.plans.length = 0
  memory.peakBytes = 0
  cache = openExpertCache(model, { ...options, cacheBytes: slots * SLOT_BYTES })
  return { memory, model, cache }
}

/** Runs the event loop until all unblocked work is done. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 200; turns++) await turn()
}

/** Blocks all reads; the returned function resumes them. */
function hold(memory: MemoryNamespace): () => Promise<void> {
  const held: (() => void)[] = []
  memory.gate = () => new Promise<void>((resolve) => held.push(resolve))
  return async () => {
    memory.gate = () => Promise.resolve()
    for (const release of held.splice(0)) release()
    await settle()
  }
}

async function expectExpert(lease: Lease, layer: number, expert: number): Promise<void> {
  expect(lease.name).toBe(`layer ${layer} expert ${expert}`)
  for (const stack of STACKS) {
    const name = `blk.${layer}.${stack}.weight`
    const bytes = await tensorBytes(file, name)
    const sliceBytes = bytes.length / EXPERTS
    const expected = bytes.subarray(expert * sliceBytes, (expert + 1) * sliceBytes)
    expect(Buffer.compare(lease.tensor(`${name}[${expert}]`), expected)).toBe(0)
  }
}

/** Requests experts of layer 0 one after the other, and releases each. */
async function use(cache: ExpertCache, ...experts: readonly number[]): Promise<void> {
  for (const expert of experts) (await cache.request(0, expert)).release()
}

describe('memory', () => {
  test('the cache has as many slots of the largest expert as the budget allows', async () => {
    const { memory, cache } = await opened(3)
    expect(cache.slots).toBe(3)
    expect(memory.allocatedBytes).toBe(0)
    await use(cache, 0)
    expect(memory.allocatedBytes).toBeGreaterThan(3 * EXPERT_BYTES)
    expect(memory.allocatedBytes).toBeLessThanOrEqual(3 * SLOT_BYTES)
    await use(cache, 1, 2, 3, 4)
    const { heldBytes } = cache.statistics
    expect(heldBytes).toBeGreaterThanOrEqual(3 * EXPERT_BYTES)
    expect(heldBytes).toBeLessThanOrEqual(memory.allocatedBytes)
    await cache.close()
    expect(cache.statistics.heldBytes).toBe(0)
    expect(memory.allocatedBytes).toBe(0)
  })

  test('the cache has at most one slot for each expert of the model', async () => {
    const { cache } = await opened(1000)
    expect(cache.slots).toBe(LAYERS * EXPERTS)
  })

  test.each([EXPERT_BYTES - 1, 0, -1, NaN])(
    'openExpertCache rejects a budget of %d bytes, and names the required minimum',
    async (cacheBytes) => {
      const { model } = await opened(1)
      expect(() => openExpertCache(model, { cacheBytes })).toThrow(INVALID)
      expect(() => openExpertCache(model, { cacheBytes })).toThrow(
        /cacheBytes: expected at least 75\d{4}, for one expert/,
      )
    },
  )

  test('openExpertCache rejects a model without experts, and one whose experts cannot be separated', async () => {
    const dense = new MemoryNamespace()
    await pack(await smallModel(), dense.namespace)
    const options = { cacheBytes: MIB }
    const packed = (await openImage(dense.namespace)).model()
    expect(() => openExpertCache(packed, options)).toThrow('a model with routed experts')
    const uneven = new MemoryNamespace()
    await pack(await moeModel({ ffn_up_exps: [4, 100], ffn_down_exps: [3, 100] }), uneven.namespace)
    const model = (await openImage(uneven.namespace)).model()
    expect(() => openExpertCache(model, options)).toThrow(
      expect.objectContaining({ code: 'ERR_GPUNVME_UNEVEN_EXPERTS' }),
    )
    expect(() => openExpertCache('model.gguf' as never, options)).toThrow(INVALID)
  })
})

describe('requests', () => {
  test('the cache reads an expert once, and leases it again without another read', async () => {
    const { memory, cache } = await opened(2)
    using first = await cache.request(1, 5)
    await expectExpert(first, 1, 5)
    const reads = memory.plans.length
    using second = await cache.request('layer 1', 5)
    await expectExpert(second, 1, 5)
    expect(memory.plans).toHaveLength(reads)
    expect(cache.statistics).toMatchObject({ hits: 1, misses: 1, sharedReads: 0, evictions: 0 })
    expect(cache.statistics.bytesRead).toBe(first.statistics.bytes)
  })

  test('end their leases separately', async () => {
    const { cache } = await opened(2)
    const [first, second] = [await cache.request(0, 1), await cache.request(0, 1)]
    first.release()
    expect(() => first.bytes).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_USE_AFTER_RELEASE' }) as Error)
    await expectExpert(second, 0, 1)
    second.release()
  })

  test('concurrent requests of an expert share one read', async () => {
    const { memory, cache } = await opened(4)
    const open = hold(memory)
    const requests = [cache.request(0, 3, { priority: 'ahead' }), cache.request(0, 3, { priority: 'now' })]
    await settle()
    await open()
    const [first, second] = await Promise.all(requests)
    await expectExpert(first!, 0, 3)
    await expectExpert(second!, 0, 3)
    expect(cache.statistics).toMatchObject({ hits: 0, misses: 1, sharedReads: 1 })
    expect(cache.statistics.bytesRead).toBe(first!.statistics.bytes)
  })

  test('reject an unknown expert or layer, an invalid deadline and an aborted signal', async () => {
    const { cache } = await opened(1)
    await expect(cache.request(0, EXPERTS)).rejects.toThrow(ExtentNotFoundError)
    await expect(cache.request('output', 0)).rejects.toThrow(ExtentNotFoundError)
    await expect(cache.request(0, 0, { deadlineMs: -1 })).rejects.toThrow('deadlineMs: expected more than 0')
    await expect(cache.request(0, 0, { signal: AbortSignal.abort(new Error('early')) })).rejects.toThrow('early')
    expect(cache.statistics).toMatchObject({ misses: 0, hits: 0, heldBytes: 0 })
  })
})

describe('eviction', () => {
  test('the least recently used expert is evicted', async () => {
    const { cache } = await opened(3)
    await use(cache, 0, 1, 2, 0, 3)
    expect(cache.statistics).toMatchObject({ hits: 1, misses: 4, evictions: 1 })
    await use(cache, 0, 2, 3)
    expect(cache.statistics).toMatchObject({ hits: 4, misses: 4 })
    await use(cache, 1)
    expect(cache.statistics).toMatchObject({ hits: 4, misses: 5, evictions: 2 })
  })

  test('never removes an expert that is leased', async () => {
    const { cache } = await opened(2)
    using oldest = await cache.request(0, 0)
    await use(cache, 1, 2, 3, 4)
    await expectExpert(oldest, 0, 0)
    using again = await cache.request(0, 0)
    await expectExpert(again, 0, 0)
    expect(cache.statistics).toMatchObject({ hits: 1, misses: 5, evictions: 3 })
  })

  test('a request waits for a lease to end if all experts are leased', async () => {
    const { cache } = await opened(2)
    const [a, b] = [await cache.request(0, 0), await cache.request(0, 1)]
    let isLeased = false
    const third = cache.request(0, 2).then((lease) => ((isLeased = true), lease))
    await settle()
    expect(isLeased).toBe(false)
    b.release()
    using lease = await third
    await expectExpert(lease, 0, 2)
    await expectExpert(a, 0, 0)
    a.release()
  })

  test('never removes an expert that a request waits for', async () => {
    const { memory, cache } = await opened(1)
    const open = hold(memory)
    const requests = [0, 1, 2].map(async (expert) => {
      using lease = await cache.request(0, expert)
      await expectExpert(lease, 0, expert)
    })
    await settle()
    await open()
    await Promise.all(requests)
    expect(cache.statistics).toMatchObject({ misses: 3, evictions: 2 })
  })
})

describe('a read that fails', () => {
  test('a failed read fails every request for the expert, and the next request reads it again', async () => {
    const { memory, cache } = await opened(2)
    memory.outcome = () => ({ kind: 'not-submitted' })
    const failed = await Promise.allSettled([cache.request(0, 0), cache.request(0, 0)])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(cache.statistics).toMatchObject({ misses: 1, sharedReads: 1, bytesRead: 0, heldBytes: 0 })
    memory.outcome = () => ({ kind: 'success' })
    using lease = await cache.request(0, 0)
    await expectExpert(lease, 0, 0)
    expect(cache.statistics.misses).toBe(2)
  })

  test('a damaged expert is a VerificationError; other experts stay available', async () => {
    const { memory, model, cache } = await opened(2)
    await use(cache, 1)
    memory.media[model.expert(0, 0).pieces[1]!.runs[0]!.storeBytes + 7]! ^= 1
    await expect(cache.request(0, 0)).rejects.toThrow(VerificationError)
    await use(cache, 1)
    expect(cache.statistics).toMatchObject({ hits: 1, misses: 2 })
  })

  test('a failed read of a hint is not reported, and the next request reads the expert', async () => {
    const { memory, cache } = await opened(2)
    memory.outcome = () => ({ kind: 'not-submitted' })
    cache.prefetch(0, [0])
    await settle()
    memory.outcome = () => ({ kind: 'success' })
    await use(cache, 0)
    expect(cache.statistics).toMatchObject({ prefetches: 1, misses: 1, hits: 0 })
  })
})

describe('an abort or a deadline', () => {
  test('an abort of one request does not cancel the read of another', async () => {
    const { memory, cache } = await opened(2)
    const open = hold(memory)
    const controller = new AbortController()
    const aborted = cache.request(0, 0, { signal: controller.signal })
    const other = cache.request(0, 0)
    controller.abort(new Error('no longer needed'))
    await expect(aborted).rejects.toThrow('no longer needed')
    await open()
    using lease = await other
    await expectExpert(lease, 0, 0)
    expect(cache.statistics).toMatchObject({ misses: 1, sharedReads: 1 })
  })

  test('an abort of the only request cancels its read', async () => {
    const { memory, cache } = await opened(1)
    const open = hold(memory)
    const controller = new AbortController()
    const aborted = cache.request(0, 0, { signal: controller.signal })
    controller.abort()
    await expect(aborted).rejects.toThrow(DOMException)
    await open()
    expect(cache.statistics).toMatchObject({ heldBytes: 0, bytesRead: 0 })
    await use(cache, 1)
  })

  test('the error of a deadline names what the request was waiting for', async () => {
    const { memory, cache } = await opened(1)
    const open = hold(memory)
    const reading = await cache.request(0, 0, { deadlineMs: 1 }).catch((error: unknown) => error)
    expect(reading).toMatchObject({ code: 'ERR_GPUNVME_DEADLINE', category: 'failure' })
    expect((reading as Error).message).toContain('it was being read')
    await open()
    using held = await cache.request(0, 1)
    const waiting = await cache.request(0, 2, { deadlineMs: 1 }).catch((error: unknown) => error)
    expect(waiting).toMatchObject({ code: 'ERR_GPUNVME_DEADLINE' })
    expect((waiting as Error).message).toContain('it waited for a free slot')
    await expectExpert(held, 0, 1)
  })

  test('an abort has no effect on an expert that is in memory', async () => {
    const { cache } = await opened(1)
    await use(cache, 0)
    using lease = await cache.request(0, 0, { deadlineMs: 1 })
    await expectExpert(lease, 0, 0)
  })
})

describe('a hint', () => {
  test('a hint reads experts ahead, so that their requests are hits', async () => {
    const { cache } = await opened(4)
    cache.prefetch(0, [2, 5])
    await settle()
    await use(cache, 2, 5)
    expect(cache.statistics).toMatchObject({ prefetches: 2, hits: 2, misses: 0 })
  })

  test('a hint becomes urgent when its expert is requested', async () => {
    // Small commands: two reads of an expert keep the drive busy.
    const { memory, model, cache } = await opened(8, {}, { maxTransferBytes: 64 << 10 })
    const open = hold(memory)
    cache.prefetch(0, [0, 1, 2, 3, 4, 5])
    const wanted = cache.request(0, 5, { priority: 'now' })
    await settle()
    await open()
    using lease = await wanted
    await expectExpert(lease, 0, 5)
    const startOf = (expert: number) => model.expert(0, expert).pieces[0]!.runs[0]!.storeBytes
    const order = memory.plans.flatMap(({ slba, blockBytes }) => {
      const expert = [0, 1, 2, 3, 4, 5].find((each) => Math.floor(startOf(each) / blockBytes) === slba[0])
      return expert ?? []
    })
    expect(order).toHaveLength(6)
    expect(order.indexOf(5)).toBeLessThan(order.indexOf(4))
    expect(cache.statistics).toMatchObject({ prefetches: 6, sharedReads: 1, misses: 0 })
  })

  test('a hint keeps an expert that is in memory longer', async () => {
    const { cache } = await opened(3)
    await use(cache, 0, 1, 2)
    cache.prefetch(0, [0])
    await use(cache, 3, 0)
    expect(cache.statistics).toMatchObject({ hits: 1, misses: 4, evictions: 1, prefetches: 0 })
  })

  test('a hint is dropped when it would evict a leased expert or one of the same hint', async () => {
    const { cache } = await opened(2)
    using held = await cache.request(0, 0)
    cache.prefetch(0, [1, 2, 3])
    await settle()
    expect(cache.statistics.prefetches).toBe(1)
    await expectExpert(held, 0, 0)
    await use(cache, 1)
    expect(cache.statistics.hits).toBe(1)
  })

  test('a hint yields to a request', async () => {
    const { memory, cache } = await opened(1)
    const open = hold(memory)
    cache.prefetch(0, [0])
    const wanted = cache.request(0, 1)
    await settle()
    await open()
    using lease = await wanted
    await expectExpert(lease, 0, 1)
  })

  test('a hint rejects unknown experts', async () => {
    const { cache } = await opened(2)
    expect(() => cache.prefetch(0, [EXPERTS])).toThrow(ExtentNotFoundError)
    cache.prefetch(0, [])
    expect(cache.statistics.prefetches).toBe(0)
  })
})

describe('closing', () => {
  test('close fails waiting requests, ends leases, and frees memory after reads in flight', async () => {
    const { memory, cache } = await opened(2)
    const held = await cache.request(0, 0)
    const open = hold(memory)
    const waiting = [cache.request(0, 1), cache.request(0, 1), cache.request(0, 2)]
    const settled = Promise.allSettled(waiting)
    await settle()
    const closing = cache.close()
    for (const result of await settled)
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } })
    expect(held.released).toBe(true)
    expect(memory.allocatedBytes).toBeGreaterThan(0)
    await open()
    await closing
    expect(memory.allocatedBytes).toBe(0)
    await expect(cache.request(0, 0)).rejects.toThrow('the expert cache was closed')
    expect(() => cache.prefetch(0, [0])).toThrow('the expert cache was closed')
    await cache.close()
  })

  test('close leaves a loader that was passed in open, with its slots free', async () => {
    const { model } = await opened(1)
    await using loader = openLoader(model, { slots: 3 })
    await using shared = openExpertCache(loader, { cacheBytes: 2 * loader.slotBytes })
    expect(shared.slots).toBe(2)
    await use(shared, 0, 1, 2)
    using dense = await loader.request(model.layer(0, { experts: false })).lease()
    expect(dense.name).toBe('layer 0 without experts')
    expect(loader.held).toBe(3)
    await shared.close()
    expect(loader.held).toBe(1)
    const leases = await Promise.all([3, 4].map((expert) => loader.request(model.expert(1, expert)).lease()))
    await expectExpert(leases[0]!, 1, 3)
  })
})

test('an expert that arrives while the cache closes is not leased, and its slot is freed', async () => {
  const { model } = await opened(1)
  const trace: TraceSink = ({ name }) => {
    if (name === 'leased layer 0 expert 0') void shared.close()
  }
  await using loader = openLoader(model, { slots: 2, trace })
  const shared = openExpertCache(loader, { cacheBytes: loader.slotBytes })
  await expect(shared.request(0, 0)).rejects.toThrow('the expert cache was closed')
  await settle()
  expect(loader.held).toBe(0)
})

describe('a loader that the cache shares', () => {
  test('a shared loader keeps a slot for other requests', async () => {
    const { model } = await opened(1)
    await using loader = openLoader(model, { slots: 3 })
    const shared = openExpertCache(loader, { cacheBytes: 100 * loader.slotBytes })
    for (const expert of [0, 1, 2]) (await shared.request(0, expert)).release()
    using layer = await loader.request(model.layer(0), { priority: 'now', deadlineMs: 60_000 }).lease()
    expect(layer.name).toBe('layer 0')
    // The layer and the two cached experts hold all slots: one expert is evicted.
    await expectExpert(await shared.request(0, 3, { deadlineMs: 60_000 }), 0, 3)
    await shared.close()
  })

  test('a shared loader ends the leases of the cache when it is closed', async () => {
    const { model } = await opened(1)
    const loader = openLoader(model, { slots: 2 })
    const shared = openExpertCache(loader, { cacheBytes: loader.slotBytes })
    const lease = await shared.request(0, 0)
    await loader.close()
    expect(lease.released).toBe(true)
    expect(() => lease.bytes).toThrow('has ended')
    await expect(shared.request(0, 0)).rejects.toThrow('expected an open loader')
  })

  test('a shared loader needs two slots', async () => {
    const { model } = await opened(1)
    await using loader = openLoader(model, { slots: 1 })
    expect(() => openExpertCache(loader, { cacheBytes: loader.slotBytes })).toThrow('a loader with at least 2 slots')
  })
})

test('experts loaded from a simulated drive under eviction are byte-identical', async () => {
  const { transport, diagnostics } = simulate({ profile: 'sn740', namespaces: [{ capacityBytes: 64 * MIB }] })
  const controller = await Controller.open(transport, { write: { serial: 'GPUNVME-SIM-SN740' }, queues: 2 })
  const namespace = controller.namespace(1)
  await pack(file, namespace)
  await using simulated = openExpertCache((await openImage(namespace)).model(), { cacheBytes: 5 * SLOT_BYTES })
  const trace = Array.from(
    { length: 24 },
    (_, index) => [index % LAYERS, (index * index + 3 * index) % EXPERTS] as const,
  )
  for (const [layer, expert] of trace) {
    simulated.prefetch((layer + 1) % LAYERS, [expert])
    using lease = await simulated.request(layer, expert, { priority: 'now' })
    await expectExpert(lease, layer, expert)
  }
  const { hits, misses, sharedReads, evictions } = simulated.statistics
  expect(hits + misses + sharedReads).toBe(trace.length)
  expect(evictions).toBeGreaterThan(0)
  await simulated.close()
  await controller.close()
  expect(diagnostics).toEqual([])
})

test('experts loaded from a plain file by concurrent requests are byte-identical', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'experts-'))
  try {
    const path = join(folder, 'moe.safetensors')
    await writeFile(path, moeFile())
    await using files = await openModelInFiles(path)
    await using plain = openExpertCache(files, { cacheBytes: 6 * SLOT_BYTES, verify: 'off' })
    for (let token = 0; token < 6; token++) {
      const experts = [token % EXPERTS, (token + 1) % EXPERTS, (token * 3) % EXPERTS]
      await Promise.all(
        experts.map(async (expert) => {
          using lease = await plain.request(token % LAYERS, expert)
          await expectExpert(lease, token % LAYERS, expert)
        }),
      )
    }
    const { hits, misses, sharedReads } = plain.statistics
    expect(hits + misses + sharedReads).toBe(18)
  } finally {
    await rm(folder, { recursive: true })
  }
})
