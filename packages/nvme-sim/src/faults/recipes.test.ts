import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { prps, ready, TestHost } from '../../test/host.js'

// Faults for the tests of a driver, to copy. `ready` and the host it gives stand for your driver on
// `simulate({ faults })`; each test ends with what your driver has to cope with, and with a look at `faults.struck`,
// without which a test may pass because its fault never happened.

const READ = 0x02
const ALL_ONES = 0xffff_ffff

async function readsWith(faults: FaultPlan, count = 5) {
  const host = await ready({ faults, profile: 'sn740' })
  const memory = host.alloc(4096)
  for (let cid = 0; cid < count; cid++) host.stage(1, { ...transfer(READ, cid * 8, 8, prps(host, memory)), cid })
  host.ringTail(1)
  await host.pass(1e9)
  return { host, completions: host.poll(1), struck: host.simulation.faults.struck }
}

test('the third read is lost: a driver needs a time-out', async () => {
  const { completions, struck } = await readsWith({
    rules: [{ match: { opcode: READ, nth: 3 }, action: { kind: 'drop-completion' } }],
  })
  expect(completions.map(({ cid }) => cid)).not.toContain(2)
  expect(struck).toEqual([1])
})

test('a command hangs, and Abort ends it', async () => {
  const { host, struck } = await readsWith({
    rules: [{ match: { opcode: READ, nth: 1 }, action: { kind: 'hang' } }],
  })
  await host.admin({ opcode: 0x08, cdw: { 10: 1 | (0 << 16) } })
  expect(host.poll(1)).toMatchObject([{ cid: 0, status: '0/07' }])
  expect(struck).toEqual([1])
})

test('a completion comes twice: the second is nobody’s', async () => {
  const { completions, struck } = await readsWith({
    rules: [{ match: { opcode: READ, nth: 2 }, action: { kind: 'duplicate-completion' } }],
  })
  expect(completions.filter(({ cid }) => cid === 1)).toHaveLength(2)
  expect(struck).toEqual([1])
})

test('a completion of an earlier command is posted again, later: no command owns it', async () => {
  const { host, completions, struck } = await readsWith({
    rules: [{ match: { atNs: 9e8 }, action: { kind: 'stale-completion', qid: 1, back: 2 } }],
  })
  expect(completions).toHaveLength(6)
  expect(completions.at(-1)!.cid).toBe(completions.at(-3)!.cid)
  expect(host.simulation.diagnostics).toEqual([])
  expect(struck).toEqual([1])
})

test('events follow each other without end: every request completes at once', async () => {
  const again = { kind: 'async-event', aet: 2, aei: 0, lid: 4 } as const
  const host = await ready({ faults: { rules: [{ match: { qid: 0, opcode: 0x0c }, action: again }] } })
  for (let cid = 100; cid < 110; cid++) {
    host.stage(0, { opcode: 0x0c, cid })
    host.ringTail(0)
    await host.pass(1000)
  }
  // The request that is being fetched is not outstanding yet.
  expect(host.poll(0)).toHaveLength(9)
  expect(host.simulation.faults.struck).toEqual([9])
})

test('one LBA range cannot be read: Unrecovered Read Error, and retrying will not help', async () => {
  const { completions, struck } = await readsWith({
    rules: [{ match: { opcode: READ, lba: [8, 15] }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } }],
  })
  expect(completions.find(({ cid }) => cid === 1)).toMatchObject({ status: '2/81', dnr: true })
  expect(struck).toEqual([1])
})

test('a command in a hundred is slow, whichever: the seed decides', async () => {
  const slow: FaultPlan = {
    rules: [{ match: { qid: 1, probability: 0.01 }, action: { kind: 'delay-completion', delayNs: 5e6 } }],
  }
  const [one, other] = [await readsWith(slow, 60), await readsWith(slow, 60)]
  expect(one.completions).toEqual(other.completions)
})

test('CSTS.RDY never rises: a driver gives up after CAP.TO', async () => {
  const host = new TestHost({ faults: { rules: [{ match: {}, action: { kind: 'ready-never-rises' } }] } })
  expect(await host.enable()).toBe(0)
  expect(host.simulation.faults.struck).toEqual([1])
})

test('the controller fails half a second in: CSTS.CFS', async () => {
  const { host, struck } = await readsWith({ rules: [{ match: { atNs: 5e8 }, action: { kind: 'fatal-status' } }] })
  expect(host.bar.read32(0x1c) & 2).toBe(2)
  expect(struck).toEqual([1])
})

test('the device is pulled with commands in flight: all ones, and no completion', async () => {
  const { host, completions, struck } = await readsWith({
    rules: [{ match: { opcode: READ, nth: 3 }, action: { kind: 'remove-device' } }],
  })
  expect(host.bar.read32(0x1c)).toBe(ALL_ONES)
  expect(completions).toEqual([])
  expect(struck).toEqual([1])
})

test('a status register reads as all ones once, and the device is still there: look twice', () => {
  const host = new TestHost({
    faults: { rules: [{ match: { register: 'CSTS', times: 1 }, action: { kind: 'read-value', value: ALL_ONES } }] },
  })
  expect([host.bar.read32(0x1c), host.bar.read32(0x1c)]).toEqual([ALL_ONES, 0])
})

test('a doorbell is lost: commands wait until the next one rings', async () => {
  const { host, completions, struck } = await readsWith({
    rules: [{ match: { register: 'SQyTDBL', qid: 1, nth: 1 }, action: { kind: 'lose-write' } }],
  })
  expect(completions).toEqual([])
  host.ringTail(1)
  expect(await host.collect(1, 5)).toHaveLength(5)
  expect(struck).toEqual([1])
})

test('data arrive wrong under a status of success: only a checksum tells', async () => {
  const { completions, struck } = await readsWith({
    rules: [
      { match: { opcode: READ, nth: 1 }, action: { kind: 'corrupt-data', byte: 100, xor: 0x01 } },
      { match: { opcode: READ, nth: 2 }, action: { kind: 'torn-dma', fromByte: 2048 } },
    ],
  })
  expect(completions.every(({ status }) => status === '0/00')).toBe(true)
  expect(struck).toEqual([1, 1])
})
