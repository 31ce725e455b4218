import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { safetensors } from '../../test/formats/bytes.js'
import { memorySource, openModel } from '../formats/index.js'
import { Digests } from './digests.js'
import { layOut } from './lay-out.js'
import { piecesOf } from './pieces.js'

/** Length of one of three stacked experts. No slice after the first begins at a chunk or a piece. */
const SLICE_BYTES = 2_097_153

test('each slice of a stacked tensor has a CRC-32 across pieces; a tensor of one expert has one', async () => {
  const [stacked, alone, common] = ['ffn_up_exps.weight', 'experts.7.w', 'attn_q.weight'].map((name) => `blk.0.${name}`)
  const lengths = [3 * SLICE_BYTES, 5000, 6000]
  const [a, b, c] = [0, lengths[0]!, lengths[0]! + lengths[1]!]
  const header = JSON.stringify({
    [stacked!]: { dtype: 'U8', shape: [3, SLICE_BYTES], data_offsets: [a, b] },
    [alone!]: { dtype: 'U8', shape: [5000], data_offsets: [b, c] },
    [common!]: { dtype: 'U8', shape: [2, 3000], data_offsets: [c, c + 6000] },
  })
  const file = safetensors(header, c + 6000)
  const data = file.subarray(file.length - c - 6000)
  data.forEach((_, index) => (data[index] = (Math.imul(index, 2_654_435_761) >>> 13) & 0xff))
  const model = await openModel(memorySource(file))

  const plan = layOut(model, 'm', [])!
  const digests = new Digests(plan)
  for (const piece of piecesOf(model, plan)) {
    const bytes = new Uint8Array(piece.lengthBytes)
    for (const { source, sourceBytes, pieceBytes, lengthBytes } of piece.parts) {
      await source.read(sourceBytes, bytes.subarray(pieceBytes, pieceBytes + lengthBytes))
    }
    digests.add(piece, bytes)
  }
  const tensors = digests.complete(plan.manifest, 0).layers.flatMap((layer) => layer.tensors)
  const found = Object.fromEntries(tensors.map(({ name, sliceCrcs, sha256 }) => [name, { sliceCrcs, sha256 }]))
  const slice = (index: number) => data.subarray(index * SLICE_BYTES, (index + 1) * SLICE_BYTES)
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  expect(found).toEqual({
    [stacked!]: {
      sliceCrcs: Uint32Array.of(crc32(slice(0)), crc32(slice(1)), crc32(slice(2))),
      sha256: sha256(data.subarray(a, b)),
    },
    [alone!]: { sliceCrcs: Uint32Array.of(crc32(data.subarray(b, c))), sha256: sha256(data.subarray(b, c)) },
    [common!]: { sliceCrcs: undefined, sha256: sha256(data.subarray(c)) },
  })
})
