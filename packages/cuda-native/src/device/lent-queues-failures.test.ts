import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import { describe, expect, test, vi } from 'vitest'
import { expectReads, openDrive, openQueues, type LendingDrive } from '../../test/device-rig.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import {
  CudaCallError,
  cudaStatus,
  CudaTimeoutError,
  deviceQueues,
  openCuda,
  type LendingEngineOptions,
} from '../cuda/index.js'
import { DeviceWords } from './device-words.js'
import { QUEUE } from './layout.js'

const standin = useStandin()
const of = ({ engine, namespace }: LendingDrive) => ({ engine, namespace })

/** Makes work on the GPU fail from the next query on. */
function dies(): void {
  standin.fail('cuStreamQuery=719@1+')
  // The stand-in reads the plan in cuInit.
  cudaStatus()
}

/** Lends the queues of a drive on a GPU that the test closes. */
async function lent(engineOptions: LendingEngineOptions) {
  const cuda = openCuda()
  cuda.loadKernels(standin.ptx)
  const queues = deviceQueues(cuda)
  const drive = await openDrive(queues, { engineOptions })
  const device = await queues.device([of(drive)])
  await expectReads(cuda, device, drive)
  return { cuda, queues, ...drive }
}

describe.skipIf(!hasStandin)(`lent queues after a kernel has made the context unusable${skippedWithoutStandin}`, () => {
  test.each(['gpu', 'cpu'] as const)('controller and GPU can be closed, with doorbells by %s', async (doorbells) => {
    const { cuda, engine, controller } = await lent({ doorbells })
    dies()
    await controller.close()
    expect(engine.hasQueues).toBe(false)
    expect(standin.live().registered).toBe(0)
    expect((await cuda.close()).fatalError).toMatchObject({ result: 719 })
    expect(standin.live()).toEqual(NOTHING)
  })

  test.each(['gpu', 'cpu'] as const)('the GPU can be closed first, with doorbells by %s', async (doorbells) => {
    const { cuda, engine, controller } = await lent({ doorbells })
    dies()
    expect((await cuda.close()).fatalError).toMatchObject({ result: 719 })
    expect(standin.live()).toEqual(NOTHING)
    expect(engine.hasQueues).toBe(true)
    await controller.close()
    expect(engine.hasQueues).toBe(false)
  })

  test('a GPU that works is not closed while kernels have queues', async () => {
    const { cuda, controller } = await lent({})
    await expect(cuda.close()).rejects.toMatchObject({ code: 'ERR_GPUNVME_CUDA_BUSY' })
    await controller.close()
    expect(await cuda.close()).toEqual({})
  })
})

describe.skipIf(!hasStandin)(`halt() of lent queues${skippedWithoutStandin}`, () => {
  test('throws nothing; detach reports its failure, once', async () => {
    const { queues } = openQueues(standin)
    const { engine, namespace } = await openDrive(queues)
    await queues.device([{ engine, namespace }])
    standin.fail('cuMemcpyHtoDAsync_v2=1@1')
    cudaStatus()
    engine.halt()
    expect(() => engine.detach()).toThrow(EngineFailedError)
    expect(engine.hasQueues).toBe(true)
    engine.detach()
    expect(engine.hasQueues).toBe(false)
  })
})

test.skipIf(!hasStandin)(
  `a buffer whose addresses cannot be copied leaves nothing behind${skippedWithoutStandin}`,
  async () => {
    const { queues } = openQueues(standin)
    const { engine, namespace } = await openDrive(queues)
    const memory = namespace.dma.alloc(4096)
    const before = standin.live()
    standin.fail('cuMemcpyHtoDAsync_v2=1@1')
    cudaStatus()
    expect(() => engine.buffer(memory)).toThrow(CudaCallError)
    expect(standin.live()).toEqual(before)
    memory.free()
  },
)

test.skipIf(!hasStandin)(
  `a device whose copy times out throws that error, though its memory stays in use${skippedWithoutStandin}`,
  async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues)
    const device = await queues.device([of(drive)])
    standin.holdCopies(true)
    try {
      await expect(queues.device([of(drive)])).rejects.toThrow(CudaTimeoutError)
    } finally {
      standin.holdCopies(false)
    }
    await expectReads(cuda, device, drive)
  },
)

test.skipIf(!hasStandin)(
  `queues that were returned have no slots: old tickets are invalid${skippedWithoutStandin}`,
  async () => {
    const { queues } = openQueues(standin)
    const { engine, namespace } = await openDrive(queues)
    await queues.device([{ engine, namespace }])
    const store = vi.spyOn(DeviceWords.prototype, 'store')
    try {
      engine.detach()
      const { view } = store.mock.contexts[0] as DeviceWords
      expect([0, 1].map((queue) => view.getUint32(queue * QUEUE.bytes + QUEUE.members.slot_count[0], true))).toEqual([
        0, 0,
      ])
    } finally {
      store.mockRestore()
    }
  },
)
