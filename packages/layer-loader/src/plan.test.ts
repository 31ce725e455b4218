import { expect, test } from 'vitest'
import { planExtent } from './plan.js'

const shape = { nsid: 7, blockBytes: 512, maxTransferBytes: 65_536, queues: 2 }

test('a layer is read in commands as long as may be, dealt to the queues in turn', () => {
  const plan = planExtent(shape, { offsetBytes: 2 << 20, lengthBytes: 135_168 }, 4096)
  expect(plan).toEqual({
    operation: 'read',
    nsid: 7,
    blockBytes: 512,
    commands: 3,
    slba: Float64Array.of(4096, 4224, 4352),
    blocks: Uint32Array.of(128, 128, 8),
    offsetBytes: Float64Array.of(4096, 69_632, 135_168),
    queue: Uint16Array.of(0, 1, 0),
  })
})

test('an extent that ends inside a block is read to the end of the block, and no further', () => {
  const { blocks } = planExtent(shape, { offsetBytes: 2 << 20, lengthBytes: 513 })
  expect(Array.from(blocks)).toEqual([2])
})

test('an empty layer takes no command', () => {
  expect(planExtent(shape, { offsetBytes: 2 << 20, lengthBytes: 0 }).commands).toBe(0)
})
