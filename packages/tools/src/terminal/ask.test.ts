import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { InterruptedError } from '../command-line/interrupt.js'
import { ask } from './ask.js'

/** A terminal on which keys are pressed. */
function pressing(keys: string): { stdin: PassThrough; stderr: PassThrough } {
  const [stdin, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })]
  stdin.write(keys)
  return { stdin, stderr }
}

test('the answer is the line without blanks around it, and the end of input is the empty answer', async () => {
  expect(await ask('Which? ', pressing('  S1 \r'))).toBe('S1')
  expect(await ask('Which? ', pressing('\r'))).toBe('')
  expect(await ask('Which? ', pressing('\x04'))).toBe('')
})

test('Ctrl-C while a question is asked interrupts, and is no answer', async () => {
  const asked = ask('Which? ', pressing('S1\x03'), new AbortController().signal)
  await expect(asked).rejects.toThrow(InterruptedError)
  await expect(ask('Which? ', pressing('\x03'))).rejects.toMatchObject({ category: 'interrupted' })
})

test('the signal of the session ends a question with its reason, before it is asked and after', async () => {
  const stop = new AbortController()
  const asked = ask('Which? ', pressing(''), stop.signal)
  stop.abort(new InterruptedError('SIGTERM'))
  await expect(asked).rejects.toThrow('Interrupted by SIGTERM')
  await expect(ask('Which? ', pressing('S1\r'), stop.signal)).rejects.toThrow('Interrupted by SIGTERM')
})
