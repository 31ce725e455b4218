import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { InterruptedError } from './interrupt.js'
import { ask } from './ask.js'

/** Returns a terminal with this input. */
function pressing(keys: string): { stdin: PassThrough; stderr: PassThrough } {
  const [stdin, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })]
  stdin.write(keys)
  return { stdin, stderr }
}

test('ask returns the trimmed line, and an empty answer at the end of input', async () => {
  expect(await ask('Which? ', pressing('  S1 \r'))).toBe('S1')
  expect(await ask('Which? ', pressing('\r'))).toBe('')
  expect(await ask('Which? ', pressing('\x04'))).toBe('')
})

test('ask rejects with an interrupt on Ctrl-C', async () => {
  const asked = ask('Which? ', pressing('S1\x03'), new AbortController().signal)
  await expect(asked).rejects.toThrow(InterruptedError)
  await expect(ask('Which? ', pressing('\x03'))).rejects.toMatchObject({ category: 'interrupted' })
})

test('ask rejects with the reason of the signal before and during the question', async () => {
  const stop = new AbortController()
  const asked = ask('Which? ', pressing(''), stop.signal)
  stop.abort(new InterruptedError('SIGTERM'))
  await expect(asked).rejects.toThrow('Interrupted by SIGTERM')
  await expect(ask('Which? ', pressing('S1\r'), stop.signal)).rejects.toThrow('Interrupted by SIGTERM')
})
