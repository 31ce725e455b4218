import { expect, test } from 'vitest'
import { problemsOf, schemas } from './schema-check.js'

const error = { code: 'ERR_GPUNVME_X', category: 'usage', message: 'no' }
const drive = { transport: 'sim', simulated: true, profile: 'sn740' }
const rm = { name: 'm', fingerprint: 'f', generation: 2, freedBytes: 5, models: ['a'], place: 'x', drive }

test('a result that fits its schema has no problems', () => {
  expect(problemsOf({ schema: 'gpunvme.error/1', error: { ...error, next: 'x' } })).toEqual([])
  expect(problemsOf({ schema: 'gpunvme.rm/1', ...rm, drive: { members: [drive] } })).toEqual([])
})

test.each([
  [{ error: { ...error, category: 'other' } }, /^\/error\/category: expected one of .*, got "other"$/],
  [{ error: { ...error, message: 1 } }, /^\/error\/message: expected string, got 1$/],
  [{ error: { code: 'x', category: 'usage' } }, /^\/error\/message: missing$/],
  [{ error: { ...error, more: 1 } }, /^\/error\/more: not in the schema$/],
  [{ error: [] }, /^\/error: expected object, got \[\]$/],
  [{}, /^\/error: missing$/],
])('a result that does not fit has its problem: %j', (result, problem) => {
  expect(problemsOf({ schema: 'gpunvme.error/1', ...result })).toEqual([expect.stringMatching(problem)])
})

test('items of lists, constants and unknown schemas are checked', () => {
  expect(problemsOf({ schema: 'gpunvme.rm/1', ...rm, models: ['a', 7] })).toEqual(['/models/1: expected string, got 7'])
  expect(problemsOf({ schema: 'gpunvme.none/1' })).toEqual(['no schema gpunvme.none/1'])
  expect(schemas.get('gpunvme.rm/1')!.properties!['schema']).toEqual({ const: 'gpunvme.rm/1' })
})
