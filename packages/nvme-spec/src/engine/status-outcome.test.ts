import { expect, test } from 'vitest'
import { EngineFailedError } from './engine-failed.js'
import { statusOutcome } from './status-outcome.js'

// The Status field without its phase tag (Base 2.1 §4.2.3): SC 7:0, SCT 10:8, CRD 12:11, M 13, DNR 14.
test.each([
  [0x0000, { sct: 0, sc: 0, crd: 0, more: false, dnr: false }],
  [0x0281, { sct: 2, sc: 0x81, crd: 0, more: false, dnr: false }],
  [0x4180, { sct: 1, sc: 0x80, crd: 0, more: false, dnr: true }],
  [0x2002, { sct: 0, sc: 2, crd: 0, more: true, dnr: false }],
  [0x1822, { sct: 0, sc: 0x22, crd: 3, more: false, dnr: false }],
  [0x7fff, { sct: 7, sc: 0xff, crd: 3, more: true, dnr: true }],
])('status %i is its fields', (status15, fields) => {
  expect(statusOutcome(status15)).toEqual({ kind: 'status', ...fields })
})

test('an engine that failed says which it was, why, and what to do', () => {
  const cause = new TypeError('the mapping is gone')
  const error = new EngineFailedError('cuda', cause)
  expect(error.message).toBe(
    "The engine 'cuda' lost its transport: the mapping is gone\n" +
      '  Try: see the cause; open the transport and the controller again',
  )
  expect(error).toMatchObject({
    code: 'ERR_GPUNVME_ENGINE_FAILED',
    category: 'device',
    name: 'EngineFailedError',
    cause,
  })
  expect(new EngineFailedError('cuda', cause, 'end this process').message).toMatch(/\n {2}Try: end this process$/)
  expect(new EngineFailedError('host', 'no words').message).toContain("'host' lost its transport: no words\n")
})
