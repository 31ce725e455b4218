import { closeSync, ftruncateSync, openSync, readdirSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { DirectReader } from './direct-reader.js'

const file = openSync(join(scratch(), 'image'), 'w+')
afterAll(() => closeSync(file))

const PART = 1 << 20
ftruncateSync(file, 2 * PART + 512)

it('reads what was written a moment ago and is not on the medium yet, or leaves it to others', () => {
  const reader = new DirectReader(file, PART)
  for (const value of [7, 9]) {
    writeSync(file, new Uint8Array(4096).fill(value), 0, 4096, 8192)
    const expected = new Uint8Array(PART)
    readSync(file, expected, 0, PART, 0)
    // Not every file system has direct I/O; where this one has none there is nothing to be wrong.
    expect(Buffer.compare(reader.read(0, PART) ?? expected, expected)).toBe(0)
  }
  reader.close()
})

it.each([
  ['an offset inside a block', 512, 4096],
  ['a part of a block', 0, 512],
  ['more than the file has', 2 * PART, 4096],
])('leaves %s to others', (_, offsetBytes, lengthBytes) => {
  const reader = new DirectReader(file, PART)
  expect(reader.read(offsetBytes, lengthBytes)).toBeUndefined()
  reader.close()
})

it.runIf(process.platform === 'linux')('closed, it leaves no file open, and reads no more', () => {
  const before = readdirSync('/proc/self/fd').length
  const reader = new DirectReader(file, PART)
  reader.close()
  reader.close()
  expect(readdirSync('/proc/self/fd')).toHaveLength(before)
  expect(reader.read(0, PART)).toBeUndefined()
})
