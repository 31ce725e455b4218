import { expect, it } from 'vitest'
import { ready } from '../../test/host.js'

const rule = { match: { qid: 1, probability: 0.5 }, action: { kind: 'corrupt-sqhd', xor: 1 } } as const

/** Returns the CIDs, of 60 commands, to which each rule applied. */
async function matched(rules: readonly (typeof rule)[]): Promise<string[][]> {
  const host = await ready({ faults: { rules } })
  for (let cid = 0; cid < 60; cid++) host.stage(1, { opcode: 0, nsid: 1, cid })
  host.ringTail(1)
  await host.pass(1e6)
  const { injected } = host.simulation.faults
  return rules.map((_, index) => injected.filter((each) => each.rule === index).map(({ where }) => where))
}

it('equal rules use independent random streams, and the first applies as it would alone', async () => {
  const [[alone], [first, second]] = [await matched([rule]), await matched([rule, rule])]
  expect([alone!.length > 0, second!.length > 0]).toEqual([true, true])
  expect(second).not.toEqual(first)
  expect(first).toEqual(alone)
})
