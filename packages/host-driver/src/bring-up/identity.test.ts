import { expect, test } from 'vitest'
import type { NamespaceHost } from '../namespace/host.js'
import { Namespace } from '../namespace/namespace.js'
import { namespaceFormat } from './identity.js'

const NSZE = 0
const NOIOB = 46
const LBAF0 = 128

/** Identify Namespace of 1,000,000 blocks: LBADS in bits 23:16 of LBA format 0. */
function identify(lbads: number, noiob: number): DataView {
  const data = new DataView(new ArrayBuffer(4096))
  data.setUint32(NSZE, 1_000_000, true)
  data.setUint16(NOIOB, noiob, true)
  data.setUint32(LBAF0, lbads << 16, true)
  return data
}

test.each([
  ['none stated', 9, 0, undefined],
  ['256 blocks of 512 bytes', 9, 256, 256],
  ['32 blocks of 4096 bytes', 12, 32, 32],
  ['one that is too close to help', 9, 127, undefined],
])('the boundary that commands should not cross (NOIOB): %s', (_, lbads, noiob, boundaryBlocks) => {
  expect(namespaceFormat(1, identify(lbads, noiob))).toMatchObject({ blocks: 1_000_000, boundaryBlocks })
})

test('plans of a namespace keep to its boundary', () => {
  const host = { queues: 1, maxTransferBytes: 1024 * 1024 } as NamespaceHost
  const plan = new Namespace(host, namespaceFormat(1, identify(9, 1024))).planReads([
    { slba: 1000, blocks: 2048, offsetBytes: 0 },
  ])
  expect([...plan.slba]).toEqual([1000, 1024, 2048])
  expect([...plan.blocks]).toEqual([24, 1024, 1000])
})
