import fc from 'fast-check'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { describe, expect, test } from 'vitest'
import {
  array,
  ascii,
  concat,
  entry,
  ggufHead,
  info,
  padTo,
  safetensors,
  text,
  u32,
  u64,
  u8,
} from '../../test/formats/bytes.js'
import { openModel, type ByteSource, type FormatLimits } from './index.js'

const MIB = 1024 * 1024

/** Small, so that a reader that ignores one of them is seen to. */
const limits: Partial<FormatLimits> = {
  maxGgufHeaderBytes: MIB,
  maxSafetensorsHeaderBytes: MIB,
  maxEntryBytes: 64 * 1024,
  maxMetadataBytes: MIB,
}

/** A petabyte that begins with `bytes` and goes on with zeros, so that no length is refused for the file's size. */
function endless(bytes: Uint8Array, sizeBytes = 2 ** 50): ByteSource & { askedBytes: number } {
  const source = {
    name: 'hostile',
    sizeBytes,
    askedBytes: 0,
    read(offsetBytes: number, into: Uint8Array) {
      source.askedBytes += into.byteLength
      into.fill(0)
      if (offsetBytes < bytes.byteLength) into.set(bytes.subarray(offsetBytes, offsetBytes + into.byteLength))
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return source
}

/** Opens, and asserts the only two ways to end: a model that keeps its promises, or one of our own errors. */
async function openHostile(source: ByteSource & { askedBytes: number }): Promise<void> {
  try {
    const { tensors, parts } = await openModel(source, { limits })
    for (const { offsetBytes, lengthBytes } of tensors) {
      expect(offsetBytes).toBeGreaterThanOrEqual(parts[0].headerBytes)
      expect(offsetBytes + lengthBytes).toBeLessThanOrEqual(source.sizeBytes)
    }
  } catch (error) {
    if (!(error instanceof GpuNvmeError)) throw error
    expect(error.code).toMatch(/^ERR_GPUNVME_(GGUF|SAFETENSORS|UNKNOWN|MODEL_IN_PARTS)/)
  }
  // Every byte asked for has a buffer: the header, one window beyond it, and the prefix.
  expect(source.askedBytes).toBeLessThan(2 * MIB)
}

const validGguf = padTo(
  512,
  concat(
    ggufHead(3, 5),
    entry('general.architecture', 8, text('llama')),
    entry('general.alignment', 4, u32(32)),
    entry('flag', 7, u8(1)),
    entry('tokens', 9, array(8, 2), text('a'), text('b')),
    entry('nested', 9, array(9, 1), array(4, 1), u32(5)),
    info('token_embd.weight', [32, 2], 2, 0),
    info('blk.0.w', [4], 0, 64),
    info('blk.1.w', [4], 77, 96),
  ),
)

const validSafetensors = safetensors(
  '{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},' +
    '"model.layers.0.b":{"dtype":"F4","shape":[2,3],"data_offsets":[8,11]},"c\\u00e9":{"dtype":"NEW","shape":[],"data_offsets":[11,12]}}',
  12,
)

const interesting = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 1 }),
  fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 40n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n).map(u64),
  fc.constantFrom(0, 1, 8, 9, 77, 0xffff_ffff).map(u32),
)

describe.each([
  ['GGUF', validGguf],
  ['safetensors', validSafetensors],
])('a hostile %s', (_, valid) => {
  test('is the twin of one that opens', async () => {
    await expect(openModel(endless(valid, valid.byteLength))).resolves.toMatchObject({ tensors: { length: 3 } })
  })

  test.each([
    ['as long as it is', valid.byteLength],
    ['on an endless disk', 2 ** 50],
  ])('with one mutation, %s, opens or fails with our own error, in bounded memory', async (_, sizeBytes) => {
    const mutation = fc.tuple(fc.nat(valid.byteLength - 1), interesting)
    const property = fc.asyncProperty(mutation, async ([at, change]) => {
      const bytes = valid.slice()
      bytes.set(change.subarray(0, bytes.byteLength - at), at)
      await openHostile(endless(bytes, sizeBytes))
    })
    await fc.assert(property, { numRuns: 3000 })
  })

  test('cut off anywhere fails with our own error', async () => {
    for (let lengthBytes = 0; lengthBytes < valid.byteLength; lengthBytes++) {
      await openHostile(endless(valid.subarray(0, lengthBytes), lengthBytes))
    }
  })

  test('with a run of random bytes opens or fails with our own error, in bounded memory', async () => {
    const property = fc.asyncProperty(fc.nat(valid.byteLength), fc.uint8Array({ maxLength: 300 }), (at, random) =>
      openHostile(endless(concat(valid.subarray(0, at), random), 2 ** 50)),
    )
    await fc.assert(property, { numRuns: 1000 })
  })
})

test('random bytes are never anything but an error of ours', async () => {
  const property = fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), (bytes) =>
    openHostile(endless(bytes, bytes.byteLength)),
  )
  await fc.assert(property, { numRuns: 1000 })
})

describe('on an endless disk, a length is refused before it is allocated', () => {
  test.each([
    ['a string of a terabyte', entry('k', 8, u64(2 ** 40))],
    ['an array of 2^40 numbers', entry('k', 9, array(12, 2 ** 40))],
    ['an array of 2^40 strings', entry('k', 9, array(8, 2 ** 40))],
    ['an array of 2^40 arrays', entry('k', 9, array(9, 2 ** 40))],
    ['a few strings of a gigabyte', entry('k', 9, array(8, 3), u64(2 ** 30))],
  ])('%s', async (_, bytes) => {
    const source = endless(concat(ggufHead(0, 1), bytes))
    await expect(openModel(source, { limits })).rejects.toMatchObject({ code: 'ERR_GPUNVME_GGUF_LIMIT' })
    expect(source.askedBytes).toBeLessThan(MIB)
  })

  test('a safetensors header of a terabyte', async () => {
    const source = endless(concat(u64(2 ** 40), ascii('{')))
    await expect(openModel(source, { limits })).rejects.toMatchObject({ code: 'ERR_GPUNVME_SAFETENSORS_LIMIT' })
    expect(source.askedBytes).toBeLessThan(100)
  })
})
