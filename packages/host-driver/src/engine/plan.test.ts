import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTransfers, type PlanShape } from './plan.js'

const shape: PlanShape = { operation: 'read', nsid: 1, blockBytes: 512, maxTransferBytes: 1024 * 1024, queues: 1 }

test('splits a transfer at the maximum transfer size', () => {
  const plan = planTransfers(shape, [{ slba: 100, blocks: 5000, offsetBytes: 4096 }])
  expect([...plan.slba]).toEqual([100, 2148, 4196])
  expect([...plan.blocks]).toEqual([2048, 2048, 904])
  expect([...plan.offsetBytes]).toEqual([4096, 4096 + 1048576, 4096 + 2097152])
})

test('never gives a command more blocks than NLB can hold', () => {
  const plan = planTransfers({ ...shape, maxTransferBytes: 2 ** 30 }, [{ slba: 0, blocks: 65_537, offsetBytes: 0 }])
  expect([...plan.blocks]).toEqual([65_536, 1])
})

test('crosses no boundary, with as few commands as possible', () => {
  const bounded = { ...shape, boundaryBlocks: 3000 }
  const plan = planTransfers(bounded, [
    { slba: 2900, blocks: 6500, offsetBytes: 0 },
    { slba: 3000, blocks: 3000, offsetBytes: 0 },
    { slba: 10, blocks: 20, offsetBytes: 0 },
  ])
  expect([...plan.slba]).toEqual([2900, 3000, 5048, 6000, 8048, 9000, 3000, 5048, 10])
  expect([...plan.blocks]).toEqual([100, 2048, 952, 2048, 952, 400, 2048, 952, 20])
  expect([...plan.offsetBytes.subarray(0, 3)]).toEqual([0, 51_200, 1_099_776])
})

test('assigns commands to the queues in turn', () => {
  const plan = planTransfers({ ...shape, queues: 3 }, [{ slba: 0, blocks: 2048 * 5, offsetBytes: 0 }])
  expect([...plan.queue]).toEqual([0, 1, 2, 0, 1])
})

test.each([
  [{ slba: 0, blocks: 0, offsetBytes: 0 }],
  [{ slba: -1, blocks: 1, offsetBytes: 0 }],
  [{ slba: 0.5, blocks: 1, offsetBytes: 0 }],
  [{ slba: 2 ** 53 - 1, blocks: 1, offsetBytes: 0 }],
  [{ slba: 0, blocks: NaN, offsetBytes: 0 }],
])('rejects %o', (transfer) => {
  expect(() => planTransfers(shape, [transfer])).toThrow(RangeError)
})

test('covers every block of every transfer once, in memory order, within the maximum', () => {
  const transfer = fc.record({
    slba: fc.nat({ max: 2 ** 40 }),
    blocks: fc.integer({ min: 1, max: 30_000 }),
    offsetBytes: fc.nat({ max: 2 ** 40 }),
  })
  fc.assert(
    fc.property(
      fc.array(transfer, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(512, 4096),
      fc.integer({ min: 1, max: 512 }),
      fc.integer({ min: 1, max: 8 }),
      (transfers, blockBytes, pages, queues) => {
        const maxTransferBytes = pages * 4096
        const plan = planTransfers({ operation: 'read', nsid: 1, blockBytes, maxTransferBytes, queues }, transfers)
        let command = 0
        for (const { slba, blocks, offsetBytes } of transfers) {
          let done = 0
          for (; done < blocks; command++) {
            const sound =
              plan.slba[command] === slba + done &&
              plan.offsetBytes[command] === offsetBytes + done * blockBytes &&
              plan.blocks[command]! * blockBytes <= maxTransferBytes &&
              plan.queue[command]! < queues
            if (!sound) throw new Error(`command ${command} is wrong`)
            done += plan.blocks[command]!
          }
          expect(done).toBe(blocks)
        }
        expect(plan.commands).toBe(command)
      },
    ),
  )
})
