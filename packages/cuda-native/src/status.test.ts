import { expect, test } from 'vitest'
import { cudaStatus } from './index.js'

test('importing the package works on a machine without CUDA, and asking says why there is no GPU', () => {
  const status = cudaStatus()
  expect(status).toMatchObject({ available: false, code: 'ERR_GPUNVME_CUDA_NOT_BUILT' })
  expect(status.message).toContain('no CUDA code')
})

test('the status names an engine that does work, and can be stored as JSON', () => {
  const status = cudaStatus()
  expect(status.next).toContain("openEngine('host'")
  expect(JSON.parse(JSON.stringify(status))).toEqual(status)
})
