import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { blocksOf, isRead, openCudaRig, type CudaRig } from '../../test/cuda-rig.js'
import { withFault } from '../../test/kernel-rig.js'
import { isBuilt, native } from '../../test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { openCuda } from '../cuda/index.js'
import type { KernelEngine } from './kernel-engine.js'

const standin = useStandin()

const MIB = 1024 * 1024
const COMMANDS = 20_000

/** An operation on a GPU: `prepare` runs before a leader is launched, and returns the operation to run during the launch. */
interface Deed {
  readonly name: string
  readonly prepare: (rig: CudaRig) => () => void | Promise<void>
}

const region = () => native.allocate(8192, 4096)
const deeds: readonly Deed[] = [
  { name: 'GPU memory is allocated', prepare: (rig) => () => void rig.cuda.allocDevice(4096) },
  {
    name: 'GPU memory is freed',
    prepare(rig) {
      const memory = rig.cuda.allocDevice(4096)
      return () => memory.free()
    },
  },
  { name: 'pinned memory is allocated', prepare: (rig) => () => void rig.cuda.allocPinned(4096) },
  {
    name: 'pinned memory is freed',
    prepare(rig) {
      const memory = rig.cuda.allocPinned(4096)
      return () => memory.free()
    },
  },
  {
    name: 'memory is registered',
    prepare: (rig) => () => void rig.cuda.register(region().address, 8192),
  },
  {
    name: 'memory is unregistered',
    prepare(rig) {
      const registration = rig.cuda.register(region().address, 8192)
      return () => registration.unregister()
    },
  },
  {
    name: 'GPU memory is filled',
    prepare(rig) {
      const memory = rig.cuda.allocDevice(4096)
      return () => memory.fill(7)
    },
  },
  { name: 'kernels are loaded', prepare: (rig) => () => rig.cuda.loadKernels(standin.ptx) },
  {
    name: 'a copy engine copies for the first time',
    prepare(rig) {
      const engine = rig.cuda.copyEngine()
      const to = engine.alloc(4096)
      const from = { ...{ lengthBytes: 4096, view: new DataView(region().buffer) }, forHost: () => undefined }
      return () => engine.copy(from as unknown as DmaMemory, 0, to, 0, 4096)
    },
  },
  {
    name: 'the GPU is opened again and closed',
    prepare: () => () => openCuda().close(),
  },
  {
    name: 'another engine is attached, reads, and is detached',
    prepare: (rig) => async () => {
      const other = rig.engine({ lingerNs: Infinity }, rig.queues.slice(1))
      const memory = rig.alloc(MIB)
      expect(await other.execute(blocksOf(2048, memory), memory)).toMatchObject({ succeeded: 2048, failures: [] })
      expect(isRead(memory)).toBe(true)
      other.detach()
    },
  },
]

/** Executes a plan of reads. The leader lingers afterwards. */
async function read(engine: KernelEngine, rig: CudaRig): Promise<void> {
  const memory = rig.alloc(MIB)
  expect(await engine.execute(blocksOf(2048, memory), memory)).toMatchObject({ succeeded: 2048, failures: [] })
  expect(isRead(memory)).toBe(true)
}

describe.skipIf(!hasStandin || !isBuilt)(
  `a persistent kernel does not block other operations${skippedWithoutStandin}`,
  () => {
    test.each(deeds)('while it lingers and $name', async ({ prepare }) => {
      const rig = await openCudaRig({ queues: 2, queueDepth: 8 })
      const deed = prepare(rig)
      const engine = rig.engine({ lingerNs: Infinity }, rig.queues.slice(0, 1))
      await read(engine, rig)
      await deed()
      await read(engine, rig)
      engine.detach()
      await rig.cuda.close()
      expect(standin.live()).toEqual(NOTHING)
    })

    test.each(deeds)('while it has a plan in flight, which continues afterwards, and $name', async ({ prepare }) => {
      const rig = await openCudaRig({ queues: 2, queueDepth: 8 })
      const deed = prepare(rig)
      const engine = rig.engine({ lingerNs: Infinity }, rig.queues.slice(0, 1))
      const memory = rig.alloc(MIB)
      const running = engine.execute(blocksOf(COMMANDS, memory), memory)
      let reads = 0
      while (reads === 0) reads = await rig.reads()
      expect(reads).toBeLessThan(COMMANDS)
      const before = standin.launched()
      await deed()
      expect(await running).toMatchObject({ succeeded: COMMANDS, failures: [] })
      expect(isRead(memory)).toBe(true)
      expect(standin.launched()).toBeGreaterThan(before)
      expect(engine.statistics).toMatchObject({ commands: COMMANDS, staleCompletions: 0 })
      engine.detach()
      await rig.cuda.close()
      expect(standin.live()).toEqual(NOTHING)
    })

    test('while a command does not complete, which stays in flight until its deadline', async () => {
      const rig = await openCudaRig({ queueDepth: 8 }, withFault({ kind: 'hang' }))
      const clock = native.allocate(4096, 4096)
      const engine = rig.engine({ lingerNs: Infinity, clock: new BigUint64Array(clock.buffer, 0, 1) })
      const memory = rig.alloc(MIB)
      const kept = rig.cuda.allocPinned(64)
      let isPending = true
      const running = engine
        .execute(blocksOf(4, memory), memory, { timeoutNs: 1000 })
        .finally(() => (isPending = false))
      while ((await rig.reads()) < 3) await new Promise(setImmediate)
      const before = standin.launched()
      rig.cuda.allocDevice(64).free()
      kept.free()
      await new Promise(setImmediate)
      expect(isPending).toBe(true)
      expect(standin.launched()).toBeGreaterThan(before)
      clock.store64(0, 1001n)
      const { succeeded, failures } = await running
      expect([succeeded, failures.map(({ outcome }) => outcome.kind)]).toEqual([3, ['timeout']])
      engine.detach()
      await rig.cuda.close()
      expect(standin.live()).toEqual(NOTHING)
      clock.unmap()
    })
  },
)
