import { describe, expect, it } from 'vitest'
import { type Completed, enabled, ready, TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'

const REQUEST = { opcode: 0x0c }
/** DW0: the log page in bits 23:16, the event information in 15:08, the event type in 02:00. */
const TOO_HOT = 0x0002_0101
const INVALID_DOORBELL_REGISTER = 0x0001_0000
const SMART_WARNINGS = 0x1f

async function configured(cdw11 = SMART_WARNINGS, ...options: ConstructorParameters<typeof TestHost>) {
  const host = await enabled(...options)
  await configure(host, cdw11)
  return host
}

async function configure(host: TestHost, cdw11: number): Promise<Completed[]> {
  return settle(host, { opcode: 0x09, cdw: { 10: 0x0b, 11: cdw11 } })
}

/** Executes an Admin command. Returns all completions within 1 ms. */
async function settle(host: TestHost, entry: Parameters<TestHost['submit']>[1]): Promise<Completed[]> {
  host.submit(0, entry)
  await host.pass(1e6)
  const found = host.poll(0)
  expect(found.every(({ status }) => status === '0/00')).toBe(true)
  return found
}

/** Returns DW0 of the event completions: those with a nonzero DW0. */
const eventsOf = (completed: readonly Completed[]) => completed.map(({ dw0 }) => dw0).filter((dw0) => dw0 !== 0)

const heat = (host: TestHost) => settle(host, { opcode: 0x09, cdw: { 10: 0x04, 11: 300 } })
const cool = (host: TestHost) => settle(host, { opcode: 0x09, cdw: { 10: 0x04, 11: 400 } })

/** Reads a log page. `retain` sets RAE, which retains its events. */
async function read(host: TestHost, lid: number, retain = false) {
  const memory = host.alloc(4096)
  const cdw = { 10: lid | (retain ? 0x8000 : 0) | (127 << 16) }
  return { completed: await settle(host, { opcode: 0x02, prp1: memory.iovaAt(0), cdw }), view: memory.view }
}

describe('asynchronous events (Base 2.3 §5.2.2)', () => {
  it('complete the oldest request with type, information and log page', async () => {
    const host = await configured()
    const first = host.submit(0, REQUEST)
    host.submit(0, REQUEST)
    const reported = (await heat(host)).filter(({ dw0 }) => dw0 !== 0)
    expect(reported).toMatchObject([{ cid: first, dw0: TOO_HOT, status: '0/00', sqid: 0 }])
  })

  it('of a reported type are masked until their log page is read without RAE', async () => {
    const host = await configured()
    for (let i = 0; i < 3; i++) host.submit(0, REQUEST)
    expect(eventsOf(await heat(host))).toEqual([TOO_HOT])
    await cool(host)
    expect(eventsOf(await heat(host))).toEqual([])
    expect(eventsOf((await read(host, 0x02, true)).completed)).toEqual([])
    await cool(host)
    expect(eventsOf((await read(host, 0x02)).completed)).toEqual([])
    expect(eventsOf(await heat(host))).toEqual([TOO_HOT])
  })

  it('are reported again after the page is read while the cause remains', async () => {
    const host = await configured()
    for (let i = 0; i < 2; i++) host.submit(0, REQUEST)
    await heat(host)
    expect(eventsOf((await read(host, 0x02)).completed)).toEqual([TOO_HOT])
  })

  it('stay pending, once each, until there is a request', async () => {
    const host = await configured()
    await heat(host)
    await cool(host)
    await heat(host)
    expect(eventsOf(await settle(host, REQUEST))).toEqual([TOO_HOT])
    await cool(host)
    await read(host, 0x02)
    expect(await settle(host, REQUEST)).toEqual([])
  })

  it('are discarded if their page is read before there is a request', async () => {
    const host = await configured()
    await heat(host)
    await cool(host)
    await read(host, 0x02)
    expect(await settle(host, REQUEST)).toEqual([])
  })

  it('of different types do not mask each other', async () => {
    const host = await configured()
    for (let i = 0; i < 2; i++) host.submit(0, REQUEST)
    await heat(host)
    host.ringTail(9, 1)
    await host.pass(1e6)
    expect(eventsOf(host.poll(0))).toEqual([INVALID_DOORBELL_REGISTER])
  })

  it('are neither pending nor masked after a reset, and no request is outstanding', async () => {
    const host = await configured()
    host.submit(0, REQUEST)
    await heat(host)
    await cool(host)
    await host.disable()
    await host.enable()
    await configure(host, SMART_WARNINGS)
    expect(eventsOf(await heat(host))).toEqual([])
    expect(eventsOf(await settle(host, REQUEST))).toEqual([TOO_HOT])
  })
})

describe('Asynchronous Event Configuration (Base 2.3 §5.2.26.1.5)', () => {
  it('an event that is not enabled is not reported', async () => {
    const host = await configured(0)
    await heat(host)
    expect(await settle(host, REQUEST)).toEqual([])
  })

  it('a condition that is true when its event is enabled is reported', async () => {
    const host = await configured(0)
    await heat(host)
    await settle(host, REQUEST)
    expect(eventsOf(await configure(host, 0b10))).toEqual([TOO_HOT])
  })

  it('a pending event that is disabled before there is a request is not reported', async () => {
    const host = await configured()
    await heat(host)
    await configure(host, 0b1_1101)
    expect(await settle(host, REQUEST)).toEqual([])
  })

  it('errors cannot be disabled', async () => {
    const host = await configured(0)
    host.submit(0, REQUEST)
    host.ringTail(9, 1)
    await host.pass(1e6)
    expect(eventsOf(host.poll(0))).toEqual([INVALID_DOORBELL_REGISTER])
  })
})

describe('errors without a command (Base 2.3 §5.2.12.1.2)', () => {
  it('have an entry in the error log with SQID, CID and Parameter Error Location FFFFh', async () => {
    const host = await configured(0)
    host.ringTail(9, 1)
    const { view } = await read(host, 0x01)
    expect(view.getBigUint64(0, true)).toBe(1n)
    expect([8, 10, 14].map((at) => view.getUint16(at, true))).toEqual([0xffff, 0xffff, 0xffff])
    expect(view.getUint16(12, true)).toBe(0x0202) // Invalid Queue Identifier: SCT 1h, SC 01h
  })
})

describe('Abort of an Asynchronous Event Request (Base 2.3 §5.2.1)', () => {
  const abort = (cid: number) => ({ opcode: 0x08, cdw: { 10: cid << 16 } })

  it('completes it with Command Abort Requested before the Abort completes, and allows another request', async () => {
    const host = await configured()
    const cids = [0, 1, 2, 3].map(() => host.submit(0, REQUEST))
    host.submit(0, abort(cids[2]!))
    await host.pass(1e6)
    expect(host.poll(0)).toMatchObject([
      { cid: cids[2], status: '0/07' },
      { status: '0/00', dw0: 0 },
    ])
    expect(await settle(host, REQUEST)).toEqual([])
    expect((await host.admin(REQUEST)).status).toBe('1/05')
  })

  it('with another CID aborts nothing', async () => {
    const host = await configured()
    const cid = host.submit(0, REQUEST)
    expect(await settle(host, abort(cid + 1))).toMatchObject([{ dw0: 1 }])
  })
})

describe('Abort (Base 2.3 §5.2.1)', () => {
  it('ends with Abort Command Limit Exceeded if more than ACL + 1 are in progress', async () => {
    const host = await ready({ profile: deriveProfile('ideal', { adminNs: 1e6 }) })
    for (let i = 0; i < 6; i++) host.submit(0, { opcode: 0x08, cdw: { 10: 0x4321_0001 } })
    const found = await host.collect(0, 6)
    expect(found.map(({ status }) => status).sort()).toEqual(['0/00', '0/00', '0/00', '0/00', '1/03', '1/03'])
    expect((await host.admin({ opcode: 0x08 })).status).toBe('0/00')
  })
})

describe('a drive that overheats', () => {
  it('reports an event during I/O, without a read of the SMART log', async () => {
    const thermal = { limitBytes: 4 << 20, coolingBytesPerSecond: 1, recoveredBytes: 1 << 10, factor: 2 }
    const host = await ready({ profile: deriveProfile('ideal', { thermal }) })
    await configure(host, 0b10)
    host.submit(0, REQUEST)
    const memory = host.alloc(4096, true)
    const readBlocks = () =>
      host.command(1, { opcode: 0x02, nsid: 1, prp1: memory.iovaAt(0), cdw: { 12: 7 } }).then(({ status }) => status)
    for (let i = 0; i < 1200; i++) expect(await readBlocks()).toBe('0/00')
    await host.pass(2e9)
    await readBlocks()
    await host.pass(1e6)
    expect(eventsOf(host.poll(0))).toEqual([TOO_HOT])
  })
})
