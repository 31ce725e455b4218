import { expect, test } from 'vitest'
import { GpuNvmeError } from './error.js'

class DriveError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_TEST'
  readonly category = 'device'
}

test('an error carries its headline, facts and next step as fields, and all of them in its message', () => {
  const error = new DriveError('The drive failed', { facts: ['CSTS.CFS is 1', 'LBA 0x10'], next: 'reset it' })
  expect(error).toMatchObject({
    name: 'DriveError',
    headline: 'The drive failed',
    facts: ['CSTS.CFS is 1', 'LBA 0x10'],
    next: 'reset it',
    message: 'The drive failed\n  CSTS.CFS is 1\n  LBA 0x10\n  Try: reset it',
  })
})

test('an error without facts and next step has an empty list and no line Try', () => {
  const error = new DriveError('The drive failed')
  expect([error.facts, error.next, error.message]).toEqual([[], undefined, 'The drive failed'])
})
