import type { CudaStatus } from '@gpunvme/cuda-native'
import { expect, test } from 'vitest'
import { DRIVE, drive, facts, GPU, gpu, MACHINE } from '../../test/doctor/facts.js'
import { costFromOf, machineDefaults } from './machine-cost.js'

const GIB = 1024 ** 3
const CUDA = facts().process!.cuda
const NO_CUDA: CudaStatus = {
  ...{ available: false, state: 'library-missing', code: 'ERR_GPUNVME_NO_CUDA_DRIVER' },
  ...{ message: 'none', facts: [], next: 'install it' },
}

test('a plan takes memory and link from the GPU that CUDA lists first', () => {
  expect(machineDefaults(MACHINE, CUDA, undefined)).toEqual({
    vramBytes: 18 * GIB,
    gpuLink: { gen: 3, width: 16, mps: 256 },
    drive: undefined,
  })
})

test('without CUDA, a plan takes the link of the only NVIDIA GPU, whose memory is unknown', () => {
  const { vramBytes, gpuLink } = machineDefaults(MACHINE, NO_CUDA, undefined)
  expect([vramBytes, gpuLink?.width]).toEqual([undefined, 16])
  const two = { ...MACHINE, gpus: [gpu(), gpu({ address: '0000:0c:00.0' })] }
  expect(machineDefaults(two, NO_CUDA, undefined).gpuLink).toBeUndefined()
  expect(machineDefaults({ ...MACHINE, gpus: [] }, undefined, undefined).gpuLink).toBeUndefined()
})

test('a plan for a drive takes its preset on its link, or its link alone', () => {
  const known = machineDefaults(MACHINE, CUDA, DRIVE).drive!
  expect(costFromOf(known)).toBe('preset sn740 on Gen3 x4')
  const other = machineDefaults({ ...MACHINE, drives: [drive({ model: 'A drive' })] }, CUDA, DRIVE).drive!
  expect(costFromOf(other)).toBe('link Gen3 x4')
  expect(other.cost.readNs(3_600_000, 32)).toBeCloseTo(1_000_000, -4)
})

test('functions that the machine does not list are ignored', () => {
  const hidden = { ...MACHINE, functions: [] }
  expect(machineDefaults(hidden, CUDA, GPU)).toEqual({ vramBytes: 18 * GIB, gpuLink: undefined, drive: undefined })
})
