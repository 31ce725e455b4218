import { describe, expect, test } from 'vitest'
import { openCudaRig } from '../../test/cuda-rig.js'
import { isBuilt } from '../../test/native.js'
import { hasStandin, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { checkConnections, runLimitOf } from './gpu-limits.js'

// Read once in a process, before the first cuInit.
process.env['CUDA_DEVICE_MAX_CONNECTIONS'] = '5'
useStandin()

test('a kernel that lingers ends after 5 s, after 400 ms where the driver ends long ones, and one without an end never', () => {
  expect(runLimitOf(false, false)).toBe(5e9)
  expect(runLimitOf(false, true)).toBe(4e8)
  expect(runLimitOf(true, false)).toBe(0)
  expect(() => runLimitOf(true, true)).toThrow(RangeError)
})

test('three hardware work queues are left to others, of four or more', () => {
  expect(() => checkConnections(29, 32, true)).not.toThrow()
  expect(() => checkConnections(30, 32, false)).toThrow(/^queues: expected at most 29 completion queues with 32/)
  expect(() => checkConnections(1, 4, true)).not.toThrow()
  expect(() => checkConnections(1, 3, true)).toThrow(/^lingerNs: .*CUDA_DEVICE_MAX_CONNECTIONS=32$/)
  expect(() => checkConnections(1, 1, false)).not.toThrow()
  expect(() => checkConnections(2, 1, false)).toThrow(RangeError)
})

describe.skipIf(!hasStandin || !isBuilt)(`the engine cuda${skippedWithoutStandin}`, () => {
  test('has no more leaders than the environment has work queues for', async () => {
    const rig = await openCudaRig({ queues: 3 })
    expect(() => rig.engine()).toThrow(
      new RangeError(
        'queues: expected at most 2 completion queues with 5 hardware work queues, got 3; ' +
          'use fewer completionQueues, or start the program with CUDA_DEVICE_MAX_CONNECTIONS=32',
      ),
    )
    rig.engine({}, rig.queues.slice(0, 2)).detach()
  })

  test('lingers for a while and not without an end, on a GPU whose driver ends long kernels', async () => {
    process.env['GPUNVME_STANDIN_TIME_LIMIT'] = '1'
    const rig = await openCudaRig()
    expect(() => rig.engine({ lingerNs: Infinity })).toThrow(
      /^lingerNs: expected a finite number, got Infinity: the driver ends/,
    )
    rig.engine({ lingerNs: 1_000_000_000 }).detach()
  })
})
