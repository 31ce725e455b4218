import { setTimeout } from 'node:timers/promises'
import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { blocksOf, isRead, openCudaRig } from '../../test/cuda-rig.js'
import { isBuilt } from '../../test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { cudaEngine, CudaTimeoutError } from '../cuda/index.js'

const standin = useStandin()

describe.skipIf(!hasStandin || !isBuilt)(`the engine cuda${skippedWithoutStandin}`, () => {
  test('fails if its kernel does not start', async () => {
    const rig = await openCudaRig({ queues: 2 })
    standin.holdLaunch(1)
    const engine = rig.engine({ lingerNs: Infinity, stallTicks: 20 })
    const memory = rig.alloc(64 * 512)
    const error: unknown = await engine.execute(blocksOf(64, memory, 2), memory).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EngineFailedError)
    expect((error as Error).message).toContain('a leader made no progress for 0.2 s')
    standin.holdLaunch(0)
    engine.detach()
    await rig.cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('waits for a kernel that starts late', async () => {
    const rig = await openCudaRig({ queues: 2 })
    standin.holdLaunch(1)
    const engine = rig.engine({ lingerNs: Infinity })
    const memory = rig.alloc(64 * 512)
    const running = engine.execute(blocksOf(64, memory, 2), memory)
    await setTimeout(50)
    expect(await rig.reads()).toBe(0)
    standin.holdLaunch(0)
    expect(await running).toMatchObject({ succeeded: 64, failures: [] })
    expect(isRead(memory)).toBe(true)
    engine.detach()
  })

  test('registers only the pages of its doorbells', async () => {
    const rig = await openCudaRig({ queues: 2 })
    const { name, bar, clock } = rig.transport
    const { address, lengthBytes } = bar.window!
    standin.pretend({ address, lengthBytes })
    const asHardware: Pick<Transport, 'bar' | 'clock' | 'name'> = {
      ...{ name, clock },
      bar: { ...bar, read32: (at) => bar.read32(at), window: { address, lengthBytes } },
    }
    const engine = cudaEngine(asHardware, rig.cuda)
    engine.attach(rig.queues)
    // Doorbells of 4 bytes: those of queues 1 and 2 are at 1008h to 1017h.
    expect(standin.registers()).toEqual({ at: address + 0x1000n, lengthBytes: 4096 })
    engine.detach()
    await rig.cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('reports, if it cannot be detached, that this process must end before the controller is used again', async () => {
    const rig = await openCudaRig({ queues: 2 })
    standin.holdLaunch(1)
    const engine = rig.engine({ lingerNs: Infinity, stallTicks: 3 })
    const memory = rig.alloc(64 * 512)
    await expect(engine.execute(blocksOf(64, memory, 2), memory)).rejects.toThrow(EngineFailedError)
    expect(() => engine.detach()).toThrow(
      /a leader did not end after it was stopped[^]*Try: end this process before the controller is used again/,
    )
    // Calls that wait for kernels are rejected while the kernel may run.
    expect(() => rig.cuda.allocDevice(64)).toThrow(CudaTimeoutError)
    standin.holdLaunch(0)
  })
})
