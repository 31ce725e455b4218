import { describe, expect, test } from 'vitest'
import { ascii, ggufHead, safetensors, u64 } from '../../test/formats/bytes.js'
import { memorySource, openModel, UnknownFormatError } from './index.js'

describe('openModel detects the format by content:', () => {
  test('a GGUF by its magic', async () => {
    expect((await openModel(memorySource(ggufHead(0, 0)))).format).toBe('gguf')
  })

  test('a safetensors file by its header length and brace', async () => {
    expect((await openModel(memorySource(safetensors('{}')))).format).toBe('safetensors')
  })

  test.each([
    ['an empty file', '', 'it is empty'],
    ['a file of 7 bytes', 'abcdefg', '61 62 63 64 65 66 67 "abcdefg"'],
    ['a zipped PyTorch checkpoint', 'PK\x03\x04rest of it', 'Try: convert it to safetensors'],
    ['a Git LFS pointer', 'version https://git-lfs.github.com/spec/v1', 'Try: run git lfs pull'],
    ['a web page', '<!DOCTYPE html>', 'Try: download the file again'],
    ['the magic in lower case', 'gguf\x03\0\0\0\0\0\0\0', '67 67 75 66 03 00 00 00 00 "gguf....."'],
  ])('%s is neither', async (_, content, message) => {
    const error: unknown = await openModel(memorySource(ascii(content), 'x.bin')).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UnknownFormatError)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_UNKNOWN_FORMAT', sourceName: 'x.bin' })
    expect((error as Error).message).toContain(message)
  })

  test('an impossible header length without a brace is not safetensors', async () => {
    await expect(openModel(memorySource(u64(2n ** 63n)))).rejects.toBeInstanceOf(UnknownFormatError)
  })
})

test('openModel rejects a limit that is not a non-negative integer', async () => {
  const open = (maxTensors: number): Promise<unknown> =>
    openModel(memorySource(ggufHead(0, 0)), { limits: { maxTensors } })
  await expect(open(NaN)).rejects.toThrow('limits.maxTensors: expected an integer of at least 0, got NaN')
  await expect(open(-1)).rejects.toThrow(RangeError)
})

test('openModel does not close the source of a malformed model', async () => {
  let closed = false
  const memory = memorySource(ascii('neither'))
  const source = { ...memory, close: () => ((closed = true), Promise.resolve()) }
  await expect(openModel(source)).rejects.toThrow()
  expect(closed).toBe(false)
})
