import { expect, test } from 'vitest'
import { cudaStatus } from './index.js'

test('the status is plain JSON, with and without a GPU', () => {
  const status = cudaStatus()
  expect(JSON.parse(JSON.stringify(status))).toEqual(status)
  expect(typeof status.message).toBe('string')
})
