import { describe, expect, it } from 'vitest'
import { CC_ENABLED } from '../../conformance/raw-host/registers.js'
import { TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'

const FLUSH = { opcode: 0x00, nsid: 1 }
const WEIGHTED = CC_ENABLED | (1 << 11)
const [URGENT, HIGH, MEDIUM, LOW] = [0, 1, 2, 3] as const
/** Encodes Set Features, Arbitration: the 0's based weights, and Arbitration Burst as a power of two. */
const arbitration = (hpw: number, mpw: number, lpw: number, ab: number) => ({
  opcode: 0x09,
  cdw: { 10: 0x01, 11: ((hpw << 24) | (mpw << 16) | (lpw << 8) | ab) >>> 0 },
})

/** Returns a host with submission queues 1, 2, … of the given priorities, all on completion queue 1. */
async function withQueues(cc: number, priorities: readonly number[], setting = arbitration(0, 0, 0, 0)) {
  const fetched: string[] = []
  const trace = ({ track, name }: { track: string; name: string }) => {
    if (name === 'fetch') fetched.push(track)
  }
  const host = Object.assign(new TestHost({ profile: deriveProfile('ideal', { commandSlots: 1 }), trace }), { fetched })
  await host.enable({ cc })
  expect((await host.admin(setting)).status).toBe('0/00')
  await host.createCq(1, 1024)
  for (const [index, priority] of priorities.entries()) {
    const qid = index + 1
    const { memory: sq } = host.addSqRing(qid, 64, 1)
    const cdw = { 10: qid | (63 << 16), 11: 1 | (priority << 1) | (1 << 16) }
    expect((await host.admin({ opcode: 0x01, prp1: sq.iovaAt(0), cdw })).status).toBe('0/00')
  }
  return host
}

/** Submits `counts[i]` commands to SQ i + 1 at once. Returns the queues of the processed commands, in order. */
async function orderOf(host: TestHost, counts: readonly number[]): Promise<string> {
  for (const [index, count] of counts.entries()) {
    for (let i = 0; i < count; i++) host.stage(index + 1, FLUSH)
  }
  for (const [index, count] of counts.entries()) if (count > 0) host.ringTail(index + 1)
  const total = counts.reduce((sum, count) => sum + count, 0)
  const completed = await host.collect(1, total)
  expect(host.simulation.diagnostics).toEqual([])
  return completed.map(({ sqid }) => sqid).join('')
}

describe('round robin (Base 2.1 §3.4.4.1)', () => {
  it.each([
    [0, 'one command', '123123123111'],
    [1, 'two commands', '112233112311'],
    [2, 'four commands', '111122233311'],
    [7, 'no limit', '111111222333'],
  ])('an Arbitration Burst of %i allows %s per turn', async (ab, _, expected) => {
    const host = await withQueues(CC_ENABLED, [LOW, HIGH, URGENT], arbitration(0, 0, 0, ab))
    expect(await orderOf(host, [6, 3, 3])).toBe(expected)
  })

  it('includes the Admin Submission Queue', async () => {
    const host = await withQueues(CC_ENABLED, [LOW, LOW])
    for (let i = 0; i < 40; i++) for (const qid of [1, 2]) host.stage(qid, FLUSH)
    host.stage(0, { opcode: 0x0a, cdw: { 10: 0x07 } })
    host.fetched.length = 0
    for (const qid of [1, 2, 0]) host.ringTail(qid)
    await host.collect(1, 80)
    // Its position in the round is not specified, but it comes before the second turn of any other queue.
    expect(host.fetched.indexOf('sq 0')).toBeLessThanOrEqual(2)
    expect(host.fetched.filter((track) => track === 'sq 1')).toHaveLength(40)
  })

  it('continues with the next queue if a queue is deleted during its burst', async () => {
    const host = await withQueues(CC_ENABLED, [LOW, LOW, LOW], arbitration(0, 0, 0, 2))
    expect(await orderOf(host, [1, 1, 1])).toBe('123')
    expect((await host.admin({ opcode: 0x00, cdw: { 10: 2 } })).status).toBe('0/00')
    expect(await orderOf(host, [2, 0, 2])).toMatch(/^(1133|3311)$/)
  })
})

describe('weighted round robin with urgent priority class (Base 2.1 §3.4.4.2)', () => {
  it('High, Medium and Low execute as many commands per round as their 0’s based weights allow', async () => {
    const host = await withQueues(WEIGHTED, [HIGH, MEDIUM, LOW], arbitration(3, 1, 0, 0))
    expect(await orderOf(host, [8, 4, 4])).toBe('1111223' + '1111223' + '33')
  })

  it('queues of one class take turns, each for a burst or for the remaining credits of the class', async () => {
    const host = await withQueues(WEIGHTED, [HIGH, HIGH, LOW], arbitration(4, 0, 0, 1))
    // Five credits: two, two, and the remaining one; then Low uses its one credit.
    expect(await orderOf(host, [6, 6, 2])).toBe('112213' + '221123' + '12')
  })

  it('continues with the next queue of the round if the current queue is deleted', async () => {
    const host = await withQueues(WEIGHTED, [LOW, LOW, LOW], arbitration(0, 0, 255, 0))
    expect(await orderOf(host, [1, 1, 0])).toBe('12')
    expect((await host.admin({ opcode: 0x00, cdw: { 10: 2 } })).status).toBe('0/00')
    expect(await orderOf(host, [1, 0, 1])).toBe('31')
  })

  it('a class without commands leaves its share to the other classes', async () => {
    const host = await withQueues(WEIGHTED, [HIGH, MEDIUM, LOW], arbitration(1, 1, 1, 0))
    expect(await orderOf(host, [0, 0, 5])).toBe('33333')
    expect(await orderOf(host, [3, 0, 3])).toMatch(/^(113313|331131|311331|133113)$/)
  })

  it('Urgent commands start before all weighted ones, and can starve them', async () => {
    const host = await withQueues(WEIGHTED, [LOW, URGENT, HIGH], arbitration(255, 255, 255, 7))
    expect(await orderOf(host, [3, 5, 3])).toMatch(/^22222/)
  })

  it('the Admin class has priority over Urgent', async () => {
    const host = await withQueues(WEIGHTED, [URGENT])
    for (let i = 0; i < 60; i++) host.stage(1, FLUSH)
    host.stage(0, { opcode: 0x0a, cdw: { 10: 0x07 } })
    host.fetched.length = 0
    host.ringTail(1)
    host.ringTail(0)
    await host.collect(1, 60)
    expect(host.fetched.slice(0, 2)).toEqual(['sq 0', 'sq 1'])
  })

  it('QPRIO is ignored with round robin (Base 2.1 §5.2.2)', async () => {
    const host = await withQueues(CC_ENABLED, [LOW, URGENT])
    expect(await orderOf(host, [3, 3])).toBe('121212')
  })
})
