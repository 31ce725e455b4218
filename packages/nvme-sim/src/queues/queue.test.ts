import { expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { enabled, prps, ready } from '../../test/host.js'
import { deriveProfile } from '../index.js'

const FLUSH = { opcode: 0x00, nsid: 1 }
const jittery = deriveProfile('ideal', { readNs: [10_000, 50_000, 90_000, 99_000, 100_000], mediaUnits: 32 })

it('the Phase Tag is 1 on the first lap and inverts each time the tail wraps to 0 (Base 2.1 §4.2.4)', async () => {
  const host = await ready({}, 4)
  const phases: number[] = []
  for (let i = 0; i < 18; i++) phases.push((await host.command(1, FLUSH)).phase)
  expect(phases).toEqual([1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1])
  expect(host.simulation.diagnostics).toEqual([])
})

it('SQHD is the head of the submission queue, modulo its size (Base 2.1 §4.2.1)', async () => {
  const host = await enabled()
  await host.createCq(1, 64)
  await host.createSq(1, 3, 1)
  const heads: number[] = []
  for (let i = 0; i < 7; i++) heads.push((await host.command(1, FLUSH)).sqhd)
  expect(heads).toEqual([1, 2, 0, 1, 2, 0, 1])
})

it('one doorbell write submits every entry up to the tail', async () => {
  const host = await ready()
  const cids = Array.from({ length: 20 }, () => host.stage(1, FLUSH))
  host.ringTail(1)
  expect((await host.collect(1, 20)).map(({ cid }) => cid)).toEqual(cids)
  expect(host.simulation.statistics.doorbellWrites).toBe(6)
})

it('completions wait while the completion queue is full; none is lost (Base 2.1 §3.3.1.2.1)', async () => {
  const host = await enabled()
  await host.createCq(1, 4)
  await host.createSq(1, 64, 1)
  const cids = Array.from({ length: 40 }, () => host.stage(1, FLUSH))
  host.ringTail(1)
  await host.pass(1e9)
  const seen = host.poll(1, { ring: false })
  expect(seen).toHaveLength(3)
  await host.pass(1e9)
  expect(host.poll(1, { ring: false })).toEqual([])
  host.ringHead(1)
  seen.push(...(await host.collect(1, 37)))
  expect(seen.map(({ cid }) => cid)).toEqual(cids)
  expect(host.simulation.diagnostics).toEqual([])
})

it('a full completion queue does not stop the other queues (Base 2.1 §3.3.1.2.1)', async () => {
  const host = await enabled({ profile: deriveProfile('ideal', { commandSlots: 4 }) })
  await host.createCq(1, 2)
  await host.createSq(1, 64, 1)
  await host.createPair(2, 8)
  for (let i = 0; i < 30; i++) host.stage(1, FLUSH)
  host.ringTail(1)
  await host.pass(1e9)
  for (let i = 0; i < 20; i++) expect((await host.command(2, FLUSH)).status).toBe('0/00')
  expect(await host.collect(1, 30)).toHaveLength(30)
})

it('no command of a submission queue is fetched while its completion queue is full (Base 2.1 §3.3.1.2.1)', async () => {
  const host = await enabled({ profile: deriveProfile('ideal', { commandSlots: 4 }) })
  await host.createCq(1, 2)
  await host.createSq(1, 64, 1)
  for (let i = 0; i < 30; i++) host.stage(1, FLUSH)
  host.ringTail(1)
  await host.pass(1e9)
  host.poll(1)
  expect((await host.collect(1, 1))[0]!.sqhd).toBe(4)
})

it('several submission queues can share a completion queue, whose entries have SQIDs (Base 2.1 §3.3.1.2)', async () => {
  const host = await enabled()
  await host.createCq(1, 16)
  for (const qid of [1, 2, 3]) await host.createSq(qid, 64, 1)
  for (let i = 0; i < 50; i++) for (const qid of [1, 2, 3]) host.stage(qid, { ...FLUSH, cid: i })
  for (const qid of [1, 2, 3]) host.ringTail(qid)
  const seen = await host.collect(1, 150)
  for (const qid of [1, 2, 3]) {
    const own = seen.filter(({ sqid }) => sqid === qid)
    expect(own.map(({ cid }) => cid)).toEqual(Array.from({ length: 50 }, (_, i) => i))
  }
  expect(host.simulation.diagnostics).toEqual([])
})

it('round robin executes one command of each submission queue in turn (Base 2.1 §3.4.4.1)', async () => {
  const host = await enabled()
  await host.createCq(1, 64)
  for (const qid of [1, 2, 3]) await host.createSq(qid, 16, 1)
  for (let i = 0; i < 5; i++) host.stage(1, FLUSH)
  for (let i = 0; i < 3; i++) host.stage(2, FLUSH)
  host.stage(3, FLUSH)
  for (const qid of [1, 2, 3]) host.ringTail(qid)
  const order = (await host.collect(1, 9)).map(({ sqid }) => sqid)
  expect(order.toSorted()).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 3])
  // Each queue with commands has one turn before any has a second one.
  expect(order.slice(0, 3).toSorted()).toEqual([1, 2, 3])
  expect(order.slice(3, 5).toSorted()).toEqual([1, 2])
})

it('commands with different latencies complete out of order, each exactly once', async () => {
  const host = await ready({ profile: jittery })
  const data = host.alloc(4096)
  const cids = Array.from({ length: 32 }, (_, i) => host.stage(1, transfer(0x02, i * 8, 8, prps(host, data))))
  host.ringTail(1)
  const order = (await host.collect(1, 32)).map(({ cid }) => cid)
  expect(order).not.toEqual(cids)
  expect(order.toSorted((a, b) => a - b)).toEqual(cids)
})

it('the same seed produces the same completions at the same times; another seed another order', async () => {
  const run = async (seed: number) => {
    const host = await ready({ profile: 'sn740', seed, fragmented: true })
    const data = host.alloc(64 * 1024)
    const entry = prps(host, data)
    const seen = []
    for (let i = 0; i < 200; i++) {
      host.submit(1, { ...transfer(i % 3 === 0 ? 0x01 : 0x02, i * 128, 128, entry), cid: i })
      if (i >= 32) seen.push(...(await host.collect(1, 1)))
    }
    seen.push(...(await host.collect(1, 200 - seen.length)))
    return seen.map(({ cid, atNs, status }) => ({ cid, atNs, status }))
  }
  const first = await run(7)
  expect(await run(7)).toEqual(first)
  expect((await run(8)).map(({ cid }) => cid)).not.toEqual(first.map(({ cid }) => cid))
})

it('a command is fetched only if a command slot is free, and every command is fetched', async () => {
  const host = await ready({ profile: { ...jittery, commandSlots: 3 } })
  const data = host.alloc(4096)
  for (let i = 0; i < 40; i++) host.stage(1, transfer(0x02, 0, 8, prps(host, data)))
  host.ringTail(1)
  const [first] = await host.collect(1, 1)
  expect(first!.sqhd).toBe(3)
  expect(await host.collect(1, 39)).toHaveLength(39)
})
