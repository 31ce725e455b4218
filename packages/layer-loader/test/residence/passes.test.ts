import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VerificationError } from '../../src/index.js'
import {
  openResidence,
  planResidence,
  type PassOptions,
  type ResidencePlan,
  type ResidentLease,
  type ResidentModel,
} from '../../src/residence/index.js'
import { cost, isWhole, LAYER_BYTES, LAYERS, machine } from './machine.js'

const SLOW_MS = 120_000

type Machine = Awaited<ReturnType<typeof machine>>

/** Two layers on the GPU, three in host memory, three on the drive. */
function planFor({ layers }: Machine, tier: 1 | 2, vram = 2, ram = 3): ResidencePlan {
  const slots = tier === 1 ? { copies: 3, drive: 2 } : { copies: 2, drive: 2 }
  const budget = {
    vramBytes: (vram + slots.copies + (tier === 2 ? slots.drive : 0)) * LAYER_BYTES,
    ramBytes: (ram + (tier === 1 ? slots.drive : 0)) * LAYER_BYTES,
  }
  // The drive is the bottleneck, so that the plan uses all of the host memory.
  return planResidence(layers, { budget, tier, slots, cost, costFrom: 'measured' })
}

async function runPass(model: ResidentModel, options?: PassOptions): Promise<string[]> {
  const names: string[] = []
  for await (const layer of model.pass(options)) {
    names.push(layer.name)
    layer.release()
  }
  return names
}

const allNames = Array.from({ length: LAYERS }, (_, index) => `layer ${index}`)

describe.each([1, 2] as const)('tier %i', (tier) => {
  test(
    'every layer is leased in GPU memory, byte-identical and verified, in every pass',
    async () => {
      const rig = await machine()
      const plan = planFor(rig, tier)
      expect(plan.layers.map(({ residence }) => residence).sort()).toEqual(
        ['nvme', 'nvme', 'nvme', 'ram', 'ram', 'ram', 'vram', 'vram'].sort(),
      )
      const model = await rig.open(plan)
      // The drive reads a byte in a nanosecond; commands add their latency.
      const loadedNs = model.statistics.driveBusyNs / (plan.vram.layerBytes + plan.ram.layerBytes)
      expect(loadedNs).toBeGreaterThan(0.99)
      expect(loadedNs).toBeLessThan(1.1)
      for (let pass = 0; pass < 3; pass++) {
        const names: string[] = []
        for await (const layer of model.pass()) {
          expect(await isWhole(layer, rig.model)).toBe(true)
          names.push(layer.name)
          layer.release()
        }
        expect(names).toEqual(allNames)
      }
      const { passes, layers, driveBusyNs, copyBusyNs, bothBusyNs } = model.statistics
      expect([passes, layers]).toEqual([3, 24])
      expect(driveBusyNs).toBeGreaterThan(0)
      expect(bothBusyNs).toBeLessThanOrEqual(Math.min(driveBusyNs, copyBusyNs))
      await model.close()
      expect(rig.simulation.diagnostics).toEqual([])
    },
    SLOW_MS,
  )

  test(
    'a pass reads only the layers that are on the drive',
    async () => {
      const rig = await machine()
      const loaded: string[] = []
      const model = await rig.open(planFor(rig, tier), { onLoaded: ({ name }) => loaded.push(name) })
      expect(loaded).toHaveLength(5)
      const before = rig.simulation.statistics.bytesRead
      await runPass(model)
      await runPass(model, { isLast: true })
      expect(rig.simulation.statistics.bytesRead - before).toBe(2 * 3 * LAYER_BYTES)
      await model.close()
    },
    SLOW_MS,
  )

  test(
    'a pass prefetches the first layers of the next one',
    async () => {
      const rig = await machine()
      const model = await rig.open(planFor(rig, tier))
      await runPass(model)
      const { clock } = rig.host
      for (const untilNs = clock.now() + 1e9; clock.now() < untilNs;) await clock.idle(untilNs)
      const waited = () => model.statistics.waitedForDriveNs + model.statistics.waitedForCopiesNs
      const before = waited()
      const pass = model.pass()
      for (let layer = 0; layer < 3; layer++) (await pass.next()).value!.release()
      expect(waited()).toBe(before)
      await pass.return(undefined)
      await model.close()
    },
    SLOW_MS,
  )

  test(
    'a pass omits skipped layers, whatever earlier passes skipped',
    async () => {
      const rig = await machine()
      const model = await rig.open(planFor(rig, tier))
      await fc.assert(
        fc.asyncProperty(fc.subarray(allNames), fc.nat(LAYERS), async (skip, count) => {
          const expected = allNames.filter((name) => !skip.includes(name))
          const got: string[] = []
          for await (const layer of model.pass({ skip })) {
            got.push(layer.name)
            expect(await isWhole(layer, rig.model)).toBe(true)
            layer.release()
            if (got.length === count) break
          }
          expect(got).toEqual(count === 0 ? expected : expected.slice(0, count))
        }),
        { numRuns: 25 },
      )
      expect(() => model.pass({ skip: ['layer 99'] })).toThrow('skip: expected names of layers, got "layer 99"')
      await model.close()
    },
    SLOW_MS,
  )

  test(
    'a pass fails when the consumer holds all slots, and reads at most two more layers',
    async () => {
      const rig = await machine()
      const model = await rig.open(planFor(rig, tier, 0, 3))
      const held: ResidentLease[] = []
      const consume = async () => {
        for await (const layer of model.pass()) held.push(layer)
      }
      await expect(consume()).rejects.toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_ALL_SLOTS_HELD' }))
      const { bytesRead } = rig.simulation.statistics
      const { clock } = rig.host
      for (const untilNs = clock.now() + 1e9; clock.now() < untilNs;) await clock.idle(untilNs)
      expect(rig.simulation.statistics.bytesRead - bytesRead).toBeLessThanOrEqual(2 * LAYER_BYTES)
      for (const layer of held) {
        expect(await isWhole(layer, rig.model)).toBe(true)
        layer.release()
        expect(() => layer.memory).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_USE_AFTER_RELEASE' }))
      }
      expect(await runPass(model)).toEqual(allNames)
      await model.close()
    },
    SLOW_MS,
  )

  test(
    'a pass with { whenHeld: "wait" } continues when a lease is released',
    async () => {
      const rig = await machine()
      const model = await rig.open(planFor(rig, tier, 0, 3))
      const held: ResidentLease[] = []
      const names: string[] = []
      const consuming = (async () => {
        for await (const layer of model.pass({ whenHeld: 'wait' })) {
          held.push(layer)
          names.push(layer.name)
        }
      })()
      // Releases leases outside of the loop, oldest first.
      while (names.length < LAYERS) {
        await new Promise(setImmediate)
        held.shift()?.release()
      }
      await consuming
      expect(names).toEqual(allNames)
      await model.close()
    },
    SLOW_MS,
  )

  test(
    'an abort ends a pass with its reason; the next pass returns all layers',
    async () => {
      const rig = await machine()
      const model = await rig.open(planFor(rig, tier))
      const abort = new AbortController()
      const pass = model.pass({ signal: abort.signal })
      ;(await pass.next()).value!.release()
      abort.abort(new Error('pass aborted'))
      await expect(pass.next()).rejects.toThrow('pass aborted')
      for await (const layer of model.pass()) {
        expect(await isWhole(layer, rig.model)).toBe(true)
        layer.release()
      }
      await model.close()
    },
    SLOW_MS,
  )

  test(
    'close ends a waiting pass and all leases, and frees all memory',
    async () => {
      const rig = await machine()
      const { dma } = rig.simulation.transport
      const allocateAll = () => [dma.alloc((64 << 20) - 4096, { where: 'gpu' })].forEach((memory) => memory.free())
      const model = await rig.open(planFor(rig, tier))
      expect(allocateAll).toThrow(RangeError)
      const pass = model.pass()
      const first = await pass.next()
      const second = pass.next()
      const ended = expect(second.then((result) => result.value?.memory)).rejects.toThrow()
      await model.close()
      await ended
      expect(() => first.value!.memory).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_USE_AFTER_RELEASE' }))
      await model.close()
      allocateAll()
      const next = async () => (await pass.next()).done
      await expect(next()).resolves.toBe(true)
    },
    SLOW_MS,
  )

  test(
    'an abort of openResidence throws its reason and frees all memory',
    async () => {
      const rig = await machine()
      const { dma } = rig.simulation.transport
      const abort = new AbortController()
      const loaded: string[] = []
      const onLoaded = ({ name }: { name: string }) => {
        loaded.push(name)
        if (loaded.length === 2) abort.abort(new Error('loading aborted'))
      }
      const opening = rig.open(planFor(rig, tier), { onLoaded, signal: abort.signal })
      await expect(opening).rejects.toThrow('loading aborted')
      expect(loaded.length).toBeLessThan(5)
      dma.alloc((64 << 20) - 4096, { where: 'gpu' }).free()
    },
    SLOW_MS,
  )

  test(
    'a failed read ends its pass, and the next pass reads again',
    async () => {
      // Block 5000 belongs to a layer: the data of the image begins at 2 MiB.
      const broken = { opcode: 0x02, lba: [5000, 5000] as const, times: 1 }
      const faults = { rules: [{ match: broken, action: { kind: 'corrupt-data' as const, byte: 77, xor: 1 } }] }
      const rig = await machine({ drive: { faults } })
      const model = await rig.open(planFor(rig, tier, tier === 2 ? -2 : 0, 0))
      let failures = 0
      for (let pass = 0; pass < 4; pass++) {
        try {
          expect(await runPass(model)).toEqual(allNames)
        } catch (error) {
          expect(error).toBeInstanceOf(VerificationError)
          failures++
        }
      }
      expect(failures).toBe(1)
      await model.close()
    },
    SLOW_MS,
  )
})

test(
  'a second pass, and the adoption of a plan during a pass or a lease, are rejected',
  async () => {
    const rig = await machine()
    const plan = planFor(rig, 1)
    const model = await rig.open(plan)
    const pass = model.pass()
    const lease = await pass.next()
    await expect(model.pass().next()).rejects.toThrow('expected no other pass and no adoption in progress')
    await expect(model.adopt(plan)).rejects.toThrow('expected no pass in progress')
    await pass.return(undefined)
    await expect(model.adopt(plan)).rejects.toThrow('no leases')
    lease.value!.release()
    await model.adopt(plan)
    expect(await runPass(model)).toEqual(allNames)
    await model.close()
  },
  SLOW_MS,
)

test(
  'openResidence without a copy engine rejects a plan with copies before it reads',
  async () => {
    const rig = await machine()
    const { bytesRead } = rig.simulation.statistics
    await expect(openResidence(rig.image, planFor(rig, 1))).rejects.toThrow('expected a copy engine')
    expect(rig.simulation.statistics.bytesRead).toBe(bytesRead)
  },
  SLOW_MS,
)
