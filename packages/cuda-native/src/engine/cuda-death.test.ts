import { Controller } from '@gpunvme/host-driver'
import { EngineFailedError } from '@gpunvme/nvme-spec/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDrive, type RealTimeDrive } from '../../test/real-time-drives.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { cudaEngine, cudaStatus, openCuda } from '../cuda/index.js'

const standin = useStandin()

/** Makes the driver report a failed kernel from the next query on. */
function dies(): void {
  standin.fail('cuStreamQuery=719@1+')
  cudaStatus()
}

describe.skipIf(!hasStandin)(`the engine cuda after a kernel failed${skippedWithoutStandin}`, () => {
  let drive: RealTimeDrive
  beforeAll(async () => {
    drive = await startDrive({})
  })
  afterAll(() => drive.close())

  async function open() {
    const { transport } = drive.simulator
    const cuda = openCuda()
    const engine = cudaEngine(transport, cuda, { lingerNs: Infinity })
    const controller = await Controller.open(transport, { engine, queues: 2, queueDepth: 8 })
    await controller.namespace(1).readBytes(0, 65_536)
    return { cuda, engine, controller }
  }

  test('plans end with the error, and engine, controller and GPU can be closed', async () => {
    const { cuda, engine, controller } = await open()
    expect(standin.live().registered).toBeGreaterThan(0)
    dies()
    const read = controller.namespace(1).readBytes(0, 1_048_576)
    await expect(read).rejects.toBeInstanceOf(EngineFailedError)
    await expect(read).rejects.toThrow(/CUDA_ERROR_LAUNCH_FAILED[^]*Try: restart this process/)
    await controller.close()
    engine.detach()
    expect(standin.live().registered).toBe(0)
    expect((await cuda.close()).fatalError).toMatchObject({ result: 719 })
    expect(standin.live()).toEqual(NOTHING)
  })

  test('an engine without plans throws the error at detach, once', async () => {
    const { cuda, engine, controller } = await open()
    dies()
    expect(() => engine.detach()).toThrow(EngineFailedError)
    engine.detach()
    expect(standin.live().registered).toBe(0)
    await controller.close()
    expect((await cuda.close()).fatalError).toMatchObject({ result: 719 })
    expect(standin.live()).toEqual(NOTHING)
  })

  test('a GPU that is closed before its engine is released with the engine', async () => {
    const { cuda, engine, controller } = await open()
    dies()
    expect((await cuda.close()).fatalError).toMatchObject({ result: 719 })
    // The engine still holds its memory, and thereby the context.
    expect(standin.live()).toMatchObject({ contexts: 1, modules: 0 })
    expect(standin.live().registered).toBeGreaterThan(0)
    expect(() => engine.detach()).toThrow(EngineFailedError)
    await controller.close()
    expect(standin.live()).toEqual(NOTHING)
  })
})
