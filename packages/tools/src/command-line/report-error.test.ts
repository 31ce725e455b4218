import { expect, test } from 'vitest'
import { testIo } from '../../test/gpunvme.js'
import { Output } from '../terminal/output.js'
import { reportError } from './report-error.js'
import { UsageError } from './tools-error.js'

const NPX = { npm_command: 'exec', PATH: '/p/node_modules/.bin' }

function report(error: unknown) {
  const io = testIo()
  const code = reportError(new Output({}, io), error)
  return { code, text: io.stderrText() }
}

test('a coded error is printed with facts and next step, without a stack', () => {
  const { code, text } = report(new UsageError('No such thing', { facts: ['a fact'], next: 'another' }))
  expect([code, text]).toEqual([2, 'No such thing\n  a fact\n  Try: another\n'])
})

test('control characters and line breaks in a message are escaped', () => {
  const { text } = report(new UsageError('No a\u001b[31m\nError: b', { facts: ['c\u202ed'] }))
  expect(text).toBe('No a\\u{1b}[31m\\u{a}Error: b\n  c\\u{202e}d\n')
})

test('a system error is printed with path and next step, and has the matching exit code', () => {
  const refusal = (code: string) => Object.assign(new Error(`${code}: refused`), { code, syscall: 'open', path: 'x' })
  expect(report(refusal('EACCES')).code).toBe(4)
  expect(report(refusal('ENOENT')).code).toBe(3)
  expect(report(refusal('ENOSPC'))).toEqual({
    code: 7,
    text: 'Cannot open x: no space left on the disk (ENOSPC)\n  Try: free space there, or use another disk\n',
  })
  expect(report(refusal('EWHAT'))).toEqual({ code: 1, text: 'Cannot open x: EWHAT\n' })
})

test('an unexpected error is printed with its stack and a request to report it', () => {
  const { code, text } = report(new RangeError('index out of bounds'))
  expect(code).toBe(1)
  expect(text).toMatch(/^RangeError: index out of bounds\n.*\n {4}at /)
  expect(text).toContain('Please report it: https://')
})

test('the next step is printed as the program was started', () => {
  const io = { ...testIo({ isRoot: false, env: NPX }), program: '/p/node_modules/.bin/gpunvme' }
  reportError(new Output({}, io), new UsageError('In use', { next: { command: ['unbind', 'nvme0'] } }))
  expect(io.stderrText()).toBe('In use\n  Try: sudo env "PATH=$PATH" npx gpunvme unbind nvme0\n')
})

test('with --json an error is one object on stdout with message and next step', () => {
  const io = testIo()
  const error = new UsageError('No such thing', { facts: ['a fact'], next: { command: ['list'] } })
  reportError(new Output({ json: true }, io), error)
  expect(JSON.parse(io.stdoutText())).toEqual({
    schema: 'gpunvme.error/1',
    error: {
      code: 'ERR_GPUNVME_USAGE',
      category: 'usage',
      message: 'No such thing\n  a fact',
      next: 'gpunvme list',
    },
  })
})

test('the first failure is reported, not a later failure to close', async () => {
  const failing = async () => {
    await using resource = { [Symbol.asyncDispose]: () => Promise.reject(new Error('cannot be closed')) }
    throw new UsageError(`No such thing in ${typeof resource}`)
  }
  const thrown: unknown = await failing().catch((error: unknown) => error)
  expect(thrown).toHaveProperty('name', 'SuppressedError')
  expect(report(thrown)).toEqual({ code: 2, text: 'No such thing in object\n' })
})
