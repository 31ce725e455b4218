import { expect, test } from 'vitest'
import type { Plan } from '../transport.js'
import { AcceptedPlan } from './accepted-plan.js'

const plan = () => ({
  operation: 'read' as 'read' | 'write',
  ...{ nsid: 1, blockBytes: 512, commands: 2 },
  ...{ slba: Float64Array.of(8, 16), blocks: Uint32Array.of(1, 2) },
  ...{ offsetBytes: Float64Array.of(0, 512), queue: Uint16Array.of(0, 1) },
})

test('an accepted plan says what the plan said, and does not follow its changes', () => {
  const given = plan()
  const accepted = AcceptedPlan.of(given)
  expect(accepted).toEqual(new AcceptedPlan(plan()))
  given.operation = 'write'
  given.commands = 1
  for (const column of [given.slba, given.blocks, given.offsetBytes, given.queue]) column.fill(7)
  expect(accepted).toEqual(new AcceptedPlan(plan()))
})

test('a plan that was accepted before is not copied again', () => {
  const accepted = AcceptedPlan.of(plan())
  expect(AcceptedPlan.of(accepted)).toBe(accepted)
})

test('each property is read once', () => {
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
])('a plan whose %s is of another type is refused', (name, column, message) => {
  const wrong = { ...plan(), [name]: column } as unknown as Plan
  expect(() => AcceptedPlan.of(wrong)).toThrow(new TypeError(message))
})
