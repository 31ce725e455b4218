import { beforeAll, describe, expect, test } from 'vitest'
import type { CheckContext } from '../../gpu-check/src/context.js'
import { scoped } from '../../gpu-check/src/scope.js'
import { ServedQueues } from '../../gpu-check/src/served-queues.js'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

describe.skipIf(!hasCompiler)(`warps of a load${skippedWithoutCompiler}`, () => {
  let load: Program
  beforeAll(async () => {
    load = await program('gpu-check/drive-load')
  }, BUILD_MS)

  test('read if all of them run', async () => {
    expect((await load.run(['2'])).trim()).toBe('192 2')
  })

  test('end without a read if one of them does not start within the time limit', async () => {
    expect((await load.run(['1'])).trim()).toBe('0 2')
  })
})

test('memory of served queues is not freed before the kernel that serves them ends, even if a load fails', async () => {
  const events: string[] = []
  const memory = { gpuPointer: 4096n, fill: () => Promise.resolve(), free: () => events.push('free') }
  const stream = {
    finished: () => Promise.resolve().then(() => events.push('finished')),
    close: () => events.push('close'),
  }
  const cuda = {
    ...{ allocDevice: () => memory, stream: () => stream, loadKernels: () => undefined },
    launch: (name: string) => events.push(name),
  }
  // A GPU memory of the package cannot be imitated by its type: it has private members.
  const context = { cuda, kernels: { measure: '' } } as unknown as CheckContext
  const shape = { queues: 1, blockBytes: 512, maxBlocks: 1, dataBytes: 4096, timeoutNs: 1e9 }
  const load = () => Promise.reject(new Error('no load'))
  const serving = scoped(async (scope) => {
    const queues = await ServedQueues.open(context, scope, { server: 'kernel', ...shape })
    await queues.serve(1, load)
  })
  await expect(serving).rejects.toThrow('no load')
  const served = ['gpunvme_drive_serve', 'finished', 'close', 'free', 'free']
  expect(events).toEqual(['gpunvme_queue_layout', 'finished', ...served])
})
