import type { FaultAction, FaultMatch, FaultPlan } from '@gpunvme/nvme-spec/transport'
import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { CC, CFS, CSTS, RDY } from '../../conformance/raw-host/registers.js'
import { textsOf } from '../../test/diagnostics.js'
import { bytesOf, enabled, fillPattern, prps, ready, TestHost } from '../../test/host.js'

const plan = (match: FaultMatch, action: FaultAction): FaultPlan => ({ rules: [{ match, action }] })

/** Submits ten reads of one page each at LBA 0, 8, 16, …, with CIDs 0 to 9. Collects completions for ten seconds. */
async function tenReads(faults: FaultPlan) {
  const host = await ready({ faults, profile: 'ideal' })
  const memory = host.alloc(10 * 4096)
  bytesOf(memory).fill(0xa5)
  for (let i = 0; i < 10; i++)
    host.stage(1, { ...transfer(0x02, i * 8, 8, prps(host, memory, i * 4096, 4096)), cid: i })
  host.ringTail(1)
  const seen = []
  const endNs = host.clock.now() + 10e9
  while (host.clock.now() < endNs) {
    await host.clock.idle(endNs)
    seen.push(...host.poll(1))
  }
  expect(host.simulation.diagnostics).toEqual([])
  return { host, memory, seen, cids: seen.map(({ cid }) => cid), faults: host.simulation.faults }
}

const without = (...gone: number[]) => Array.from({ length: 10 }, (_, i) => i).filter((i) => !gone.includes(i))

it('drop-completion: the command is executed and its entry consumed, but no completion is posted', async () => {
  const { cids, seen, memory } = await tenReads(plan({ qid: 1, nth: 4 }, { kind: 'drop-completion' }))
  expect(cids).toEqual(without(3))
  expect(seen.at(-1)!.sqhd).toBe(10)
  expect(bytesOf(memory).every((byte) => byte === 0)).toBe(true)
})

it('delay-completion: posts the completion after the delay, behind later ones', async () => {
  const { cids, seen } = await tenReads(plan({ qid: 1, nth: 1 }, { kind: 'delay-completion', delayNs: 5e6 }))
  expect(cids).toEqual([...without(0), 0])
  expect(seen[9]!.atNs - seen[8]!.atNs).toBe(5e6)
})

it('duplicate-completion: posts the same entry twice, in two queue slots', async () => {
  const { cids } = await tenReads(plan({ qid: 1, nth: 2 }, { kind: 'duplicate-completion' }))
  expect(cids).toEqual([0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

it('status: the command fails with the given status and transfers no data', async () => {
  const { seen, memory } = await tenReads(
    plan({ qid: 1, opcode: 2, nth: 3 }, { kind: 'status', sct: 2, sc: 0x81, dnr: true }),
  )
  expect(seen.find(({ cid }) => cid === 2)).toMatchObject({ status: '2/81', dnr: true })
  expect(seen.filter(({ status }) => status !== '0/00')).toHaveLength(1)
  expect(bytesOf(memory, 2 * 4096, 4096).every((byte) => byte === 0xa5)).toBe(true)
})

it('stale-completion: posts an earlier entry again', async () => {
  const { cids, faults } = await tenReads(plan({ atNs: 5e9 }, { kind: 'stale-completion', qid: 1, back: 3 }))
  expect(cids).toEqual([...without(), 7])
  expect(faults.hits).toEqual([1])
})

it('stale-completion: does not apply if the entry was not posted or the queue does not exist', async () => {
  const rules = [
    { match: { qid: 1, nth: 1 }, action: { kind: 'stale-completion', qid: 1, back: 1 } },
    { match: { qid: 1, nth: 10 }, action: { kind: 'stale-completion', qid: 1, back: 1000 } },
    { match: { qid: 1, nth: 2 }, action: { kind: 'stale-completion', qid: 7, back: 1 } },
  ] as const
  const { cids, faults } = await tenReads({ rules })
  expect(cids).toEqual(without())
  expect(faults.hits).toEqual([0, 0, 0])
})

it('stale-completion: posts an entry of the previous lap with the current Phase Tag', async () => {
  const host = await ready({ faults: plan({ atNs: 1e9 }, { kind: 'stale-completion', qid: 1, back: 3 }) }, 4)
  for (let cid = 0; cid < 5; cid++) {
    host.stage(1, { ...transfer(0x02, 0, 8, prps(host, host.alloc(4096))), cid })
    host.ringTail(1)
    await host.pass(1000)
    expect(host.poll(1).map((each) => each.cid)).toEqual([cid])
  }
  await host.pass(2e9)
  expect(host.poll(1).map((each) => each.cid)).toEqual([2])
  expect(host.simulation.diagnostics).toEqual([])
})

it('async-event: completes a request, even if the event is disabled; does not apply without a request', async () => {
  const event = { kind: 'async-event', aet: 2, aei: 0, lid: 4 } as const
  const rules = [1e9, 2e9, 3e9].map((atNs) => ({ match: { atNs }, action: event }))
  const host = await enabled({ faults: { rules } })
  for (const cid of [7, 8]) host.stage(0, { opcode: 0x0c, cid })
  host.ringTail(0)
  await host.pass(4e9)
  // Base 2.1 Figure 147: the type in bits 2:0, the information in bits 15:8, the log page in bits 23:16.
  expect(host.poll(0)).toMatchObject([
    { cid: 7, dw0: 0x04_00_02, status: '0/00' },
    { cid: 8, dw0: 0x04_00_02, status: '0/00' },
  ])
  expect(host.simulation.faults.hits).toEqual([1, 1, 0])
})

it('corrupt-cid: the completion has another CID', async () => {
  const { cids } = await tenReads(plan({ qid: 1, nth: 6 }, { kind: 'corrupt-cid', xor: 0x8000 }))
  expect(cids).toEqual([0, 1, 2, 3, 4, 0x8005, 6, 7, 8, 9])
})

it('corrupt-data: changes one byte of the data of a Read, which succeeds', async () => {
  const { memory, seen } = await tenReads(plan({ lba: [24, 24] }, { kind: 'corrupt-data', byte: 4095, xor: 0x81 }))
  const wrong = [...bytesOf(memory).entries()].filter(([, byte]) => byte !== 0)
  expect(wrong).toEqual([[3 * 4096 + 4095, 0x81]])
  expect(seen.every(({ status }) => status === '0/00')).toBe(true)
})

it('corrupt-data: changes no byte after the data of a Write with a separate metadata buffer', async () => {
  const faults = plan({ opcode: 1, qid: 1 }, { kind: 'corrupt-data', byte: 513, xor: 0xff })
  const host = await ready({ faults, namespaces: [{ metadataBytes: 8 }] })
  const [memory, metadata] = [host.alloc(512), host.alloc(8)]
  const mptr = metadata.iovaAt(0)
  expect((await host.command(1, { ...transfer(0x01, 0, 1, prps(host, memory)), mptr })).status).toBe('0/00')
  expect(host.simulation.faults.hits).toEqual([0])
  const next = host.alloc(512)
  expect((await host.command(1, { ...transfer(0x02, 1, 1, prps(host, next)), mptr })).status).toBe('0/00')
  expect(bytesOf(next).every((byte) => byte === 0)).toBe(true)
})

it('corrupt-data: changes one byte that a Write stores', async () => {
  const host = await ready({ faults: plan({ opcode: 1, qid: 1 }, { kind: 'corrupt-data', byte: 513, xor: 0xff }) })
  const memory = host.alloc(4096)
  await host.command(1, transfer(0x01, 0, 8, prps(host, memory)))
  await host.command(1, transfer(0x02, 0, 8, prps(host, memory)))
  expect([...bytesOf(memory).entries()].filter(([, byte]) => byte !== 0)).toEqual([[513, 0xff]])
})

it('fatal-status: sets CSTS.CFS, and no command completes until a reset', async () => {
  const { host, cids } = await tenReads(plan({ qid: 1, nth: 5 }, { kind: 'fatal-status' }))
  expect(cids).toEqual([])
  expect(host.bar.read32(CSTS)).toBe(RDY | CFS)
  await host.disable()
  await host.enable()
  await host.createPair(1, 8)
  expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe('0/00')
})

it('hang: the command does not complete until it is aborted, which a dropped completion does not allow', async () => {
  const { host, cids, memory } = await tenReads(plan({ qid: 1, nth: 3 }, { kind: 'hang' }))
  expect(cids).toEqual(without(2))
  expect(bytesOf(memory, 2 * 4096, 4096).every((byte) => byte === 0xa5)).toBe(true)
  expect(await host.admin({ opcode: 0x08, cdw: { 10: 1 | (2 << 16) } })).toMatchObject({ status: '0/00', dw0: 0 })
  expect(host.poll(1)).toMatchObject([{ cid: 2, status: '0/07' }])

  const dropped = await tenReads(plan({ qid: 1, nth: 3 }, { kind: 'drop-completion' }))
  expect(await dropped.host.admin({ opcode: 0x08, cdw: { 10: 1 | (2 << 16) } })).toMatchObject({ dw0: 1 })
})

it('reorder-completion: posts the completion after the given number of others', async () => {
  const { cids } = await tenReads(plan({ qid: 1, nth: 2 }, { kind: 'reorder-completion', behind: 3, atMostNs: 1e9 }))
  expect(cids).toEqual([0, 2, 3, 4, 1, 5, 6, 7, 8, 9])
})

it('reorder-completion: posts the completion once, after atMostNs, if too few others follow', async () => {
  const { cids, seen } = await tenReads(
    plan({ qid: 1, nth: 8 }, { kind: 'reorder-completion', behind: 3, atMostNs: 1e9 }),
  )
  expect(cids).toEqual([...without(7), 7])
  expect(seen[9]!.atNs - seen[8]!.atNs).toBe(1e9)
})

it('reorder-completion: several delayed completions are reordered among themselves', async () => {
  const { cids } = await tenReads({
    rules: [
      { match: { qid: 1, nth: 1 }, action: { kind: 'reorder-completion', behind: 2, atMostNs: 1e9 } },
      { match: { qid: 1, nth: 2 }, action: { kind: 'reorder-completion', behind: 1, atMostNs: 1e9 } },
    ],
  })
  expect(cids.slice(0, 4)).toEqual([2, 1, 0, 3])
})

it('reorder-completion: a command that Abort ends meanwhile completes once', async () => {
  const rule = { match: { qid: 1, nth: 1 }, action: { kind: 'reorder-completion', behind: 1, atMostNs: 1e9 } } as const
  const host = await ready({ faults: { rules: [rule] } })
  host.submit(1, { opcode: 0, nsid: 1, cid: 7 })
  await host.pass(1000)
  await host.admin({ opcode: 0x08, cdw: { 10: 1 | (7 << 16) } })
  await host.pass(2e9)
  expect(host.poll(1)).toMatchObject([{ cid: 7, status: '0/07' }])
})

it('duplicate-completion: both entries are equal even if the first one releases a delayed completion', async () => {
  const { cids } = await tenReads({
    rules: [
      { match: { qid: 1, nth: 1 }, action: { kind: 'reorder-completion', behind: 1, atMostNs: 1e9 } },
      { match: { qid: 1, nth: 2 }, action: { kind: 'duplicate-completion' } },
    ],
  })
  expect(cids.slice(0, 4)).toEqual([1, 0, 1, 2])
})

it('status: with Do Not Retry, More and a Command Retry Delay', async () => {
  const action = { kind: 'status', sct: 0, sc: 0x21, dnr: true, more: true, crd: 2 } as const
  const { host } = await tenReads(plan({ qid: 1, nth: 1 }, action))
  // DW3 of entry 0: DNR 31, M 30, CRD 29:28 = 2, SCT 27:25, SC 24:17, P 16, CID 0.
  expect(host.cqs.get(1)!.memory.view.getUint32(12, true)).toBe(0xe043_0000)
})

it('status: a simulated success looks like any other, but transfers no data', async () => {
  const { host, memory } = await tenReads(plan({ qid: 1, nth: 1 }, { kind: 'status', sct: 0, sc: 0 }))
  expect(host.cqs.get(1)!.memory.view.getUint32(12, true)).toBe(0x0001_0000)
  expect(memory.view.getUint32(0, true)).toBe(0xa5a5_a5a5)
})

it('corrupt-sqhd and corrupt-sqid: change only their field of the entry', async () => {
  const { seen } = await tenReads({
    rules: [
      { match: { qid: 1, nth: 2 }, action: { kind: 'corrupt-sqhd', xor: 0x0100 } },
      { match: { qid: 1, nth: 3 }, action: { kind: 'corrupt-sqid', xor: 0x0006 } },
    ],
  })
  expect(seen.map(({ sqid }) => sqid)).toEqual([1, 1, 7, 1, 1, 1, 1, 1, 1, 1])
  expect(seen[1]!.sqhd ^ 0x0100).toBe(seen[2]!.sqhd)
  expect(seen.map(({ cid }) => cid)).toEqual(without())
})

it('corrupt-phase: the host sees neither that entry nor any after it', async () => {
  const { host, cids } = await tenReads(plan({ qid: 1, nth: 5 }, { kind: 'corrupt-phase' }))
  expect(cids).toEqual([0, 1, 2, 3])
  // The sixth entry has a valid Phase Tag, but the host stops at the fifth.
  expect(host.cqs.get(1)!.memory.view.getUint32(5 * 16 + 12, true)).toBe(0x0001_0005)
})

it('corrupt-data: changes bits of adjacent bytes, and data of an Admin command', async () => {
  const { memory } = await tenReads(plan({ lba: [0, 0] }, { kind: 'corrupt-data', byte: 10, xor: [1, 0, 0x80] }))
  expect([...bytesOf(memory, 0, 16)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x80, 0, 0, 0])

  const host = await ready({ faults: plan({ qid: 0, opcode: 6 }, { kind: 'corrupt-data', byte: 4, xor: 0x20 }) })
  const answer = host.alloc(4096)
  await host.admin({ opcode: 6, prp1: answer.iovaAt(0), cdw: { 10: 1 } })
  // Serial Number, from byte 4, is 'GPUNVME-SIM-1'; its G becomes g.
  expect(String.fromCharCode(...bytesOf(answer, 4, 13))).toBe('gPUNVME-SIM-1')
  expect(host.simulation.faults.hits).toEqual([1])
})

it('torn-dma: a part of the data of a Read does not arrive, but the Read succeeds', async () => {
  const { memory, seen } = await tenReads(plan({ lba: [0, 0] }, { kind: 'torn-dma', fromByte: 512, toByte: 1024 }))
  const untouched = [...bytesOf(memory).entries()].filter(([, byte]) => byte === 0xa5).map(([at]) => at)
  expect([untouched[0], untouched.at(-1), untouched.length]).toEqual([512, 1023, 512])
  expect(seen.every(({ status }) => status === '0/00')).toBe(true)
})

it('torn-dma: a Write stores only the first bytes', async () => {
  const host = await ready({ faults: plan({ opcode: 1 }, { kind: 'torn-dma', fromByte: 1536 }) })
  const memory = host.alloc(4096)
  bytesOf(memory).fill(0x77)
  await host.command(1, transfer(0x01, 0, 8, prps(host, memory)))
  await host.command(1, transfer(0x02, 0, 8, prps(host, memory)))
  expect(bytesOf(memory, 0, 1536).every((byte) => byte === 0x77)).toBe(true)
  expect(bytesOf(memory, 1536).every((byte) => byte === 0)).toBe(true)
})

describe('wrong-page', () => {
  /** Writes and reads four pages of a pattern. Returns which page of the pattern each page of memory then contains. */
  async function fourPages(opcode: 1 | 2) {
    const faults = plan({ opcode, qid: 1 }, { kind: 'wrong-page', page: 1, to: 3 })
    const host = await ready({ faults })
    const [pattern, memory] = [host.alloc(16384, true), host.alloc(16384, true)]
    fillPattern(pattern)
    bytesOf(memory).fill(0xa5)
    const before = bytesOf(pattern).slice()
    await host.command(1, transfer(0x01, 0, 32, prps(host, pattern)))
    await host.command(1, transfer(0x02, 0, 32, prps(host, memory)))
    expect(bytesOf(pattern)).toEqual(before)
    expect(host.simulation.faults.hits).toEqual([1])
    const page = (of: typeof memory, index: number) => Buffer.from(bytesOf(of, index * 4096, 4096)).toString('hex')
    const known = [0, 1, 2, 3].map((index) => page(pattern, index))
    return [0, 1, 2, 3].map((index) => known.indexOf(page(memory, index)))
  }

  it('of a Read: transfers the page to the address of another, and leaves its own unchanged', async () => {
    expect(await fourPages(2)).toEqual([0, -1, 2, 1])
  })

  it('of a Write: fills the page with data of another', async () => {
    expect(await fourPages(1)).toEqual([0, 3, 2, 3])
  })

  it('of a Read into pages of different lengths: transfers no byte to the original page', async () => {
    const host = await ready({ faults: plan({ opcode: 2, qid: 1 }, { kind: 'wrong-page', page: 1, to: 0 }) })
    const [pattern, memory] = [host.alloc(4096), host.alloc(8192, true)]
    fillPattern(pattern)
    bytesOf(memory).fill(0xa5)
    await host.command(1, transfer(0x01, 0, 8, prps(host, pattern)))
    // 512 bytes in the first page, 3584 in the second.
    await host.command(1, transfer(0x02, 0, 8, prps(host, memory, 3584, 4096)))
    expect(bytesOf(memory, 3584, 512)).toEqual(bytesOf(pattern, 512, 512))
    expect(bytesOf(memory, 4096, 4096)).toEqual(new Uint8Array(4096).fill(0xa5))
  })

  it('applies only to commands with both pages', async () => {
    const { faults } = await tenReads(plan({}, { kind: 'wrong-page', page: 0, to: 1 }))
    expect(faults.hits).toEqual([0])
  })
})

describe('register accesses', () => {
  it('lose-write: the next doorbell write makes up for a lost one', async () => {
    const { host, cids } = await tenReads(plan({ register: 'SQyTDBL', qid: 1, nth: 1 }, { kind: 'lose-write' }))
    expect(cids).toEqual([])
    expect(host.simulation.faults.injected).toMatchObject([{ rule: 0, kind: 'lose-write', where: 'write SQ1TDBL' }])
    host.ringTail(1)
    expect((await host.collect(1, 10)).map(({ cid }) => cid)).toEqual(without())
  })

  it('delay-write: delays the write and all later ones, in order', async () => {
    const { cids, seen } = await tenReads(plan({ register: 'SQyTDBL', qid: 1 }, { kind: 'delay-write', delayNs: 3e6 }))
    expect(cids).toEqual(without())
    expect(seen[0]!.atNs).toBe(3e6)
  })

  it('read-value: the host reads the given value `times` times', async () => {
    const host = await enabled({
      faults: plan({ register: 'CSTS', fromNs: 5, times: 2 }, { kind: 'read-value', value: 0xffff_ffff }),
    })
    await host.pass(5)
    expect([1, 2, 3].map(() => host.bar.read32(CSTS))).toEqual([0xffff_ffff, 0xffff_ffff, RDY])
  })

  it('count a 64-bit register as two accesses', () => {
    const host = new TestHost({ faults: plan({ register: 'ASQ', nth: 2 }, { kind: 'lose-write' }) })
    host.bar.write64(0x28, 0x1234_5678_9abc_d000n)
    expect(host.bar.read64(0x28)).toBe(0x9abc_d000n)
  })

  it('may trigger any fault of the controller', async () => {
    const host = await ready({ faults: plan({ register: 'SQyTDBL', qid: 1, nth: 1 }, { kind: 'fatal-status' }) })
    host.submit(1, { opcode: 0, nsid: 1 })
    expect(host.bar.read32(CSTS)).toBe(RDY | CFS)
  })
})

describe('CC.EN', () => {
  it('ready-never-rises: CSTS.RDY stays 0 until a function reset', async () => {
    const host = await enabled({ faults: plan({ nth: 1 }, { kind: 'ready-never-rises' }) })
    expect(host.bar.read32(CSTS)).toBe(0)
    await host.simulation.transport.reset!('function')
    await host.enable()
    expect(host.bar.read32(CSTS)).toBe(RDY)
  })

  it('ready-never-falls: CSTS.RDY stays 1 after CC.EN = 0', async () => {
    const host = await ready({ faults: plan({}, { kind: 'ready-never-falls' }) })
    await expect(host.disable()).rejects.toThrow('expected CSTS & 1h = 0h within 10000 ms, got CSTS 1h')
  })
})

describe('rules with a time', () => {
  it('fatal-status: applies at atNs', async () => {
    const host = await ready({ faults: plan({ atNs: 1e9 }, { kind: 'fatal-status' }) })
    await host.pass(1e9 - 1)
    expect(host.bar.read32(CSTS)).toBe(RDY)
    await host.pass(1)
    expect(host.bar.read32(CSTS)).toBe(RDY | CFS)
    expect(host.simulation.faults.injected).toEqual([{ atNs: 1e9, rule: 0, kind: 'fatal-status', where: 'time' }])
  })

  it('remove-device: all registers read all ones permanently', async () => {
    const host = await ready({ faults: plan({ atNs: 1e9 }, { kind: 'remove-device' }) })
    await host.pass(1e9)
    expect([host.bar.read32(CSTS), host.bar.read64(0)]).toEqual([0xffff_ffff, 0xffff_ffff_ffff_ffffn])
  })

  it('surprise-reset: CC and CSTS are 0; doorbell writes are not reported until the host reads CSTS', async () => {
    const host = await ready({ faults: plan({ atNs: 1e9 }, { kind: 'surprise-reset' }) })
    await host.pass(1e9)
    host.submit(1, { opcode: 0, nsid: 1 })
    expect([host.bar.read32(CC), host.bar.read32(CSTS)]).toEqual([0, 0])
    expect(host.simulation.diagnostics).toEqual([])
    host.submit(1, { opcode: 0, nsid: 1 })
    expect(textsOf(host.simulation.diagnostics)).toEqual(['host rang SQ 1 tail 2, but CSTS.RDY is 0'])
    await host.enable()
    expect((await host.admin({ opcode: 0x08 })).status).toBe('0/00')
  })

  it('detach-namespace, attach-namespace and resize-namespace: raise an event and take effect', async () => {
    const host = await ready({
      namespaces: [{ capacityBytes: 1024 * 512 }],
      faults: {
        rules: [
          { match: { atNs: 1e9 }, action: { kind: 'detach-namespace', nsid: 1 } },
          { match: { atNs: 2e9 }, action: { kind: 'attach-namespace', nsid: 1 } },
          { match: { atNs: 3e9 }, action: { kind: 'resize-namespace', nsid: 1, blocks: 100 } },
          { match: { atNs: 3e9 }, action: { kind: 'attach-namespace', nsid: 1 } },
        ],
      },
    })
    // Enables Attached Namespace Attribute Notices (Asynchronous Event Configuration, bit 8).
    await host.admin({ opcode: 0x09, cdw: { 10: 0x0b, 11: 1 << 8 } })
    host.submit(0, { opcode: 0x0c })
    await host.pass(1e9)
    // Type 2h Notice, 00h Attached Namespace Attribute Changed, log page 04h.
    expect(host.poll(0)).toMatchObject([{ status: '0/00', dw0: 0x0004_0002 }])
    const read = async (slba: number) => {
      const memory = host.alloc(4096)
      return (await host.command(1, transfer(0x02, slba, 1, prps(host, memory)))).status
    }
    expect(await read(0)).toBe('0/02')
    await host.pass(1e9)
    expect([await read(0), await read(100)]).toEqual(['0/00', '0/00'])
    await host.pass(1e9)
    expect([await read(99), await read(100)]).toEqual(['0/00', '0/80'])
    expect(host.simulation.faults.hits).toEqual([1, 1, 1, 0])
  })

  it('throttle: commands take longer for forNs', async () => {
    const action = { kind: 'throttle', factor: 10, forNs: 1e9 } as const
    const host = await ready({ profile: 'sn740', faults: plan({ atNs: 1e9 }, action) })
    const took = async () => {
      const startNs = host.clock.now()
      await host.command(1, { opcode: 0, nsid: 1 })
      return host.clock.now() - startNs
    }
    const usualNs = await took()
    await host.pass(1e9 - host.clock.now())
    expect(await took()).toBeGreaterThan(3 * usualNs)
    await host.pass(1e9)
    expect(await took()).toBeLessThan(3 * usualNs)
  })

  it('rules without atNs apply only inside their window', async () => {
    const { cids } = await tenReads(plan({ qid: 1, fromNs: 1 }, { kind: 'drop-completion' }))
    expect(cids).toEqual(without())
  })
})

describe('the commands to which a rule applies', () => {
  it.each([
    [{ every: 3 }, [2, 5, 8]],
    [{ nth: 2, every: 4 }, [1, 5, 9]],
    [{ every: 1, times: 2 }, [0, 1]],
    [{ nsid: 2 }, []],
    [{ opcode: 1 }, []],
  ])('match the conditions %j', async (match, affected) => {
    const { cids, faults } = await tenReads(plan({ qid: 1, ...match }, { kind: 'drop-completion' }))
    expect(cids).toEqual(without(...affected))
    expect(faults.injected.map(({ where }) => where)).toEqual(affected.map((cid) => `SQ 1 CID ${cid}`))
  })

  it('depend only on the seed for probability, not on other rules', async () => {
    const maybe = { match: { qid: 1, probability: 0.5 }, action: { kind: 'drop-completion' } } as const
    const delay = { match: { qid: 1, probability: 0.3 }, action: { kind: 'delay-completion', delayNs: 1e6 } } as const
    const alone = await tenReads({ rules: [maybe] })
    const besides = await tenReads({ rules: [delay, maybe] })
    expect(alone.cids.length).toBeGreaterThan(0)
    expect(alone.cids.length).toBeLessThan(10)
    expect(besides.cids.toSorted((a, b) => a - b)).toEqual(alone.cids)
  })

  it('may be affected by several kinds of action, each by its first matching rule', async () => {
    const { seen, faults } = await tenReads({
      rules: [
        { match: { qid: 1, nth: 1 }, action: { kind: 'delay-completion', delayNs: 5e6 } },
        { match: { qid: 1, nth: 1 }, action: { kind: 'corrupt-cid', xor: 0x4000 } },
        { match: { qid: 1, nth: 1 }, action: { kind: 'delay-completion', delayNs: 9e6 } },
      ],
    })
    expect(seen.at(-1)).toMatchObject({ cid: 0x4000, atNs: 5e6 })
    expect(faults.hits).toEqual([1, 1, 0])
  })
})

it.each([
  ['the first LBA', [0, 0], [0]],
  ['a range across commands', [15, 16], [1, 2]],
  ['unused LBAs', [80, 1000], []],
] as const)('a rule applies to commands that touch any of its LBAs: %s', async (_, lba, affected) => {
  expect((await tenReads(plan({ lba }, { kind: 'drop-completion' }))).cids).toEqual(without(...affected))
})

it('nth counts the commands that match the other conditions', async () => {
  const { cids } = await tenReads({
    rules: [
      { match: { qid: 1, lba: [40, 79], nth: 2 }, action: { kind: 'drop-completion' } },
      { match: { qid: 1, nth: 7 }, action: { kind: 'duplicate-completion' } },
    ],
  })
  expect(cids).toEqual(without(6))
})
