import { beforeAll, describe, expect, test } from 'vitest'
import type { CheckContext } from '../../gpu-check/src/context.js'
import { loadDriveAddon, threadsFor, type DriveAddon } from '../../gpu-check/src/drive-addon.js'
import { runLoad } from '../../gpu-check/src/drive-load.js'
import { QUEUE_WORDS } from '../../gpu-check/src/pattern-drive.js'
import { scoped } from '../../gpu-check/src/scope.js'
import type { Server } from '../../gpu-check/src/served-queues.js'
import { built } from '../programs/build.mjs'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

/** A GPU in which each call is a step, and one step fails. It counts resources that are not released. */
class FailingGpu {
  steps = 0
  live = 0
  readonly #failAt: number

  constructor(failAt: number) {
    this.#failAt = failAt
  }

  step(): void {
    if (this.steps++ === this.#failAt) throw new Error('this step fails')
  }

  resource<T extends object>(members: T): T & { readonly release: () => void } {
    this.step()
    this.live++
    const release = () => {
      this.live--
    }
    return { ...members, release }
  }

  get context(): CheckContext {
    const step = () => Promise.resolve().then(() => this.step())
    const allocDevice = () => {
      const read = async (_: number, bytes: number) => (await step(), new Uint8Array(bytes))
      const { release, ...memory } = this.resource({ gpuPointer: 4096n, fill: step, read })
      return { ...memory, free: release }
    }
    const stream = () => {
      const { release, ...made } = this.resource({ finished: step })
      return { ...made, close: release }
    }
    const register = () => ({ gpuPointer: 4096n, unregister: this.resource({}).release })
    const allocate = () => ({ address: 4096n, unmap: this.resource({}).release })
    const cuda = { allocDevice, stream, register, loadKernels: () => this.step(), launch: () => this.step() }
    return { cuda, host: { allocate }, kernels: { measure: '' } } as unknown as CheckContext
  }

  /** An addon without threads. A drive that is not stopped counts as a resource. */
  get addon(): DriveAddon {
    const start = () => (this.resource({}), 1)
    const stop = () => (this.live--, new BigUint64Array(QUEUE_WORDS))
    return { start, stop, count: () => ({ loads: 0, stores: 0, doorbells: 0 }) }
  }
}

describe('a load', () => {
  const shape = { queues: 1, warps: 1, rounds: 1, blockBytes: 512, blocks: 1, timeoutNs: 1e9 }

  test.each([
    ['by gnv::Device', 'a kernel', 'gnv'],
    ['by tickets', 'a kernel', 'tickets'],
    ['by gnv::Device', 'CPU threads', 'gnv'],
  ] as const)('%s on queues of %s releases all resources if any step fails', async (_, server, protocol) => {
    let failed = 0
    for (let isEnded = false; !isEnded;) {
      const gpu = new FailingGpu(failed)
      const by: Server = server === 'a kernel' ? 'kernel' : { addon: gpu.addon, maxThreads: 1 }
      const error = await runLoad(gpu.context, { ...shape, server: by, protocol }).then(
        () => undefined,
        (reason: unknown) => (reason as Error).message,
      )
      isEnded = error === undefined
      expect([failed, error, gpu.live]).toEqual([failed, isEnded ? undefined : 'this step fails', 0])
      if (!isEnded) failed++
    }
    // At least each allocation, each fill and each launch.
    expect(failed).toBeGreaterThanOrEqual(10)
  })
})

test('a scope rejects with the error of its work, or else with the first error of its release', async () => {
  const fail = (message: string) => () => Promise.reject(new Error(message))
  const released: string[] = []
  const both = scoped((scope) => {
    scope.later(() => released.push('first'))
    scope.later(fail('release'))
    return fail('work')()
  })
  await expect(both).rejects.toThrow('work')
  expect(released).toEqual(['first'])
  const onlyRelease = scoped((scope) => {
    scope.later(fail('release'))
    return Promise.resolve()
  })
  await expect(onlyRelease).rejects.toThrow('release')
})

test.each([
  [1, 12, 1],
  [8, 12, 8],
  [16, 12, 8],
  [32, 12, 8],
  [18, 12, 9],
  [13, 12, 1],
])('%d queues are served by the largest divisor up to %d: %d threads', (queues, maxThreads, threads) => {
  expect(threadsFor(queues, maxThreads)).toBe(threads)
})

describe.skipIf(!hasCompiler)(`threads of a drive${skippedWithoutCompiler}`, () => {
  let drive: Program
  let addon: DriveAddon
  beforeAll(async () => {
    drive = await program('gpu-check/drive-threads')
    addon = loadDriveAddon(await built('gpu-check/drive.node'))!
  }, BUILD_MS)

  test('end if one of them cannot be created, and the caller gets the error', async () => {
    expect((await drive.run()).trim()).toBe('2 threads, then EAGAIN')
  })

  test.each([0, 2, 4])('are rejected if they do not serve the same number of queues: %d for 3', (threads) => {
    const start = () => addon.start(new BigUint64Array(3 * QUEUE_WORDS), new BigUint64Array(13), threads)
    expect(start).toThrow(RangeError)
    expect(start).toThrow('threads: expected a divisor of 3 queues')
  })
})
