import { expect, test } from 'vitest'
import { Addresses } from './addresses.js'
import { commandsPerPlan, PlanRing, ringBytes } from './plan-ring.js'
import type { Shape } from './shape.js'

const shape = (blockBytes: number, depth: number, jobs: number): Shape => ({
  rw: 'read',
  pattern: 'sequential',
  blockBytes,
  depth,
  jobs,
})

test('a plan fills all queues to their depth, and has many small commands', () => {
  expect(commandsPerPlan(shape(4096, 1, 1))).toBe(64)
  expect(commandsPerPlan(shape(4096, 32, 3))).toBe(960)
  expect(commandsPerPlan(shape(1024 * 1024, 32, 4))).toBe(128)
  expect(commandsPerPlan(shape(131_072, 32, 1))).toBe(64)
  expect(ringBytes(shape(131_072, 32, 1))).toBe(2 * 64 * 131_072)
})

test('commands of the ring have distinct offsets, and are divided evenly over the queues', () => {
  const of = shape(8192, 4, 2)
  const ring = new PlanRing(
    of,
    { nsid: 3, blockBytes: 512 },
    new Addresses(of, { firstBlock: 0, blocks: 1 << 20 }, 512, 1),
  )
  const offsets = ring.plans.flatMap(({ offsetBytes }) => [...offsetBytes])
  expect(new Set(offsets).size).toBe(offsets.length)
  expect(Math.max(...offsets)).toBe(ringBytes(of) - 8192)
  for (const { queue, nsid, operation, blocks } of ring.plans) {
    expect([nsid, operation]).toEqual([3, 'read'])
    expect(new Set(blocks)).toEqual(new Set([16]))
    expect(queue.filter((index) => index === 0)).toHaveLength(queue.length / 2)
  }
})

test('fill continues after the last address of the previous plan', () => {
  const of = shape(4096, 16, 1)
  const ring = new PlanRing(
    of,
    { nsid: 1, blockBytes: 4096 },
    new Addresses(of, { firstBlock: 0, blocks: 1 << 20 }, 4096, 1),
  )
  const [first, second] = ring.plans
  ring.fill(first!)
  ring.fill(second!)
  ring.fill(first!)
  expect([second!.slba[0], first!.slba[0], first!.slba[1023]]).toEqual([1024, 2048, 3071])
})
