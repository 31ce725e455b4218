import { Controller } from '@gpunvme/host-driver'
import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import type { DmaMemory, OutcomeSummary, Transport } from '@gpunvme/nvme-spec/transport'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Keeper } from '../../test/kernel-rig.js'
import { startDrive, type RealTimeDrive } from '../../test/real-time-drives.js'
import { scratchFile } from '../../test/scratch-file.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { CudaCallError, CudaRegistrationError, cudaEngine, openCuda, type Cuda } from '../cuda/index.js'

const standin = useStandin()

const MIB = 1024 * 1024
const CONTENT = Uint8Array.from({ length: MIB }, (_, position) => (position * 31) ^ (position >>> 9))

/** Functions that only CudaExecutor calls while an engine is attached. Tests fail each at each of its calls. */
const FUNCTIONS = `
  cuCtxSetCurrent cuModuleGetFunction cuMemHostAlloc cuMemHostGetDevicePointer_v2 cuMemAlloc_v2 cuMemHostRegister_v2
  cuStreamCreate cuStreamCreateWithPriority cuCtxGetStreamPriorityRange cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2
  cuLaunchKernel cuStreamQuery
  cuMemHostUnregister cuStreamDestroy_v2 cuMemFreeHost cuMemFree_v2`
  .trim()
  .split(/\s+/)

/** Functions that are polled: the number of calls depends on time. */
const OFTEN = ['cuStreamQuery', 'cuCtxSetCurrent']

/** Result of `life`: errors in order, and summaries of executed plans. */
interface Seen {
  readonly errors: { readonly step: string; readonly error: unknown }[]
  readonly summaries: OutcomeSummary[]
}

describe.skipIf(!hasStandin)(`if a call of the driver fails${skippedWithoutStandin}`, () => {
  let drive: RealTimeDrive
  let memory: DmaMemory
  let file: ReturnType<typeof scratchFile>

  beforeAll(async () => {
    file = scratchFile(CONTENT)
    drive = await startDrive({ namespaces: [{ file: { path: file.path, readOnly: true } }] })
    memory = drive.simulator.transport.dma.alloc(64 * 4096)
  })
  afterAll(async () => {
    await drive.close()
    file[Symbol.dispose]()
  })

  /** Declares the registers to be those of a device, which the driver registers with another flag. */
  function asHardware({ name, bar, clock }: Transport): Pick<Transport, 'bar' | 'clock' | 'name'> {
    const { address, lengthBytes } = bar.window!
    standin.pretend({ address, lengthBytes })
    return { name, clock, bar: { ...bar, read32: (at) => bar.read32(at), window: { address, lengthBytes } } }
  }

  /** Closes the GPU, and once more after an error; a second close has no effect. */
  async function closed(cuda: Cuda, seen: Seen): Promise<void> {
    await step(seen, 'close', () => cuda.close())
    await cuda.close().catch(() => undefined)
  }

  async function step<T>({ errors }: Seen, name: string, action: () => T): Promise<Awaited<T> | undefined> {
    try {
      return await action()
    } catch (error) {
      errors.push({ step: name, error })
      return undefined
    }
  }

  /** Opens, attaches, executes several plans and aborts one of them, detaches, closes. */
  async function life(): Promise<Seen> {
    const seen: Seen = { errors: [], summaries: [] }
    const cuda = await step(seen, 'open', () => openCuda())
    if (cuda === undefined) return seen
    const { transport } = drive.simulator
    const keeper = new Keeper()
    const controller = await Controller.open(transport, { engine: keeper, queueDepth: 4, queues: 2 })
    const ns = controller.namespace(1)
    const reads = (commands: number) =>
      ns.planReads(Array.from({ length: commands }, (_, at) => ({ slba: at * 8, blocks: 8, offsetBytes: at * 4096 })))
    new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, memory.lengthBytes).fill(0xa5)
    const engine = await step(seen, 'engine', () => cudaEngine(asHardware(transport), cuda))
    const isAttached =
      engine !== undefined && (await step(seen, 'attach', () => (engine.attach(keeper.queues), true))) !== undefined
    if (isAttached) {
      const abort = new AbortController()
      const plans = [engine.execute(reads(64), memory), engine.execute(reads(16), memory, abort)]
      abort.abort()
      const executed = await Promise.all(plans.map((plan) => step(seen, 'execute', () => plan)))
      executed.push(await step(seen, 'execute', () => engine.execute(reads(8), memory)))
      for (const summary of executed) if (summary !== undefined) seen.summaries.push(summary)
      await step(seen, 'detach', () => engine.detach())
      await step(seen, 'detach', () => engine.detach())
    }
    await closed(cuda, seen)
    await controller.close()
    return seen
  }

  /** Checks that the data of successful commands were read. */
  function expectRight({ summaries }: Seen): void {
    for (const { commands, succeeded, failures } of summaries) {
      expect(succeeded + failures.length).toBe(commands)
      const failed = new Set(failures.map(({ command }) => command))
      for (let command = 0; command < commands; command++) {
        if (failed.has(command)) continue
        const { buffer, byteOffset } = memory.view!
        const read = new Uint8Array(buffer, byteOffset + command * 4096, 4096)
        expect(Buffer.compare(read, CONTENT.subarray(command * 4096, (command + 1) * 4096))).toBe(0)
      }
    }
  }

  test('a run without a failure reports no error, and releases everything', async () => {
    const seen = await life()
    expect(seen.errors).toEqual([])
    expect(seen.summaries.map(({ commands }) => commands)).toEqual([64, 16, 8])
    expectRight(seen)
    expect(standin.live()).toEqual(NOTHING)
  })

  test.each(FUNCTIONS)(
    '%s: the engine attaches or reports why not, its plans end, and everything is released',
    async (name) => {
      const limit = OFTEN.includes(name) ? 60 : 200
      let reported = 0
      let calls = 0
      for (; calls < limit; calls++) {
        const before = standin.failed()
        standin.fail(`${name}=801@${calls + 1}`)
        const seen = await life()
        expect({ calls, live: standin.live() }).toEqual({ calls, live: NOTHING })
        expectRight(seen)
        if (standin.failed() === before) {
          expect(seen.errors).toEqual([])
          break
        }
        if (seen.errors.length > 0) reported++
        for (const { step, error } of seen.errors) expectTyped(step, error, name)
      }
      // A failed release need not be reported.
      if (!/Free|Unregister|Destroy/.test(name)) expect(reported).toBeGreaterThan(0)
      if (limit > 60) expect(calls).toBeLessThan(limit)
    },
    240_000,
  )
})

function expectTyped(step: string, error: unknown, name: string): void {
  const isRegistration = name === 'cuMemHostRegister_v2' || name === 'cuMemHostGetDevicePointer_v2'
  if (step === 'execute' || step === 'detach') {
    expect(error).toBeInstanceOf(EngineFailedError)
    expect((error as EngineFailedError).message).toContain('CUDA_ERROR_NOT_SUPPORTED')
  } else if (step === 'attach' && isRegistration) {
    const cause = error instanceof CudaRegistrationError ? error.cause : error
    expect(cause).toMatchObject({ call: name, resultName: 'CUDA_ERROR_NOT_SUPPORTED' })
  } else {
    expect(error).toBeInstanceOf(CudaCallError)
    expect(error).toMatchObject({ call: name, result: 801, resultName: 'CUDA_ERROR_NOT_SUPPORTED' })
  }
}
