import { FaultPlanError } from '@gpunvme/nvme-spec/faults'
import { describe, expect, it } from 'vitest'
import { simulate, type FaultPlan } from '../index.js'

it('exports the type of a fault plan', () => {
  const faults = { rules: [{ match: { opcode: 2 }, action: { kind: 'drop-completion' } }] } satisfies FaultPlan
  expect(simulate({ faults }).faults.hits).toEqual([0])
})

it('simulate() validates a fault plan of an untyped program', () => {
  const faults = { rules: [{ match: {}, action: { kind: 'torn' } }] } as unknown as FaultPlan
  expect(errorOf(() => simulate({ faults })).field).toBe('action.kind')
})

describe('faults of namespaces', () => {
  const namespaces = [{ nsid: 2, capacityBytes: 100 * 4096, blockBytes: 4096 }] as const
  it.each([
    [{ kind: 'detach-namespace', nsid: 3 }, 'action.nsid', 'the largest NSID of this drive is 2: this can never apply'],
    [{ kind: 'attach-namespace', nsid: 3 }, 'action.nsid', 'the largest NSID of this drive is 2: this can never apply'],
    [
      { kind: 'resize-namespace', nsid: 2, blocks: 801 },
      'action.blocks',
      'the whole drive holds only 800 blocks of the smallest format: this can never apply',
    ],
  ] as const)('are rejected if the drive cannot have the namespace: %j', (action, field, why) => {
    const faults: FaultPlan = { rules: [{ match: { atNs: 1 }, action }] }
    const refused = errorOf(() => simulate({ namespaces, faults }))
    expect(refused).toMatchObject({ rule: 0, field })
    expect(refused.message).toContain(why)
  })

  it('are accepted if the host can create or format the namespace', () => {
    const rules: FaultPlan['rules'] = [
      { match: { atNs: 1 }, action: { kind: 'attach-namespace', nsid: 3 } },
      { match: { atNs: 1 }, action: { kind: 'resize-namespace', nsid: 2, blocks: 800 } },
    ]
    expect(simulate({ namespaces, spareCapacityBytes: 4096, faults: { rules } }).faults.hits).toEqual([0, 0])
  })
})

describe('faults of queues', () => {
  const profile = 'sn740'
  it.each([
    [{ match: { qid: 17 }, action: { kind: 'hang' } }, 'match.qid'],
    [{ match: { atNs: 1 }, action: { kind: 'stale-completion', qid: 17, back: 1 } }, 'action.qid'],
  ] as const)('are rejected if the drive cannot have the queue: %j', (rule, field) => {
    const refused = errorOf(() => simulate({ profile, faults: { rules: [rule] } }))
    expect(refused).toMatchObject({ rule: 0, field })
    expect(refused.message).toContain('the largest queue identifier of this drive is 16: this can never apply')
  })

  it('are accepted for the last queue and for any writable doorbell', () => {
    const rules: FaultPlan['rules'] = [
      { match: { qid: 16 }, action: { kind: 'hang' } },
      { match: { register: 'SQyTDBL', qid: 17 }, action: { kind: 'lose-write' } },
    ]
    expect(simulate({ profile, faults: { rules } }).faults.hits).toEqual([0, 0])
  })
})

function errorOf(run: () => unknown): FaultPlanError {
  try {
    run()
  } catch (error) {
    if (error instanceof FaultPlanError) return error
    throw error
  }
  throw new Error('expected a FaultPlanError')
}
