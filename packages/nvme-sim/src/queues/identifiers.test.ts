import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { textsOf } from '../../test/diagnostics.js'
import { prps, ready, type TestHost } from '../../test/host.js'
import type { FaultPlan } from '../index.js'

/** Puts Reads with these identifiers into SQ 1, rings once for all of them, and waits for their completions. */
async function readTogether(host: TestHost, cids: readonly number[]): Promise<string[]> {
  const memory = host.alloc(4096)
  for (const cid of cids) host.stage(1, { ...transfer(0x02, 0, 8, prps(host, memory)), cid })
  host.ringTail(1)
  return (await host.collect(1, cids.length)).map(({ status }) => status)
}

const reused = 'host put CID 0x5 into SQ 1 while CID 0x5 of SQ 1 is in flight'

describe('The combination of CID and SQID is unique among the commands in flight (Base 2.3 §4.1.1)', () => {
  it('each command that repeats one is reported, and carried out none the less', async () => {
    const host = await ready()
    expect(await readTogether(host, [5, 5, 5, 5, 5])).toEqual(Array<string>(5).fill('0/00'))
    expect(textsOf(host.simulation.diagnostics)).toEqual([reused, reused, reused, reused])
  })

  it('a CID is free again with its completion, and the same CID in another queue is another command', async () => {
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

  it('a reset ends what is in flight', async () => {
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
    // It hangs as well, and is in flight for as long as nothing ends it.
    host.submit(1, { opcode: 0x00, nsid: 1, cid: 5 })
    await host.pass(1e9)
    expect(textsOf(host.simulation.diagnostics)).toEqual([reused])
  })

  it('an Asynchronous Event Request is in flight until it is answered', async () => {
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
    ['named another', { rules: [{ match: { qid: 1, nth: 1 }, action: { kind: 'corrupt-cid', xor: 0x40 } }] }],
  ])('reusing the CID of a command whose completion %s is no mistake', async (_, faults) => {
    const host = await ready({ faults })
    host.submit(1, { opcode: 0x00, nsid: 1, cid: 5 })
    await host.pass(1e9)
    host.submit(1, { opcode: 0x00, nsid: 1, cid: 5 })
    await host.pass(1e9)
    expect(host.simulation.diagnostics).toEqual([])
  })
})
