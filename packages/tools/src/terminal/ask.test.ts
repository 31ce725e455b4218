import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { InterruptedError } from '../command-line/interrupt.js'
import { ask } from './ask.js'

/** A terminal that somebody presses keys on. */
function pressing(keys: string): { input: PassThrough; output: PassThrough } {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })]
  input.write(keys)
  return { input, output }
}

test('the answer is the line without blanks around it, and the end of input is the empty answer', async () => {
  expect(await ask('Which? ', undefined, pressing('  S1 \r'))).toBe('S1')
  expect(await ask('Which? ', undefined, pressing('\r'))).toBe('')
  expect(await ask('Which? ', undefined, pressing('\x04'))).toBe('')
})

test('Ctrl-C while a question is asked interrupts, and is no answer', async () => {
  const asked = ask('Which? ', new AbortController().signal, pressing('S1\x03'))
  await expect(asked).rejects.toThrow(InterruptedError)
  await expect(ask('Which? ', undefined, pressing('\x03'))).rejects.toMatchObject({ category: 'interrupted' })
})

test('the signal of the session ends a question with its reason, before it is asked and after', async () => {
  const stop = new AbortController()
  const asked = ask('Which? ', stop.signal, pressing(''))
  stop.abort(new InterruptedError('SIGTERM'))
  await expect(asked).rejects.toThrow('Interrupted by SIGTERM')
  await expect(ask('Which? ', stop.signal, pressing('S1\r'))).rejects.toThrow('Interrupted by SIGTERM')
})
