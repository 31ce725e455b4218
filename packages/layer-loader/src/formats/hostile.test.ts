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

/** Small limits, so that a reader that ignores one is detected. */
const limits: Partial<FormatLimits> = {
  maxGgufHeaderBytes: MIB,
  maxSafetensorsHeaderBytes: MIB,
  maxEntryBytes: 64 * 1024,
  maxMetadataBytes: MIB,
}

/** Returns a source of a petabyte that begins with `bytes`, so that no length exceeds the file. Counts bytes read. */
function endless(bytes: Uint8Array, sizeBytes = 2 ** 50): ByteSource & { readBytes: number } {
  const source = {
    name: 'hostile',
    sizeBytes,
    readBytes: 0,
    read(offsetBytes: number, into: Uint8Array) {
      source.readBytes += into.byteLength
      into.fill(0)
      if (offsetBytes < bytes.byteLength) into.set(bytes.subarray(offsetBytes, offsetBytes + into.byteLength))
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return source
}

/** Opens a source. Expects a model with tensors inside the file, or a coded error of the formats. */
async function openHostile(source: ByteSource & { readBytes: number }): Promise<void> {
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
  // Every byte read is buffered: the header, one window after it, and the prefix.
  expect(source.readBytes).toBeLessThan(2 * MIB)
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

describe.each([
  ['GGUF', validGguf],
  ['safetensors', validSafetensors],
])('openModel of a %s file', (_, valid) => {
  test('accepts the complete file', async () => {
    await expect(openModel(endless(valid, valid.byteLength))).resolves.toMatchObject({ tensors: { length: 3 } })
  })

  test('returns a model or a typed error for the file cut at any byte', async () => {
    for (let lengthBytes = 0; lengthBytes < valid.byteLength; lengthBytes++) {
      await openHostile(endless(valid.subarray(0, lengthBytes), lengthBytes))
    }
  })
})

describe('openModel of a petabyte rejects a length before it allocates memory:', () => {
  test.each([
    ['a string of a terabyte', entry('k', 8, u64(2 ** 40))],
    ['an array of 2^40 numbers', entry('k', 9, array(12, 2 ** 40))],
    ['an array of 2^40 strings', entry('k', 9, array(8, 2 ** 40))],
    ['an array of 2^40 arrays', entry('k', 9, array(9, 2 ** 40))],
    ['a few strings of a gigabyte', entry('k', 9, array(8, 3), u64(2 ** 30))],
  ])('%s', async (_, bytes) => {
    const source = endless(concat(ggufHead(0, 1), bytes))
    await expect(openModel(source, { limits })).rejects.toMatchObject({ code: 'ERR_GPUNVME_GGUF_LIMIT' })
    expect(source.readBytes).toBeLessThan(MIB)
  })

  test('a safetensors header of a terabyte', async () => {
    const source = endless(concat(u64(2 ** 40), ascii('{')))
    await expect(openModel(source, { limits })).rejects.toMatchObject({ code: 'ERR_GPUNVME_SAFETENSORS_LIMIT' })
    expect(source.readBytes).toBeLessThan(100)
  })
})
