import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { textsOf } from '../../test/diagnostics.js'
import { prps, ready, type TestHost } from '../../test/host.js'
import type { FaultPlan } from '../index.js'

/** Submits Reads with these CIDs to SQ 1 by one doorbell write, and returns their statuses. */
async function readTogether(host: TestHost, cids: readonly number[]): Promise<string[]> {
  const memory = host.alloc(4096)
  for (const cid of cids) host.stage(1, { ...transfer(0x02, 0, 8, prps(host, memory)), cid })
  host.ringTail(1)
  return (await host.collect(1, cids.length)).map(({ status }) => status)
}

const reused = 'host put CID 0x5 into SQ 1 while CID 0x5 of SQ 1 is in flight'

describe('CIDs of commands in flight are unique in each SQ (Base 2.3 §4.1.1)', () => {
  it('reports each command that repeats a CID, and executes it', async () => {
    const host = await ready()
    expect(await readTogether(host, [5, 5, 5, 5, 5])).toEqual(Array<string>(5).fill('0/00'))
    expect(textsOf(host.simulation.diagnostics)).toEqual([reused, reused, reused, reused])
  })

  it('a CID is free again after its completion, and may be in use in another queue', async () => {
    const host = await ready()
    await host.createPair(2, 8)
    for (let time = 0; time < 3; time++) await readTogether(host, [0, 31, 32, 5, 0xfffe, 0xffff])
    host.stage(1, { opcode: 0x00, nsid: 1, cid: 5 })
    host.stage(2, { opcode: 0x00, nsid: 1, cid: 5 })
    host.ringTail(1)
    host.ringTail(2)
    await host.collect(1, 1)
    await host.collect(2, 1)
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('a reset frees the CIDs of commands in flight', async () => {
    const hang: FaultPlan = { rules: [{ match: { qid: 1 }, action: { kind: 'hang' } }] }
    const host = await ready({ faults: hang })
    host.submit(1, { opcode: 0x00, nsid: 1, cid: 5 })
    await host.pass(1e9)
    await host.disable()
    await host.enable()
    await host.createPair(1, 8)
    host.submit(1, { opcode: 0x00, nsid: 1, cid: 5 })
    await host.pass(1e9)
    expect(host.simulation.diagnostics).toEqual([])
    // This command hangs too, and stays in flight.
    host.submit(1, { opcode: 0x00, nsid: 1, cid: 5 })
    await host.pass(1e9)
    expect(textsOf(host.simulation.diagnostics)).toEqual([reused])
  })

  it('an Asynchronous Event Request is in flight until it completes', async () => {
    const host = await ready()
    host.submit(0, { opcode: 0x0c, cid: 0x77 })
    await host.pass(1e9)
    host.submit(0, { opcode: 0x0c, cid: 0x77 })
    await host.pass(1e9)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host put CID 0x77 into SQ 0 while CID 0x77 of SQ 0 is in flight',
    ])
  })

  it.each<[string, FaultPlan]>([
    ['was dropped', { rules: [{ match: { qid: 1, nth: 1 }, action: { kind: 'drop-completion' } }] }],
    ['had another CID', { rules: [{ match: { qid: 1, nth: 1 }, action: { kind: 'corrupt-cid', xor: 0x40 } }] }],
  ])('does not report reuse of the CID of a command whose completion %s', async (_, faults) => {
    const host = await ready({ faults })
    host.submit(1, { opcode: 0x00, nsid: 1, cid: 5 })
    await host.pass(1e9)
    host.submit(1, { opcode: 0x00, nsid: 1, cid: 5 })
    await host.pass(1e9)
    expect(host.simulation.diagnostics).toEqual([])
  })
})
