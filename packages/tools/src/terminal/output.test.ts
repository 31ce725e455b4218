import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { Output } from './output.js'
import type { Io } from './io.js'

test('print supports a report of 200,000 lines', () => {
  let printed = ''
  const stdout = new Writable({
    write(chunk, _, done) {
      printed += String(chunk)
      done()
    },
  })
  const output = new Output({}, { stdout, env: {} } as unknown as Io)
  output.print(
    'first',
    Array.from({ length: 200_000 }, () => 'line'),
  )
  expect(printed.split('\n')).toHaveLength(200_002)
})
