import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { prps, ready, TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'

/** Reads the Error Information log page (LID 01h). */
async function errors(host: TestHost, entries = 64): Promise<DataView> {
  const memory = host.alloc(entries * 64, true)
  const [prp1, prp2] = prps(host, memory)
  const { status } = await host.admin({ opcode: 0x02, prp1, prp2, cdw: { 10: 0x01 | ((entries * 16 - 1) << 16) } })
  expect(status).toBe('0/00')
  return memory.view
}

const counts = (log: DataView) =>
  Array.from({ length: log.byteLength / 64 }, (_, i) => Number(log.getBigUint64(i * 64, true)))

describe('Error Information (Base 2.3 §5.2.12.1.2)', () => {
  it('is empty after power on: every Error Count is 0h', async () => {
    expect(counts(await errors(await ready()))).toEqual(new Array(64).fill(0))
  })

  it('has an entry for a failed command, with the fields of Figure 209', async () => {
    const host = await ready()
    const data = host.alloc(4096)
    const failed = await host.command(1, { ...transfer(0x02, 2 ** 21, 8, prps(host, data)), cid: 0x1234 })
    expect(failed).toMatchObject({ status: '0/80', more: true })
    const log = await errors(host)
    expect(log.getBigUint64(0, true)).toBe(1n)
    expect(log.getUint16(8, true)).toBe(1) // SQID
    expect(log.getUint16(10, true)).toBe(0x1234) // CID
    expect(log.getUint16(12, true) & 0xfffe).toBe(0x8100) // DNR, LBA Out of Range
    expect(log.getUint16(14, true)).toBe(40) // byte 40: SLBA
    expect(log.getUint32(24, true)).toBe(1) // NSID
    expect([log.getUint8(28), log.getUint8(29), log.getUint8(30)]).toEqual([0, 0, 0])
    expect(log.getUint8(31)).toBe(0x02) // opcode
    expect(log.getUint8(63)).toBe(1) // Log Page Version
    expect(counts(log).slice(1)).toEqual(new Array(63).fill(0))
  })

  it('reports the LBA of a media error', async () => {
    const faults = {
      rules: [{ match: { opcode: 0x02, qid: 1 }, action: { kind: 'status', sct: 2, sc: 0x81 } }],
    } as const
    const host = await ready({ faults })
    const failed = await host.command(1, transfer(0x02, 77, 8, prps(host, host.alloc(4096))))
    expect(failed).toMatchObject({ status: '2/81', more: true })
    const log = await errors(host)
    expect([log.getUint16(14, true), log.getBigUint64(16, true)]).toEqual([0xffff, 77n])
  })

  it.each([
    ['an opcode', { opcode: 0xfe }, 0],
    ['the NSID of Identify Controller', { opcode: 0x06, nsid: 1, cdw: { 10: 1 } }, 4],
    ['CNS', { opcode: 0x06, cdw: { 10: 0xff } }, 40],
    ['LID', { opcode: 0x02, cdw: { 10: 0xff } }, 40],
    ['SV: byte 43 bit 7', { opcode: 0x09, cdw: { 10: 0x8000_0007 } }, 43 | (7 << 8)],
    ['OT: byte 58 bit 7', { opcode: 0x02, cdw: { 10: 0x02, 14: 1 << 23 } }, 58 | (7 << 8)],
  ])('Parameter Error Location is that of the invalid field: %s', async (_, entry, location) => {
    const host = await ready()
    expect((await host.admin(entry)).more).toBe(true)
    expect((await errors(host)).getUint16(14, true)).toBe(location)
  })

  it('Parameter Error Location does not depend on the previous command in the same slot', async () => {
    const host = await ready({ profile: deriveProfile('ideal', { commandSlots: 1 }) })
    // Get Log Page with OT = 1 reports a location; Set Features with an unsupported FID reports none.
    await host.admin({ opcode: 0x02, cdw: { 10: 0x02, 14: 1 << 23 } })
    expect(await host.admin({ opcode: 0x09, cdw: { 10: 0x7f } })).toMatchObject({ status: '0/02', more: false })
    expect((await errors(host)).getUint16(14, true)).toBe(0xffff)
  })

  it('keeps the last ELPE + 1 errors, the most recent first, while Error Count continues', async () => {
    const host = await ready()
    for (let i = 0; i < 70; i++) await host.admin({ opcode: 0xfe })
    const log = await errors(host, 128)
    expect(counts(log)).toEqual([...Array.from({ length: 64 }, (_, i) => 70 - i), ...new Array<number>(64).fill(0)])
  })

  it('has the number of entries that ELPE of the profile allows', async () => {
    const host = await ready({ profile: deriveProfile('ideal', { identify: { ELPE: 1 as never } }) })
    for (let i = 0; i < 5; i++) await host.admin({ opcode: 0xfe })
    expect(counts(await errors(host, 4))).toEqual([5, 4, 0, 0])
  })

  it('is empty after a Controller Level Reset, while Error Count continues', async () => {
    const host = await ready()
    await host.admin({ opcode: 0xfe })
    await host.disable()
    await host.enable()
    expect(counts(await errors(host))[0]).toBe(0)
    await host.admin({ opcode: 0xfe })
    expect(counts(await errors(host)).slice(0, 2)).toEqual([2, 0])
  })

  it('has no entry for a successful command, whose More bit is 0', async () => {
    const host = await ready()
    expect((await host.command(1, { opcode: 0, nsid: 1 })).more).toBe(false)
    expect(counts(await errors(host))[0]).toBe(0)
  })

  it('has no entry for a command aborted on request', async () => {
    const host = await ready({ profile: deriveProfile('ideal', { flushNs: [1e9, 1e9, 1e9, 1e9, 1e9] }) })
    const cid = host.submit(1, { opcode: 0, nsid: 1 })
    await host.pass(1000)
    await host.admin({ opcode: 0x08, cdw: { 10: 1 | (cid << 16) } })
    expect(host.poll(1)).toMatchObject([{ status: '0/07', more: false }])
    expect(counts(await errors(host))[0]).toBe(0)
  })
})
