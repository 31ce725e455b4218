import { expect, test } from 'vitest'
import { ImageContentError, parseImageJson } from './json.js'

const errorOf = (encoded: string | Uint8Array): unknown => {
  try {
    return parseImageJson('manifest', Buffer.from(encoded))
  } catch (error) {
    return error
  }
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test('parseImageJson accepts nesting of 16, and rejects deeper ones', () => {
  expect(errorOf(nested(16))).not.toBeInstanceOf(Error)
  expect(errorOf(nested(17))).toMatchObject({ expected: 'nesting of at most 16', got: '17' })
  expect(errorOf(nested(1_000_000))).toMatchObject({ got: '1000000' })
})

test('parseImageJson rejects too many values', () => {
  const error = errorOf(Buffer.alloc(16_000_001, ','))
  expect(error).toBeInstanceOf(ImageContentError)
  expect(error).toMatchObject({ expected: 'at most 16000000 values' })
})

test('parseImageJson does not count brackets, commas and quotes inside strings', () => {
  const text = `["${'['.repeat(100)}\\"${'['.repeat(100)}\\\\"]`
  expect(errorOf(text)).not.toBeInstanceOf(Error)
})

test('parseImageJson rejects a byte order mark', () => {
  expect(errorOf('\ufeff{}')).toMatchObject({ expected: 'JSON in UTF-8' })
})
