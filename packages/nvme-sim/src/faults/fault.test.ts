import type { FaultAction, FaultMatch, FaultPlan } from '@gpunvme/nvme-spec/transport'
import { expect, it } from 'vitest'
import { bytesOf, CFS, CSTS, prps, RDY, ready, transfer } from '../../test/host.js'

const plan = (match: FaultMatch, action: FaultAction): FaultPlan => ({ rules: [{ match, action }] })

/** Ten reads of one page each at LBA 0, 8, 16, …, with CIDs 0 to 9; what completes within ten seconds. */
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
  return { host, memory, seen, cids: seen.map(({ cid }) => cid) }
}

const without = (...gone: number[]) => Array.from({ length: 10 }, (_, i) => i).filter((i) => !gone.includes(i))

it('drop-completion: the command is done and its entry consumed, and nothing is posted', async () => {
  const { cids, seen, memory } = await tenReads(plan({ qid: 1, nth: 4 }, { kind: 'drop-completion' }))
  expect(cids).toEqual(without(3))
  expect(seen.at(-1)!.sqhd).toBe(10)
  expect(bytesOf(memory).every((byte) => byte === 0)).toBe(true)
})

it('delay-completion: it comes that much later, after others', async () => {
  const { cids, seen } = await tenReads(plan({ qid: 1, nth: 1 }, { kind: 'delay-completion', delayNs: 5e6 }))
  expect(cids).toEqual([...without(0), 0])
  expect(seen[9]!.atNs - seen[8]!.atNs).toBe(5e6)
})

it('duplicate-completion: the same entry twice, the second with the next Phase Tag position', async () => {
  const { cids } = await tenReads(plan({ qid: 1, nth: 2 }, { kind: 'duplicate-completion' }))
  expect(cids).toEqual([0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

it('status: the command fails so, and moves no data', async () => {
  const { seen, memory } = await tenReads(
    plan({ qid: 1, opcode: 2, nth: 3 }, { kind: 'status', sct: 2, sc: 0x81, dnr: true }),
  )
  expect(seen.find(({ cid }) => cid === 2)).toMatchObject({ status: '2/81', dnr: true })
  expect(seen.filter(({ status }) => status !== '0/00')).toHaveLength(1)
  expect(bytesOf(memory, 2 * 4096, 4096).every((byte) => byte === 0xa5)).toBe(true)
})

it('corrupt-cid: the completion names a command that may not exist', async () => {
  const { cids } = await tenReads(plan({ qid: 1, nth: 6 }, { kind: 'corrupt-cid', xor: 0x8000 }))
  expect(cids).toEqual([0, 1, 2, 3, 4, 0x8005, 6, 7, 8, 9])
})

it('corrupt-data: one byte of what a Read delivers is wrong, and its status is success', async () => {
  const { memory, seen } = await tenReads(plan({ lba: [24, 24] }, { kind: 'corrupt-data', byte: 4095, xor: 0x81 }))
  const wrong = [...bytesOf(memory).entries()].filter(([, byte]) => byte !== 0)
  expect(wrong).toEqual([[3 * 4096 + 4095, 0x81]])
  expect(seen.every(({ status }) => status === '0/00')).toBe(true)
})

it('corrupt-data: one byte of what a Write stores is wrong', async () => {
  const host = await ready({ faults: plan({ opcode: 1, qid: 1 }, { kind: 'corrupt-data', byte: 513, xor: 0xff }) })
  const memory = host.alloc(4096)
  await host.command(1, transfer(0x01, 0, 8, prps(host, memory)))
  await host.command(1, transfer(0x02, 0, 8, prps(host, memory)))
  expect([...bytesOf(memory).entries()].filter(([, byte]) => byte !== 0)).toEqual([[513, 0xff]])
})

it('fatal-status: CSTS.CFS is set and nothing more completes, until a reset', async () => {
  const { host, cids } = await tenReads(plan({ qid: 1, nth: 5 }, { kind: 'fatal-status' }))
  expect(cids).toEqual([])
  expect(host.bar.read32(CSTS)).toBe(RDY | CFS)
  await host.reset()
  await host.enable()
  await host.createPair(1, 8)
  expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe('0/00')
})

it.each([
  ['the first LBA', [0, 0], [0]],
  ['a range across commands', [15, 16], [1, 2]],
  ['no LBA that is used', [80, 1000], []],
] as const)('a rule strikes commands that touch any of its LBAs: %s', async (_, lba, struck) => {
  expect((await tenReads(plan({ lba }, { kind: 'drop-completion' }))).cids).toEqual(without(...struck))
})

it('nth counts the commands that the other conditions let through, and of two rules the first strikes', async () => {
  const { cids } = await tenReads({
    rules: [
      { match: { qid: 1, lba: [40, 79], nth: 2 }, action: { kind: 'drop-completion' } },
      { match: { qid: 1, nth: 7 }, action: { kind: 'duplicate-completion' } },
    ],
  })
  expect(cids).toEqual(without(6))
})
