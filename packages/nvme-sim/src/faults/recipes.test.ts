import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { prps, ready, TestHost } from '../../test/host.js'

// Fault plans to copy into the tests of a driver. Replace `ready` and its host with your driver on
// `simulate({ faults })`. Each test ends with the condition that your driver must handle, and verifies
// `faults.hits`: otherwise a test could pass because its fault never occurred.

const READ = 0x02
const ALL_ONES = 0xffff_ffff

async function readsWith(faults: FaultPlan, count = 5) {
  const host = await ready({ faults, profile: 'sn740' })
  const memory = host.alloc(4096)
  for (let cid = 0; cid < count; cid++) host.stage(1, { ...transfer(READ, cid * 8, 8, prps(host, memory)), cid })
  host.ringTail(1)
  await host.pass(1e9)
  return { host, completions: host.poll(1), hits: host.simulation.faults.hits }
}

test('the completion of the third read is lost: a driver needs a timeout', async () => {
  const { completions, hits } = await readsWith({
    rules: [{ match: { opcode: READ, nth: 3 }, action: { kind: 'drop-completion' } }],
  })
  expect(completions.map(({ cid }) => cid)).not.toContain(2)
  expect(hits).toEqual([1])
})

test('a command hangs, and Abort ends it', async () => {
  const { host, hits } = await readsWith({
    rules: [{ match: { opcode: READ, nth: 1 }, action: { kind: 'hang' } }],
  })
  await host.admin({ opcode: 0x08, cdw: { 10: 1 | (0 << 16) } })
  expect(host.poll(1)).toMatchObject([{ cid: 0, status: '0/07' }])
  expect(hits).toEqual([1])
})

test('a completion is posted twice: the second has no command', async () => {
  const { completions, hits } = await readsWith({
    rules: [{ match: { opcode: READ, nth: 2 }, action: { kind: 'duplicate-completion' } }],
  })
  expect(completions.filter(({ cid }) => cid === 1)).toHaveLength(2)
  expect(hits).toEqual([1])
})

test('a completion of an earlier command is posted again later: it has no command', async () => {
  const { host, completions, hits } = await readsWith({
    rules: [{ match: { atNs: 9e8 }, action: { kind: 'stale-completion', qid: 1, back: 2 } }],
  })
  expect(completions).toHaveLength(6)
  expect(completions.at(-1)!.cid).toBe(completions.at(-3)!.cid)
  expect(host.simulation.diagnostics).toEqual([])
  expect(hits).toEqual([1])
})

test('an event storm: every request completes at once', async () => {
  const again = { kind: 'async-event', aet: 2, aei: 0, lid: 4 } as const
  const host = await ready({ faults: { rules: [{ match: { qid: 0, opcode: 0x0c }, action: again }] } })
  for (let cid = 100; cid < 110; cid++) {
    host.stage(0, { opcode: 0x0c, cid })
    host.ringTail(0)
    await host.pass(1000)
  }
  // A request is not yet outstanding while it is fetched.
  expect(host.poll(0)).toHaveLength(9)
  expect(host.simulation.faults.hits).toEqual([9])
})

test('one LBA range cannot be read: Unrecovered Read Error with Do Not Retry', async () => {
  const { completions, hits } = await readsWith({
    rules: [{ match: { opcode: READ, lba: [8, 15] }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } }],
  })
  expect(completions.find(({ cid }) => cid === 1)).toMatchObject({ status: '2/81', dnr: true })
  expect(hits).toEqual([1])
})

test('one command in a hundred is slow, selected by the seed', async () => {
  const slow: FaultPlan = {
    rules: [{ match: { qid: 1, probability: 0.01 }, action: { kind: 'delay-completion', delayNs: 5e6 } }],
  }
  const [one, other] = [await readsWith(slow, 60), await readsWith(slow, 60)]
  expect(one.completions).toEqual(other.completions)
})

test('CSTS.RDY stays 0: a driver gives up after CAP.TO', async () => {
  const host = new TestHost({ faults: { rules: [{ match: {}, action: { kind: 'ready-never-rises' } }] } })
  expect(await host.enable()).toBe(0)
  expect(host.simulation.faults.hits).toEqual([1])
})

test('the controller fails after half a second: CSTS.CFS', async () => {
  const { host, hits } = await readsWith({ rules: [{ match: { atNs: 5e8 }, action: { kind: 'fatal-status' } }] })
  expect(host.bar.read32(0x1c) & 2).toBe(2)
  expect(hits).toEqual([1])
})

test('the device is removed with commands in flight: registers read all ones, and nothing completes', async () => {
  const { host, completions, hits } = await readsWith({
    rules: [{ match: { opcode: READ, nth: 3 }, action: { kind: 'remove-device' } }],
  })
  expect(host.bar.read32(0x1c)).toBe(ALL_ONES)
  expect(completions).toEqual([])
  expect(hits).toEqual([1])
})

test('CSTS reads all ones once although the device is present: read it twice', () => {
  const host = new TestHost({
    faults: { rules: [{ match: { register: 'CSTS', times: 1 }, action: { kind: 'read-value', value: ALL_ONES } }] },
  })
  expect([host.bar.read32(0x1c), host.bar.read32(0x1c)]).toEqual([ALL_ONES, 0])
})

test('a doorbell write is lost: commands wait until the next one', async () => {
  const { host, completions, hits } = await readsWith({
    rules: [{ match: { register: 'SQyTDBL', qid: 1, nth: 1 }, action: { kind: 'lose-write' } }],
  })
  expect(completions).toEqual([])
  host.ringTail(1)
  expect(await host.collect(1, 5)).toHaveLength(5)
  expect(hits).toEqual([1])
})

test('data is wrong although the status is success: only a checksum detects it', async () => {
  const { completions, hits } = await readsWith({
    rules: [
      { match: { opcode: READ, nth: 1 }, action: { kind: 'corrupt-data', byte: 100, xor: 0x01 } },
      { match: { opcode: READ, nth: 2 }, action: { kind: 'torn-dma', fromByte: 2048 } },
    ],
  })
  expect(completions.every(({ status }) => status === '0/00')).toBe(true)
  expect(hits).toEqual([1, 1])
})
