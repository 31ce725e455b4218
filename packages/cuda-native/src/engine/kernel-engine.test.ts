import { HostEngine } from '@gpunvme/host-driver'
import { simulate } from '@gpunvme/nvme-sim'
import type { OutcomeSummary, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { splicedMemory } from '../../../host-driver/test/spliced-memory.js'
import { BLOCKS, MIB, openRig, readsOf, withFault, wrongBytes } from '../../test/kernel-rig.js'
import { isBuilt, native, skipped } from '../../test/native.js'
import { cpuKernelEngine } from './cpu-kernel.js'
import { EngineUnsuitableError } from './unsuitable.js'

const kinds = ({ failures }: OutcomeSummary) => failures.map(({ outcome }) => outcome.kind)
const turn = () => new Promise((resolve) => setTimeout(resolve, 2))

describe.skipIf(!isBuilt)(`an engine on CPU threads${skipped}`, () => {
  describe('outcomes', () => {
    test('reads all data of 1024 commands over many laps of the rings', async () => {
      await using rig = await openRig()
      const memory = rig.alloc(4 * MIB)
      const engine = rig.engine()
      const summary = await engine.execute(readsOf(rig, 1024), memory)
      expect(summary).toMatchObject({ commands: 1024, succeeded: 1024, bytes: 4 * MIB, failures: [] })
      expect(wrongBytes(memory)).toBe(0)
      expect(engine.statistics).toMatchObject({ commands: 1024, staleCompletions: 0 })
      expect(await rig.drive.simulator.diagnostics()).toEqual([])
    })

    test('reports a failed command with its index, queue and status; other commands complete', async () => {
      await using rig = await openRig(
        {},
        withFault({ kind: 'status', sct: 2, sc: 0x81, dnr: true, more: true }, { nth: 5 }),
      )
      const summary = await rig.engine().execute(readsOf(rig, 20), rig.alloc(20 * 4096))
      expect(summary).toMatchObject({ commands: 20, succeeded: 19, bytes: 19 * 4096 })
      expect(summary.failures).toEqual([
        {
          command: 4,
          qid: 1,
          cid: expect.any(Number) as number,
          outcome: { kind: 'status', sct: 2, sc: 0x81, dnr: true, more: true, crd: 0 },
        },
      ])
    })

    test('counts a duplicate completion and assigns it to no command', async () => {
      await using rig = await openRig({}, withFault({ kind: 'duplicate-completion' }, { nth: 5 }))
      const engine = rig.engine()
      const memory = rig.alloc(400 * 4096)
      expect(await engine.execute(readsOf(rig, 400), memory)).toMatchObject({ succeeded: 400, failures: [] })
      expect(engine.statistics.staleCompletions).toBe(1)
      expect(wrongBytes(memory)).toBe(0)
    })

    test('ends an empty plan without a doorbell write', async () => {
      await using rig = await openRig()
      const engine = rig.engine()
      expect(await engine.execute(readsOf(rig, 0), rig.alloc(512))).toMatchObject({ commands: 0, failures: [] })
      expect(engine.statistics).toEqual({ commands: 0, doorbellWrites: 0, staleCompletions: 0 })
    })
  })

  describe('several plans', () => {
    test('end in order if there are many more than fit in the queue', async () => {
      await using rig = await openRig({ queueDepth: 1 })
      const engine = rig.engine()
      const memory = rig.alloc(300 * 4096)
      const ended: number[] = []
      await Promise.all(
        Array.from({ length: 300 }, async (_, index) => {
          const summary = await engine.execute(readsOf(rig, 1, 8, index * 8, index * 4096), memory)
          expect(summary).toMatchObject({ succeeded: 1, failures: [] })
          ended.push(index)
        }),
      )
      expect(ended).toEqual(Array.from({ length: 300 }, (_, index) => index))
      expect(wrongBytes(memory)).toBe(0)
    })

    test('on several queues all succeed', async () => {
      await using rig = await openRig({ queues: 5, queueDepth: 3 })
      const engine = rig.engine()
      const memory = rig.alloc(4 * MIB)
      const plans = Array.from({ length: 128 }, (_, index) => readsOf(rig, 8, 8, index * 64, index * 32768))
      // Assign queues in turn; some plans leave queues out.
      for (const [index, { queue }] of plans.entries()) queue.forEach((_, at) => (queue[at] = (at * index) % 5))
      const summaries = await Promise.all(plans.map((plan) => engine.execute(plan, memory)))
      expect(summaries.every(({ succeeded, failures }) => succeeded === 8 && failures.length === 0)).toBe(true)
      expect(wrongBytes(memory)).toBe(0)
      expect(engine.statistics).toMatchObject({ commands: 1024, staleCompletions: 0 })
      expect(await rig.drive.simulator.diagnostics()).toEqual([])
    })

    test('call the function given to attach() while they are in flight', async () => {
      await using rig = await openRig({}, withFault({ kind: 'delay-completion', delayNs: 100_000_000 }, { nth: 1 }))
      let calls = 0
      await rig.engine({}, () => calls++).execute(readsOf(rig, 1), rig.alloc(4096))
      expect(calls).toBeGreaterThan(0)
    })
  })

  describe('a plan that the caller changes while it waits for room in the queue', () => {
    test('is executed unchanged', async () => {
      const slow = withFault({ kind: 'delay-completion', delayNs: 20_000_000 }, { nth: 1 })
      await using rig = await openRig({ queueDepth: 1 }, slow)
      const engine = rig.engine()
      const memory = rig.alloc(80 * 4096)
      const plans = Array.from({ length: 80 }, (_, index) => readsOf(rig, 1, 8, index * 8, index * 4096))
      const running = plans.map((plan) => engine.execute(plan, memory))
      for (const { slba, blocks, offsetBytes, queue } of plans) {
        slba.fill(1)
        blocks.fill(1)
        offsetBytes.fill(2 ** 40)
        queue.fill(9)
      }
      for (const summary of await Promise.all(running)) {
        expect(summary).toMatchObject({ commands: 1, succeeded: 1, bytes: 4096, failures: [] })
      }
      expect(wrongBytes(memory, 0)).toBe(0)
    })
  })

  describe('a signal', () => {
    test('that is aborted before the call submits nothing', async () => {
      await using rig = await openRig()
      const engine = rig.engine()
      const summary = await engine.execute(readsOf(rig, 3), rig.alloc(4 * 4096), { signal: AbortSignal.abort() })
      expect(summary).toMatchObject({ commands: 3, succeeded: 0, bytes: 0 })
      expect(summary.failures[2]).toEqual({ command: 2, qid: -1, cid: -1, outcome: { kind: 'not-submitted' } })
      expect(engine.statistics.commands).toBe(0)
    })

    test('that is aborted during a plan stops submission; commands in flight are awaited', async () => {
      const slow = withFault({ kind: 'delay-completion', delayNs: 20_000_000 }, {})
      await using rig = await openRig({ queueDepth: 2 }, slow)
      const { statistics } = rig.drive.simulator
      const engine = rig.engine()
      const memory = rig.alloc(512 * 4096)
      const abort = new AbortController()
      const running = engine.execute(readsOf(rig, 512), memory, { signal: abort.signal })
      while (((await statistics()).ioCommands[2] ?? 0) === 0) await turn()
      abort.abort()
      const summary = await running
      expect(summary.succeeded).toBeGreaterThan(0)
      expect(summary.succeeded).toBeLessThan(512)
      expect(new Set(kinds(summary))).toEqual(new Set(['not-submitted']))
      expect(summary.failures).toHaveLength(512 - summary.succeeded)
      expect(summary.succeeded).toBe(engine.statistics.commands)
      expect(wrongBytes(memory, 0, 0, summary.succeeded * 4096)).toBe(0)
      // The queues can still be used.
      expect(await engine.execute(readsOf(rig, 4), memory)).toMatchObject({ succeeded: 4, failures: [] })
    })

    test('and halt() have the same effect: submission stops, and commands in flight are awaited', async () => {
      const slow = withFault({ kind: 'delay-completion', delayNs: 2_000_000 }, { nth: 1, every: 1, times: 10_000 })
      await using rig = await openRig({ queueDepth: 2 }, slow)
      const engine = rig.engine()
      const running = engine.execute(readsOf(rig, 1024), rig.alloc(4 * MIB))
      const next = Array.from({ length: 80 }, () => engine.execute(readsOf(rig, 1), rig.alloc(4096)))
      await turn()
      engine.halt()
      for (const summary of [await running, ...(await Promise.all(next))]) {
        expect(new Set(kinds(summary))).toEqual(new Set(['not-submitted']))
        expect(summary.succeeded + summary.failures.length).toBe(summary.commands)
      }
      expect(kinds(await engine.execute(readsOf(rig, 1), rig.alloc(4096)))).toEqual(['not-submitted'])
      engine.detach()
      engine.attach(rig.queues)
      expect(await engine.execute(readsOf(rig, 1), rig.alloc(4096))).toMatchObject({ succeeded: 1, failures: [] })
    })

    test('ends only its own plan, whether that is in the queue or waits for room', async () => {
      await using rig = await openRig(
        { queueDepth: 1 },
        withFault({ kind: 'delay-completion', delayNs: 50_000_000 }, { nth: 1 }),
      )
      const engine = rig.engine()
      const memory = rig.alloc(100 * 4096)
      const aborts = Array.from({ length: 100 }, () => new AbortController())
      const running = aborts.map(({ signal }, index) =>
        engine.execute(readsOf(rig, 1, 8, index * 8, index * 4096), memory, { signal }),
      )
      for (const index of [20, 90]) aborts[index]!.abort()
      const summaries = await Promise.all(running)
      const failed = summaries.flatMap(({ failures }, index) => (failures.length > 0 ? [index] : []))
      expect(failed).toEqual([20, 90])
      expect(summaries[90]!.failures[0]!.outcome).toEqual({ kind: 'not-submitted' })
    })
  })

  describe('timeouts', () => {
    test('follow the given clock: a hanging command times out, and nothing is submitted after it', async () => {
      await using rig = await openRig({ queueDepth: 4 }, withFault({ kind: 'hang' }, { nth: 1 }))
      const clock = native.allocate(4096, 4096)
      const engine = rig.engine({ clock: new BigUint64Array(clock.buffer) })
      const memory = rig.alloc(64 * 4096)
      let ended = false
      const hanging = engine.execute(readsOf(rig, 1), memory, { timeoutNs: 1000 }).finally(() => (ended = true))
      const others = await engine.execute(readsOf(rig, 32), memory, { timeoutNs: 1000 })
      expect(others).toMatchObject({ succeeded: 32, failures: [] })
      clock.store64(0, 999n)
      expect(await engine.execute(readsOf(rig, 32), memory, { timeoutNs: 1000 })).toMatchObject({ succeeded: 32 })
      expect(ended).toBe(false)
      clock.store64(0, 1000n)
      const summary = await hanging
      expect(summary.failures).toEqual([
        { command: 0, qid: 1, cid: expect.any(Number) as number, outcome: { kind: 'timeout', afterNs: 1000 } },
      ])
      expect(kinds(await engine.execute(readsOf(rig, 2), memory))).toEqual(['not-submitted', 'not-submitted'])
      expect(engine.statistics.commands).toBe(65)
      engine.detach()
      clock.unmap()
    })

    test('end only the hanging command: commands in flight on other queues still complete', async () => {
      await using rig = await openRig({ queues: 2, queueDepth: 4 }, withFault({ kind: 'hang' }, { nth: 1 }))
      const clock = native.allocate(4096, 4096)
      const engine = rig.engine({ clock: new BigUint64Array(clock.buffer) })
      const memory = rig.alloc(64 * 4096)
      const plan = readsOf(rig, 64)
      const running = engine.execute(plan, memory, { timeoutNs: 1000 })
      while (((await rig.drive.simulator.statistics()).ioCommands[2] ?? 0) < 63) await turn()
      clock.store64(0, 5000n)
      const summary = await running
      expect(summary.succeeded).toBe(63)
      expect(kinds(summary)).toEqual(['timeout'])
      engine.detach()
      clock.unmap()
    })
  })

  describe('a device that fails', () => {
    test.each([
      ['leaves the bus', { kind: 'remove-device' }, 0xffff_ffff],
      ['sets CSTS.CFS', { kind: 'fatal-status' }, 3],
    ] as const)(
      '%s: commands in flight are lost, others are not submitted, and the engine stops',
      async (_, action, csts) => {
        await using rig = await openRig({ queues: 2 }, withFault(action))
        const engine = rig.engine()
        const memory = rig.alloc(64 * 4096)
        const [summary, behind] = await Promise.all([
          engine.execute(readsOf(rig, 64), memory),
          engine.execute(readsOf(rig, 64), memory),
        ])
        for (const { outcome } of [...summary.failures, ...behind.failures]) {
          expect([{ kind: 'device-lost', csts }, { kind: 'not-submitted' }]).toContainEqual(outcome)
        }
        expect(kinds(summary)).toContain('device-lost')
        expect(summary.succeeded + summary.failures.length).toBe(64)
        expect(behind.failures.length).toBeGreaterThan(0)
        expect(kinds(await engine.execute(readsOf(rig, 1), memory))).toEqual(['not-submitted'])
      },
    )

    test('a simulator that is closed under load counts as lost', async () => {
      await using rig = await openRig({}, withFault({ kind: 'hang' }))
      const engine = rig.engine()
      const running = engine.execute(readsOf(rig, 64), rig.alloc(64 * 4096))
      while (((await rig.drive.simulator.statistics()).ioCommands[2] ?? 0) < 2) await turn()
      await rig.drive.simulator.close()
      const summary = await running
      expect(kinds(summary)).toContain('device-lost')
      expect(summary.succeeded + summary.failures.length).toBe(64)
    })
  })

  describe('queues', () => {
    test('keep their positions, phases and command ids from one engine to the next', async () => {
      await using rig = await openRig({ queues: 3, queueDepth: 3 })
      const { transport } = rig.drive.simulator
      const memory = rig.alloc(64 * 4096)
      const stands = () =>
        rig.queues.map((queue) => [queue.sqTail, queue.cq.head, queue.cq.phase, ...queue.generations])
      let before = JSON.stringify(stands())
      for (let round = 0; round < 12; round++) {
        const engine = round % 3 === 2 ? new HostEngine(transport) : cpuKernelEngine(transport)
        engine.attach(rig.queues)
        const commands = 1 + ((round * 7) % 23)
        new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, memory.lengthBytes).fill(0xa5)
        const summary = await engine.execute(readsOf(rig, commands, 8, round), memory)
        expect(summary).toMatchObject({ succeeded: commands, failures: [] })
        expect(wrongBytes(memory, round, 0, commands * 4096)).toBe(0)
        engine.detach()
        expect(engine.statistics).toMatchObject({ commands, staleCompletions: 0 })
        expect(JSON.stringify(stands())).not.toBe(before)
        before = JSON.stringify(stands())
      }
      expect(await rig.drive.simulator.diagnostics()).toEqual([])
    })

    test('are attached once, and detached only if no plan is in flight', async () => {
      await using rig = await openRig({}, withFault({ kind: 'delay-completion', delayNs: 20_000_000 }, { nth: 1 }))
      const engine = rig.engine()
      expect(() => engine.attach(rig.queues)).toThrow('this engine has queues already: detach() it first')
      const running = engine.execute(readsOf(rig, 1), rig.alloc(4096))
      expect(() => engine.detach()).toThrow('this engine has plans in flight: await them before detach()')
      await running
      engine.detach()
      engine.detach()
      await expect(engine.execute(readsOf(rig, 1), rig.alloc(4096))).rejects.toThrow('call attach() first')
      engine.attach(rig.queues)
      expect(await engine.execute(readsOf(rig, 1), rig.alloc(4096))).toMatchObject({ succeeded: 1 })
      expect(engine.statistics.commands).toBe(2)
    })

    test('stop lingering at detach, whatever `lingerNs` is', async () => {
      await using rig = await openRig({ queues: 2 })
      const engine = rig.engine({ lingerNs: Infinity })
      expect(await engine.execute(readsOf(rig, 64), rig.alloc(64 * 4096))).toMatchObject({ succeeded: 64 })
      const { heartbeat } = engine
      while (engine.heartbeat === heartbeat) await turn()
      engine.detach()
      expect(engine.heartbeat).toBe(0)
    })
  })

  describe('memory', () => {
    test.each([
      ['pages of 4 KiB in any order', 64, [...Array(64).keys()].map((page) => [((page * 29) % 64) * 4096, 4096])],
      [
        'runs of 2 MiB',
        1024,
        [
          [2 * MIB, 2 * MIB],
          [0, 2 * MIB],
        ],
      ],
    ] as const)('in %s receives every byte at its place', async (_, chunks, pieces) => {
      await using rig = await openRig({ maxTransferBytes: MIB })
      const whole = rig.alloc(chunks * 4096)
      const memory = splicedMemory(whole, pieces as unknown as [number, number][])
      const requests = [{ slba: 1, blocks: chunks * 8, offsetBytes: 0 }]
      const summary = await rig.engine().execute(rig.ns.planReads(requests), memory)
      expect(summary.failures).toEqual([])
      let at = 0
      for (const [from, bytes] of pieces as unknown as [number, number][]) {
        expect(wrongBytes(whole, 1 + at / 512, from, bytes)).toBe(0)
        at += bytes
      }
    })

    test('with a gap inside a page is rejected before anything is submitted', async () => {
      await using rig = await openRig()
      const engine = rig.engine()
      const broken = splicedMemory(rig.alloc(8 * 4096), [
        [0, 2048],
        [16384, 2048],
      ])
      await expect(engine.execute(readsOf(rig, 1), broken)).rejects.toThrow(
        /^plan command 0: expected segments that meet at ends of 4096-byte pages/,
      )
      expect(engine.statistics.commands).toBe(0)
      expect(await engine.execute(readsOf(rig, 1), rig.alloc(4096))).toMatchObject({ succeeded: 1 })
    })

    test('with segments that do not end at page boundaries is rejected; other plans succeed', async () => {
      await using rig = await openRig()
      const engine = rig.engine()
      const memory = splicedMemory(rig.alloc(16 * 4096), [
        [0, 4096 + 512],
        [16384, 4096],
      ])
      const other = engine.execute(readsOf(rig, 16), rig.alloc(16 * 4096))
      await expect(engine.execute(readsOf(rig, 1), memory)).rejects.toThrow(
        'memory: expected segments that begin at multiples of 4096 bytes, got one at byte 4608',
      )
      expect(await other).toMatchObject({ succeeded: 16, failures: [] })
    })
  })

  describe('invalid input', () => {
    test.each([
      [
        'reads past the end of the memory',
        { offsetBytes: Float64Array.of(4096) },
        /memory of 4096 bytes, got bytes 4096/,
      ],
      ['names a missing queue', { queue: Uint16Array.of(1) }, /a queue from 0 to 0, got 1/],
      ['has a command without blocks', { blocks: Uint32Array.of(0) }, /1 to 65536 blocks, got 0/],
      ['has a negative LBA', { slba: Float64Array.of(-1) }, /an LBA below 2\^53, got -1/],
    ])('a plan that %s is rejected with the index of the command; the next plan succeeds', async (_, wrong, says) => {
      await using rig = await openRig()
      const engine = rig.engine()
      const memory = rig.alloc(4096)
      const plan = readsOf(rig, 1)
      await expect(engine.execute({ ...plan, ...wrong }, memory)).rejects.toThrow(says)
      expect(engine.statistics.commands).toBe(0)
      expect(await engine.execute(plan, memory)).toMatchObject({ succeeded: 1 })
    })

    test.each([0, -1, 1.5, NaN, Infinity])('a timeout of %s ns is rejected', async (timeoutNs) => {
      await using rig = await openRig()
      const refused = rig.engine().execute(readsOf(rig, 1), rig.alloc(4096), { timeoutNs })
      await expect(refused).rejects.toThrow(`timeoutNs: expected whole nanoseconds, 1 or more, got ${timeoutNs}`)
    })

    test.each([-1, 0.5, NaN])('`lingerNs: %s` is rejected', (lingerNs) => {
      const { transport } = simulate()
      expect(() => cpuKernelEngine(transport, { lingerNs })).toThrow(
        `lingerNs: expected nanoseconds as a whole number of 0 or more, or Infinity, got ${lingerNs}`,
      )
    })

    test('a transport whose registers are not memory is rejected, with the engine to use instead', () => {
      const { transport } = simulate({ namespaces: [{ capacityBytes: BLOCKS * 512 }] })
      expect(() => cpuKernelEngine(transport)).toThrow(EngineUnsuitableError)
      expect(() => cpuKernelEngine(transport)).toThrow(
        "The engine 'cpu-kernel' cannot drive the transport 'sim:ideal': its registers are not memory",
      )
      expect(() => cpuKernelEngine(transport)).toThrow('the host engine drives every transport')
    })

    test.each<[string, (queue: QueuePairMemory) => Partial<QueuePairMemory>, RegExp]>([
      ['a doorbell outside the registers', () => ({ sqTailDoorbell: 2 ** 20 }), /doorbell at 0x100000/],
      [
        'shadow doorbells',
        ({ sq }) => ({ shadow: { shadow: sq, eventIdx: sq, offsetBytes: 0 } }),
        /omit shadowDoorbells/,
      ],
      ['five entries', () => ({ sqEntries: 5 }), /expected a power of two as the number of entries, got 5/],
      [
        'memory that the CPU cannot reach',
        ({ sq }) => ({ sq: splicedMemory(sq, [[0, 512]]) }),
        /memory that the CPU can access/,
      ],
    ])('queues with %s are rejected; other queues can be attached', async (_, change, says) => {
      await using rig = await openRig()
      const engine = rig.engine()
      engine.detach()
      expect(() => engine.attach(rig.queues.map((queue) => ({ ...queue, ...change(queue) })))).toThrow(says)
      engine.attach(rig.queues)
      expect(await engine.execute(readsOf(rig, 1), rig.alloc(4096))).toMatchObject({ succeeded: 1 })
    })
  })
})
