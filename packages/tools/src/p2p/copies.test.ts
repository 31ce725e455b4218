import type { CudaPeers } from '@gpunvme/cuda-native/cuda'
import { expect, test } from 'vitest'
import { machines } from '../../test/machines/index.js'
import { readDescribed } from '../../test/machines/read-described.js'
import { limitsBetween, requireTwo, tooFewGpusError } from './copies.js'

const gpu = (device: number, bdf: string) => ({
  device,
  name: 'NVIDIA GeForce RTX 3090',
  bdf,
  memoryBytes: 24 * 2 ** 30,
})
const reach = (nativeAtomics: boolean) => ({ from: 0, to: 1, supported: true, performanceRank: 0, nativeAtomics })

const peers = (second: string, nativeAtomics = false): CudaPeers => ({
  devices: [gpu(0, '0000:09:00.0'), gpu(1, second)],
  access: [reach(nativeAtomics)],
})

test('limitsBetween returns the limit of the slowest link, 14.4 GB/s for Gen4 x8 at MPS 256', async () => {
  const machine = await readDescribed(machines.find(({ name }) => name === 'amd-two-cards-bifurcated')!)
  expect(limitsBetween(machine, peers('0000:0a:00.0'))(0, 1)! / 1e9).toBeCloseTo(14.4, 2)
  // NVLink is not PCI Express, and the path to an unlisted GPU is unknown.
  expect(limitsBetween(machine, peers('0000:0a:00.0', true))(0, 1)).toBeUndefined()
  expect(limitsBetween(machine, peers('0000:77:00.0'))(0, 1)).toBeUndefined()
}, 60_000)

test('requireTwo rejects fewer than two GPUs', () => {
  const one = { devices: [gpu(0, '0000:09:00.0')], access: [] }
  expect(() => requireTwo({ peers: one })).toThrow(/CUDA lists one$/m)
  expect(() => requireTwo({ unavailable: tooFewGpusError(0) })).toThrow(/CUDA lists none$/m)
  expect(requireTwo({ peers: peers('0000:0a:00.0') }).devices).toHaveLength(2)
})
