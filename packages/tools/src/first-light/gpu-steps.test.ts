import { cudaStatus } from '@gpunvme/cuda-native'
import { describe, expect, test } from 'vitest'
import { requireCuda } from './gpu-steps.js'
import type { FirstLightReport } from './report.js'
import { SkippedStep } from './sequence.js'

/** Returns a report whose step `machine` found this GPU. */
function reportWith(gpu: object | null): FirstLightReport {
  return { steps: [{ step: 'machine', outcome: 'passed', machine: { gpu } }] } as unknown as FirstLightReport
}

describe.skipIf(cudaStatus().available)('requireCuda without CUDA', () => {
  test('skips the step if Linux lists no GPU', () => {
    expect(() => requireCuda(0, reportWith(null))).toThrow(SkippedStep)
  })

  test('fails the step if Linux lists the GPU', () => {
    expect(() => requireCuda(0, reportWith({}))).toThrow(expect.objectContaining({ category: 'not-found' }))
  })
})
