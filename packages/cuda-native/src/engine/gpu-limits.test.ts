import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { blocksOf, isRead, openCudaRig } from '../../test/cuda-rig.js'
import { isBuilt } from '../../test/native.js'
import { hasStandin, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { runLimitOf } from './gpu-limits.js'

// CUDA reads it once in a process, at the first cuInit.
beforeAll(() => {
  process.env['CUDA_DEVICE_MAX_CONNECTIONS'] = '5'
})
afterAll(() => {
  delete process.env['CUDA_DEVICE_MAX_CONNECTIONS']
})
useStandin()

const limits = { connections: 32, hasTimeLimit: false }

test('a kernel ends after 5 s, or after 400 ms if the driver ends long-running kernels; a persistent kernel does not end', () => {
  expect(runLimitOf(false, limits)).toBe(5e9)
  expect(runLimitOf(false, { ...limits, hasTimeLimit: true })).toBe(4e8)
  expect(runLimitOf(true, limits)).toBe(0)
  expect(() => runLimitOf(true, { ...limits, hasTimeLimit: true })).toThrow(RangeError)
})

test('a persistent kernel leaves three hardware work queues to others', () => {
  expect(runLimitOf(true, { ...limits, connections: 4 })).toBe(0)
  expect(() => runLimitOf(true, { ...limits, connections: 3 })).toThrow(/^lingerNs: .*CUDA_DEVICE_MAX_CONNECTIONS=32$/)
  expect(runLimitOf(false, { ...limits, connections: 1 })).toBe(5e9)
})

describe.skipIf(!hasStandin || !isBuilt)(`the engine cuda${skippedWithoutStandin}`, () => {
  test('serves more queues than there are hardware work queues', async () => {
    const rig = await openCudaRig({ queues: 8 })
    const engine = rig.engine()
    onTestFinished(() => engine.detach())
    const memory = rig.alloc(64 * 512)
    for (let round = 0; round < 3; round++) {
      expect(await engine.execute(blocksOf(64, memory, 8), memory)).toMatchObject({ succeeded: 64 })
    }
    expect(isRead(memory)).toBe(true)
  })

  test('rejects a lingerNs of Infinity, and no other, on a GPU whose driver ends long-running kernels', async () => {
    process.env['GPUNVME_STANDIN_TIME_LIMIT'] = '1'
    const rig = await openCudaRig()
    expect(() => rig.engine({ lingerNs: Infinity })).toThrow(
      /^lingerNs: expected a finite number, got Infinity: the driver ends/,
    )
    rig.engine({ lingerNs: 1_000_000_000 }).detach()
  })
})
