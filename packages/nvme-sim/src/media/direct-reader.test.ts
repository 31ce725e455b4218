import { closeSync, ftruncateSync, openSync, readdirSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { DirectReader } from './direct-reader.js'

const file = openSync(join(scratch(), 'image'), 'w+')
afterAll(() => closeSync(file))

const PART = 1 << 20
ftruncateSync(file, 2 * PART + 512)

it('reads data that was just written and not yet flushed, or returns undefined', () => {
  const reader = new DirectReader(file, PART)
  for (const value of [7, 9]) {
    writeSync(file, new Uint8Array(4096).fill(value), 0, 4096, 8192)
    const expected = new Uint8Array(PART)
    readSync(file, expected, 0, PART, 0)
    // Some file systems do not support direct I/O.
    expect(Buffer.compare(reader.read(0, PART) ?? expected, expected)).toBe(0)
  }
  reader.close()
})

it.each([
  ['an offset inside a block', 512, 4096],
  ['a part of a block', 0, 512],
  ['a range after the end of the file', 2 * PART, 4096],
])('returns undefined for %s', (_, offsetBytes, lengthBytes) => {
  const reader = new DirectReader(file, PART)
  expect(reader.read(offsetBytes, lengthBytes)).toBeUndefined()
  reader.close()
})

it.runIf(process.platform === 'linux')('close() closes its file, and later reads return undefined', () => {
  const before = readdirSync('/proc/self/fd').length
  const reader = new DirectReader(file, PART)
  reader.close()
  reader.close()
  expect(readdirSync('/proc/self/fd')).toHaveLength(before)
  expect(reader.read(0, PART)).toBeUndefined()
})
