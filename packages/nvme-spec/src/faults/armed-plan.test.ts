import { describe, expect, test } from 'vitest'
import { ArmedPlan } from './index.js'
import type { FaultMatch } from '../transport/index.js'

/** Returns which of `reads` reads of CSTS at 1 ns intervals, counted from 1, a rule with this match applies to. */
function affectedReads(match: Omit<FaultMatch, 'register'>, reads = 8): { affected: number[]; plan: ArmedPlan } {
  let nowNs = 0
  const action = { kind: 'read-value', value: 0xffff_ffff } as const
  const rules = [{ match: { register: 'CSTS', ...match }, action }]
  const plan = new ArmedPlan({ rules }, { seed: 1, now: () => nowNs })
  const affected: number[] = []
  for (let read = 1; read <= reads; read++, nowNs++) {
    const found = plan.matchAccess('read', 0x1c, 4)
    if (found === undefined) continue
    affected.push(read)
    plan.record(found, 'read-value')
  }
  return { affected, plan }
}

describe('a rule of an armed fault plan', () => {
  test.each<[string, Omit<FaultMatch, 'register'>, number[]]>([
    ['every match by default', {}, [1, 2, 3, 4, 5, 6, 7, 8]],
    ['the nth match alone, counted from 1', { nth: 3 }, [3]],
    ['each second match', { every: 2 }, [2, 4, 6, 8]],
    ['each third match, from the second on', { nth: 2, every: 3 }, [2, 5, 8]],
    ['the first N matches', { times: 2 }, [1, 2]],
    ['the first N of every second match', { every: 2, times: 3 }, [2, 4, 6]],
    ['matches from one time until another', { fromNs: 2, untilNs: 4 }, [3, 4]],
    ['the nth match within its time span', { fromNs: 2, untilNs: 7, nth: 2 }, [4]],
  ])('applies to %s', (_, match, expected) => {
    const { affected, plan } = affectedReads(match)
    expect(affected).toEqual(expected)
    expect(plan.report().hits).toEqual([expected.length])
    expect(plan.report().injected.map(({ atNs }) => atNs + 1)).toEqual(expected)
  })

  test('applies to matches with the given probability, the same ones for the same seed', () => {
    const { affected } = affectedReads({ probability: 0.25 }, 400)
    expect(affected.length).toBeGreaterThan(60)
    expect(affected.length).toBeLessThan(140)
    expect(affectedReads({ probability: 0.25 }, 400).affected).toEqual(affected)
  })

  test('applies to no write, no other register and no other queue', () => {
    const rules = [
      { match: { register: 'CSTS' }, action: { kind: 'read-value', value: 0 } },
      { match: { register: 'SQyTDBL', qid: 2 }, action: { kind: 'lose-write' } },
    ] as const
    const plan = new ArmedPlan({ rules }, { seed: 1, now: () => 0 })
    expect(plan.matchAccess('write', 0x1c, 4)).toBeUndefined()
    expect(plan.matchAccess('read', 0x14, 4)).toBeUndefined()
    expect(plan.matchAccess('write', 0x1008, 4)).toBeUndefined()
    expect(plan.matchAccess('write', 0x1014, 4)).toBeUndefined()
    expect(plan.matchAccess('write', 0x1010, 4)?.has('lose-write')).toBe(true)
  })
})
