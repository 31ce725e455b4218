import type { ControllerOptions } from '@gpunvme/host-driver'
import type { DmaMemory, DmaSegment, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import { describe, expect, onTestFinished, test } from 'vitest'
import { blocksOf, isRead, openQueues } from '../../test/cuda-rig.js'
import { withFault } from '../../test/kernel-rig.js'
import { isBuilt, skipped } from '../../test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { cudaEngine, openCuda } from '../cuda/index.js'
import { cpuKernelEngine } from './cpu-kernel.js'
import type { KernelEngine } from './kernel-engine.js'

const standin = useStandin()

const MIB = 1024 * 1024
const turn = () => new Promise((resolve) => setTimeout(resolve, 2))

interface Rig {
  readonly engine: KernelEngine
  /** Calls `execute` of the engine. Plans that are still running are aborted when the test ends. */
  readonly execute: (plan: Plan, memory: DmaMemory, signal?: AbortSignal) => Promise<OutcomeSummary>
  readonly alloc: (lengthBytes: number) => DmaMemory
}

/** Opens queues and an engine whose leaders linger forever. All are closed after the test. */
async function open(kind: string, options: ControllerOptions, faults: Partial<ReturnType<typeof withFault>> = {}) {
  const { transport, queues } = await openQueues(options, faults)
  const persistent = { lingerNs: Infinity }
  let engine: KernelEngine
  if (kind === 'cuda') {
    const cuda = openCuda()
    onTestFinished(async () => {
      await cuda.close()
      expect(standin.live()).toEqual(NOTHING)
    })
    engine = cudaEngine(transport, cuda, persistent)
  } else {
    engine = cpuKernelEngine(transport, persistent)
  }
  engine.attach(queues)
  const over = new AbortController()
  const running = new Set<Promise<OutcomeSummary>>()
  onTestFinished(async () => {
    over.abort()
    await Promise.allSettled(running)
    engine.detach()
  })
  const execute = (plan: Plan, memory: DmaMemory, signal = over.signal) => {
    const summary = engine.execute(plan, memory, { signal: AbortSignal.any([signal, over.signal]) })
    running.add(summary)
    return summary
  }
  return { engine, execute, alloc: (lengthBytes: number) => transport.dma.alloc(lengthBytes) } satisfies Rig
}

const delayed = (delayMs: number, nth: number) =>
  withFault({ kind: 'delay-completion', delayNs: delayMs * 1_000_000 }, { nth })

describe.each([
  ['cpu-kernel', isBuilt, skipped],
  ['cuda', hasStandin && isBuilt, skippedWithoutStandin],
])('the engine %s%#', (kind, there, reason) => {
  describe.skipIf(!there)(`executes plans${reason}`, () => {
    test('of one command, and of more than 65536 commands', async () => {
      const { execute, alloc } = await open(kind, { queueDepth: 64 })
      const memory = alloc(2 * MIB)
      expect(await execute(blocksOf(1, memory), memory)).toMatchObject({ succeeded: 1, failures: [] })
      const many = 65_536 + 3
      const summary = await execute(blocksOf(many, memory), memory)
      expect(summary).toMatchObject({ succeeded: many, bytes: many * 512, failures: [] })
      expect(isRead(memory)).toBe(true)
    })

    test('with 4095 commands in flight at once', async () => {
      const { execute, alloc } = await open(kind, { queueDepth: 4095, queueEntries: 4096, maxTransferBytes: 8192 })
      const memory = alloc(2 * MIB)
      const summary = await execute(blocksOf(3 * 4095, memory), memory)
      expect(summary).toMatchObject({ succeeded: 3 * 4095, failures: [] })
      expect(isRead(memory)).toBe(true)
    })

    test('of which the 65th waits for room in the queue', async () => {
      const { execute, alloc } = await open(kind, { queueDepth: 1 }, delayed(100, 1))
      const memory = alloc(65 * 512)
      const ended: number[] = []
      const running = Array.from({ length: 65 }, async (_, index) => {
        const summary = await execute(blocksOf(1, memory, 1, index), memory)
        expect(summary).toMatchObject({ succeeded: 1, failures: [] })
        ended.push(index)
      })
      await Promise.all(running)
      expect(ended).toEqual(Array.from({ length: 65 }, (_, index) => index))
      expect(isRead(memory)).toBe(true)
    })

    test('of more commands than the initial memory holds, between other plans and while a leader lingers', async () => {
      const { execute, alloc } = await open(kind, { queueDepth: 4 }, delayed(100, 2))
      const memory = alloc(MIB)
      // The leader lingers, and nothing is in flight.
      expect(await execute(blocksOf(1, memory), memory)).toMatchObject({ succeeded: 1 })
      const { pinned } = standin.live()
      const before = execute(blocksOf(8, memory), memory)
      const abort = new AbortController()
      const huge = 600_000
      const running = execute(blocksOf(huge, memory), memory, abort.signal)
      const behind = execute(blocksOf(8, memory), memory)
      expect(await before).toMatchObject({ succeeded: 8, failures: [] })
      // Wait until it runs; it is far from its end.
      while (!isRead(memory, 100 * 512)) await turn()
      abort.abort()
      const { succeeded, failures } = await running
      expect(succeeded).toBeGreaterThanOrEqual(92)
      expect(succeeded).toBeLessThan(huge)
      expect(failures).toHaveLength(huge - succeeded)
      expect(await behind).toMatchObject({ succeeded: 8, failures: [] })
      // The initial memory holds outcomes of half a million commands.
      if (kind === 'cuda') expect(standin.live().pinned).toBe(pinned + 1)
    })

    test('on 9 GiB of memory in segments of 4 KiB', async () => {
      const { execute, alloc } = await open(kind, { queueDepth: 64 })
      const whole = alloc(2 * MIB)
      const memory = scattered(whole, (9 * 1024 * MIB) / 4096)
      // Reads the last 2 MiB, which are the pages of `whole`.
      const plan = blocksOf(4096, whole)
      plan.offsetBytes.forEach((at, index) => (plan.offsetBytes[index] = memory.lengthBytes - 2 * MIB + at))
      expect(await execute(plan, memory)).toMatchObject({ succeeded: 4096, failures: [] })
      expect(isRead(whole)).toBe(true)
    })

    test('after 2^32 other plans', async () => {
      const { engine, execute, alloc } = await open(kind, { queueDepth: 4 })
      const memory = alloc(16 * 512)
      Object.assign(engine, { nextId: 2 ** 32 - 3 })
      const plans = Array.from({ length: 8 }, (_, index) => execute(blocksOf(2, memory, 1, 2 * index), memory))
      for (const summary of await Promise.all(plans)) expect(summary).toMatchObject({ succeeded: 2, failures: [] })
      expect(isRead(memory)).toBe(true)
    })
  })
})

/** Returns memory that repeats the pages of `whole`, in segments of one page. */
function scattered(whole: DmaMemory, pages: number): DmaMemory {
  const wholePages = whole.lengthBytes / 4096
  const segments: DmaSegment[] = Array.from({ length: pages }, (_, page) => ({
    offsetBytes: page * 4096,
    iova: whole.iovaAt((page % wholePages) * 4096),
    lengthBytes: 4096,
  }))
  return {
    lengthBytes: pages * 4096,
    segments,
    iovaAt: (offsetBytes) => whole.iovaAt(offsetBytes % whole.lengthBytes),
    forDevice: () => undefined,
    forHost: () => whole.forHost(0, whole.lengthBytes),
    free: () => undefined,
  }
}
