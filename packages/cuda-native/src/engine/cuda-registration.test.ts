import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { blocksOf, isRead, openCudaRig } from '../../test/cuda-rig.js'
import { isBuilt } from '../../test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { sessionOf, type Cuda } from '../cuda/cuda.js'
import { cudaEngine, CudaRegistrationError } from '../cuda/index.js'

const standin = useStandin()

// VmFlags of queues that the module gpunvme maps, from smaps of a guest with Linux 6.1: without an IOMMU by
// dma_mmap_coherent, and as pages that it inserts.
const COHERENT = 'rd wr sh mr mw ms pf io dc de dd'
const INSERTED = 'rd wr sh mr mw ms dc de dd mm'

/** Gives all memory of queues these VmFlags. */
function pretend(cuda: Cuda, queues: readonly QueuePairMemory[], flags: string): void {
  const { addon } = sessionOf(cuda)
  const memories = queues.flatMap(({ sq, cq, prpLists }) => [sq, cq.memory, prpLists])
  standin.pretend(
    ...memories.map(({ view, lengthBytes }) => ({
      ...{ address: addon.addressOf(view!), lengthBytes },
      ...{ name: '/dev/gpunvme0', flags, isRam: true },
    })),
  )
}

describe.skipIf(!hasStandin || !isBuilt)(`memory of queues${skippedWithoutStandin}`, () => {
  test('rejects queues mapped as page frames and blames the mapping, not the driver', async () => {
    const rig = await openCudaRig({ queues: 1 })
    pretend(rig.cuda, rig.queues, COHERENT)
    let error: unknown
    try {
      rig.engine()
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(CudaRegistrationError)
    // The facts are those of this process, not of the pretended mappings: registration.test.ts judges them.
    const { headline, facts } = error as CudaRegistrationError
    expect(headline).toMatch(
      /^Registering \d+ bytes of a submission queue at 0x[0-9a-f]+ failed: CUDA_ERROR_INVALID_VALUE/,
    )
    expect(facts.map((fact) => fact.split(/[ :]/)[0])).toEqual(['cuMemHostRegister_v2', 'driver', 'Linux', 'the'])
    await rig.cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('accepts queues mapped as pages', async () => {
    const rig = await openCudaRig({ queues: 1 })
    pretend(rig.cuda, rig.queues, INSERTED)
    const engine = rig.engine()
    const memory = rig.alloc(64 * 512)
    expect(await engine.execute(blocksOf(64, memory), memory)).toMatchObject({ succeeded: 64, failures: [] })
    expect(isRead(memory)).toBe(true)
    engine.detach()
  })
})

describe.skipIf(!hasStandin || !isBuilt)(`doorbells that the CPU writes${skippedWithoutStandin}`, () => {
  test.each([1, 4])('work if the driver refuses to register the registers, with %i queues', async (queues) => {
    const rig = await openCudaRig({ queues })
    // Treated like a drive's registers: the driver refuses to register memory as registers.
    const window = { ...rig.transport.bar.window!, isMemory: false }
    const transport = { ...rig.transport, bar: Object.assign(Object.create(rig.transport.bar) as object, { window }) }
    const direct = cudaEngine(transport as typeof rig.transport, rig.cuda)
    expect(() => direct.attach(rig.queues)).toThrow(CudaRegistrationError)
    const engine = cudaEngine(transport as typeof rig.transport, rig.cuda, { doorbells: 'cpu' })
    for (let round = 0; round < 3; round++) {
      engine.attach(rig.queues)
      const memory = rig.alloc(512 * 512)
      const plan = blocksOf(512, memory, queues)
      expect(await engine.execute(plan, memory)).toMatchObject({ succeeded: 512, failures: [] })
      expect(isRead(memory)).toBe(true)
      engine.detach()
    }
    await rig.cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('reject values other than gpu and cpu', async () => {
    const rig = await openCudaRig()
    const wrong = { doorbells: 'thread' } as unknown as { doorbells: 'cpu' }
    expect(() => cudaEngine(rig.transport, rig.cuda, wrong)).toThrow("doorbells: expected 'gpu' or 'cpu', got")
  })
})
