import { expect, test } from 'vitest'
import type { Plan } from '../transport.js'
import { AcceptedPlan } from './accepted-plan.js'

const plan = () => ({
  operation: 'read' as 'read' | 'write',
  ...{ nsid: 1, blockBytes: 512, commands: 2 },
  ...{ slba: Float64Array.of(8, 16), blocks: Uint32Array.of(1, 2) },
  ...{ offsetBytes: Float64Array.of(0, 512), queue: Uint16Array.of(0, 1) },
})

test('copies a plan, so that later changes of the plan have no effect', () => {
  const given = plan()
  const accepted = AcceptedPlan.of(given)
  expect(accepted).toEqual(new AcceptedPlan(plan()))
  given.operation = 'write'
  given.commands = 1
  for (const column of [given.slba, given.blocks, given.offsetBytes, given.queue]) column.fill(7)
  expect(accepted).toEqual(new AcceptedPlan(plan()))
})

test('does not copy an accepted plan again', () => {
  const accepted = AcceptedPlan.of(plan())
  expect(AcceptedPlan.of(accepted)).toBe(accepted)
})

test('reads each property once', () => {
  const given = plan()
  const reads: PropertyKey[] = []
  const watched = new Proxy<Plan>(given, {
    get(target, name) {
      reads.push(name)
      return target[name as keyof Plan]
    },
  })
  AcceptedPlan.of(watched)
  expect(reads.sort()).toEqual(Object.keys(given).sort())
})

test.each([
  ['queue', [0, 1], 'plan.queue: expected a Uint16Array, got Array'],
  ['slba', new BigUint64Array(2), 'plan.slba: expected a Float64Array, got BigUint64Array'],
  ['blocks', undefined, 'plan.blocks: expected a Uint32Array, got Undefined'],
])('rejects a plan whose %s has the wrong type', (name, column, message) => {
  const wrong = { ...plan(), [name]: column } as unknown as Plan
  expect(() => AcceptedPlan.of(wrong)).toThrow(new TypeError(message))
})
