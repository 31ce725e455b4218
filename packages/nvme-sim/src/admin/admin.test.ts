import { describe, expect, it } from 'vitest'
import { CC_ENABLED } from '../../conformance/raw-host/registers.js'
import { bytesOf, enabled, ready, TestHost } from '../../test/host.js'
import { deriveProfile, RamMedia } from '../index.js'

const IDENTIFY = 0x06
const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const INVALID_NAMESPACE = '0/0b'

/** Executes Identify with memory filled with A5h. */
async function identify(host: TestHost, cns: number, nsid = 0) {
  const memory = host.alloc(4096)
  bytesOf(memory).fill(0xa5)
  const { status, dnr } = await host.admin({ opcode: IDENTIFY, nsid, prp1: memory.iovaAt(0), cdw: { 10: cns } })
  return { status, dnr, view: memory.view, bytes: bytesOf(memory) }
}

const untouched = (bytes: Uint8Array) => bytes.every((byte) => byte === 0xa5)

describe('Identify (Base 2.1 §5.1.13)', () => {
  it('CNS 01h: serial and model number at bytes 23:04 and 63:24, MDTS at 77, NN at 519:516', async () => {
    const host = await enabled({ namespaces: [{ nsid: 1 }, { nsid: 5 }] })
    const { status, view, bytes } = await identify(host, 0x01)
    expect(status).toBe(SUCCESS)
    expect(Buffer.from(bytes.subarray(4, 24)).toString('latin1')).toBe('GPUNVME-SIM-1'.padEnd(20))
    expect(Buffer.from(bytes.subarray(24, 64)).toString('latin1')).toBe('gpunvme simulated controller'.padEnd(40))
    expect(view.getUint8(77)).toBe(8)
    expect(view.getUint32(80, true)).toBe(0x0002_0100)
    expect(view.getUint8(111)).toBe(1)
    expect([view.getUint8(512), view.getUint8(513)]).toEqual([0x66, 0x44])
    expect(view.getUint32(516, true)).toBe(5)
    expect(view.getUint8(525)).toBe(0b111)
    expect(view.getUint32(4092, true)).toBe(0)
  })

  it('CNS 01h with an NSID is rejected: the command uses none (Base 2.1 §4.1.1)', async () => {
    const { status, dnr, bytes } = await identify(await enabled(), 0x01, 1)
    expect([status, dnr]).toEqual([INVALID_FIELD, true])
    expect(untouched(bytes)).toBe(true)
  })

  it.each([
    [512, 1 << 30, 2 ** 21, 9],
    [4096, 1 << 30, 2 ** 18, 12],
    [512, 2 ** 52, 2 ** 43, 9],
    [4096, 4096 * 10 + 511, 10, 12],
  ] as const)(
    'CNS 00h of %i-byte blocks, %i bytes: NSZE %i, LBADS %i',
    async (blockBytes, capacityBytes, nsze, lbads) => {
      const host = await enabled({ namespaces: [{ blockBytes, capacityBytes }] })
      const { status, view } = await identify(host, 0x00, 1)
      expect(status).toBe(SUCCESS)
      expect([0, 8, 16].map((at) => Number(view.getBigUint64(at, true)))).toEqual([nsze, nsze, nsze])
      // Eight formats, 0's based. Formats 0 and 1 have 512-byte and 4096-byte blocks without metadata.
      expect([view.getUint8(25), view.getUint8(26)]).toEqual([7, lbads === 9 ? 0 : 1])
      expect([view.getUint32(128, true), view.getUint32(132, true)]).toEqual([9 << 16, 12 << 16])
    },
  )

  it.each([
    ['an inactive NSID returns zeroes', 2, SUCCESS],
    ['NSID 0h is invalid', 0, INVALID_NAMESPACE],
    ['an NSID above NN is invalid', 4, INVALID_NAMESPACE],
  ])('CNS 00h: %s', async (_, nsid, expected) => {
    const { status, bytes } = await identify(await enabled({ namespaces: [{ nsid: 1 }, { nsid: 3 }] }), 0x00, nsid)
    expect(status).toBe(expected)
    expect(expected === SUCCESS ? bytes.every((byte) => byte === 0) : untouched(bytes)).toBe(true)
  })

  it('CNS 00h of read-only media: NSATTR bit 0 is 1 (write protected)', async () => {
    const media = Object.assign(new RamMedia(4096), { readOnly: true })
    const host = await enabled({ namespaces: [{ media }, { nsid: 2 }] })
    expect((await identify(host, 0x00, 1)).view.getUint8(99)).toBe(1)
    expect((await identify(host, 0x00, 2)).view.getUint8(99)).toBe(0)
  })

  it.each([
    [0, [2, 7, 9]],
    [2, [7, 9]],
    [8, [9]],
    [9, []],
  ])('CNS 02h with NSID %i lists the active NSIDs above it in increasing order', async (after, expected) => {
    const host = await enabled({ namespaces: [{ nsid: 7 }, { nsid: 2 }, { nsid: 9 }] })
    const { status, view } = await identify(host, 0x02, after)
    expect(status).toBe(SUCCESS)
    const listed = Array.from({ length: 1024 }, (_, i) => view.getUint32(i * 4, true))
    expect(listed).toEqual([...expected, ...new Array<number>(1024 - expected.length).fill(0)])
  })

  it.each([0xffff_fffe, 0xffff_ffff])('CNS 02h with NSID %i is invalid', async (nsid) => {
    expect((await identify(await enabled(), 0x02, nsid)).status).toBe(INVALID_NAMESPACE)
  })

  it('CNS 03h returns a constant UUID (type 3h, 16 bytes) and the command set (type 4h, 1 byte)', async () => {
    const host = await enabled({ namespaces: [{ nsid: 1 }, { nsid: 2 }] })
    const { status, bytes } = await identify(host, 0x03, 1)
    expect(status).toBe(SUCCESS)
    expect([...bytes.subarray(0, 4), ...bytes.subarray(20, 25)]).toEqual([3, 16, 0, 0, 4, 1, 0, 0, 0])
    expect(bytes.subarray(4, 20).some((byte) => byte !== 0)).toBe(true)
    expect((await identify(host, 0x03, 1)).bytes).toEqual(bytes)
    expect((await identify(host, 0x03, 2)).bytes).not.toEqual(bytes)
  })

  it.each([0x04, 0x1c, 0x21, 0xff])('CNS %i is not supported', async (cns) => {
    expect((await identify(await enabled(), cns)).status).toBe(INVALID_FIELD)
  })
})

describe('Number of Queues (Base 2.1 §5.1.25.2.1)', () => {
  const set = (host: TestHost, cdw11: number) => host.admin({ opcode: 0x09, cdw: { 10: 0x07, 11: cdw11 } })

  it.each([
    ['grants the requested number', 0x0002_0001, 0x0002_0001],
    ['grants at most the existing queues', 0x00ff_fffe, 0x003f_003f],
  ])("%s, 0's based in both halves of DW0, which Get Features also returns", async (_, asked, expected) => {
    const host = await enabled()
    expect(await set(host, asked)).toMatchObject({ status: SUCCESS, dw0: expected })
    expect(await host.admin({ opcode: 0x0a, cdw: { 10: 0x07 } })).toMatchObject({ status: SUCCESS, dw0: expected })
  })

  it.each([0x0000_ffff, 0xffff_0000])('rejects FFFFh (%i)', async (asked) => {
    expect((await set(await enabled(), asked)).status).toBe(INVALID_FIELD)
  })

  it('is a Command Sequence Error once an I/O queue exists', async () => {
    expect((await set(await ready(), 1)).status).toBe('0/0c')
  })

  it('limits the queue identifiers that can be created', async () => {
    const host = await enabled()
    await set(host, 0)
    await host.createPair(1, 4)
    await expect(host.createCq(2, 4)).rejects.toThrow('1/01')
  })

  it('cannot be saved; unsupported features are rejected', async () => {
    const host = await enabled()
    expect((await host.admin({ opcode: 0x09, cdw: { 10: 0x03, 11: 1 } })).status).toBe(INVALID_FIELD)
    expect((await host.admin({ opcode: 0x0a, cdw: { 10: 0x0c } })).status).toBe(INVALID_FIELD)
    expect((await host.admin({ opcode: 0x09, cdw: { 10: 0x8000_0007 } })).status).toBe('1/0d')
  })
})

describe('Create I/O Completion Queue (Base 2.1 §5.2.1)', () => {
  it.each([
    ['QID 0h', 0, 3, 1, 0, '1/01'],
    ['an existing QID', 1, 3, 1, 0, '1/01'],
    ['a QID that was not granted', 65, 3, 1, 0, '1/01'],
    ['one entry', 2, 0, 1, 0, '1/02'],
    ['more entries than CAP.MQES', 2, 1024, 1, 0, '1/02'],
    ['PC = 0 with CAP.CQR = 1', 2, 3, 0, 0, INVALID_FIELD],
    ['an interrupt vector that does not exist', 2, 3, 1 | (65 << 16), 0, '1/08'],
    ['unaligned memory', 2, 3, 1, 64, '0/13'],
    ['memory that ends before the queue', 2, 1023, 1, 0, '0/04'],
  ])('rejects %s', async (_, qid, qsize, cdw11, offset, status) => {
    const host = await ready()
    const memory = host.alloc(4096, true)
    const cdw = { 10: qid | (qsize << 16), 11: cdw11 }
    const completed = await host.admin({ opcode: 0x05, prp1: memory.iovaAt(0) + offset, cdw })
    // A Data Transfer Error may be temporary.
    expect(completed).toMatchObject({ status, dnr: status !== '0/04' })
  })

  it('fails with Invalid Queue Size while CC.IOCQES is 0 (Base 2.1 §3.1.4.5)', async () => {
    const host = new TestHost()
    await host.enable({ cc: CC_ENABLED & ~(0xf << 20) })
    await expect(host.createCq(1, 4)).rejects.toThrow('1/02')
  })
})

describe('Create I/O Submission Queue (Base 2.1 §5.2.2)', () => {
  it.each([
    ['QID 0h', 0, 3, 1 | (1 << 16), '1/01'],
    ['an existing QID', 1, 3, 1 | (1 << 16), '1/01'],
    ['CQID 0h', 2, 3, 1, '1/01'],
    ['a CQID that was not granted', 2, 3, 1 | (65 << 16), '1/01'],
    ['a completion queue that was not created', 2, 3, 1 | (2 << 16), '1/00'],
    ['one entry', 2, 0, 1 | (1 << 16), '1/02'],
    ['more entries than CAP.MQES', 2, 1024, 1 | (1 << 16), '1/02'],
    ['PC = 0 with CAP.CQR = 1', 2, 3, 1 << 16, INVALID_FIELD],
  ])('rejects %s', async (_, qid, qsize, cdw11, status) => {
    const host = await ready()
    const memory = host.alloc(4096, true)
    const cdw = { 10: qid | (qsize << 16), 11: cdw11 }
    expect((await host.admin({ opcode: 0x01, prp1: memory.iovaAt(0), cdw })).status).toBe(status)
  })
})

describe('deleting queues (Base 2.1 §5.2.3, §5.2.4)', () => {
  const deleteSq = (host: TestHost, qid: number) => host.admin({ opcode: 0x00, cdw: { 10: qid } })
  const deleteCq = (host: TestHost, qid: number) => host.admin({ opcode: 0x04, cdw: { 10: qid } })

  it('rejects a completion queue until its submission queues are deleted', async () => {
    const host = await ready()
    expect((await deleteCq(host, 1)).status).toBe('1/0c')
    expect((await deleteSq(host, 1)).status).toBe(SUCCESS)
    expect((await deleteCq(host, 1)).status).toBe(SUCCESS)
    await host.createPair(1, 8)
    expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe(SUCCESS)
  })

  it.each([0, 2, 0xffff])('rejects QID %i (Admin queue or not created)', async (qid) => {
    const host = await ready()
    expect([(await deleteSq(host, qid)).status, (await deleteCq(host, qid)).status]).toEqual(['1/01', '1/01'])
  })

  it('completes commands with Command Aborted due to SQ Deletion before the deletion completes', async () => {
    const profile = deriveProfile('ideal', { flushNs: [1e9, 1e9, 1e9, 1e9, 1e9], mediaUnits: 8 })
    const host = await ready({ profile })
    for (let i = 0; i < 5; i++) host.submit(1, { opcode: 0, nsid: 1 })
    await host.pass(1000)
    expect((await deleteSq(host, 1)).status).toBe(SUCCESS)
    expect(host.poll(1).map(({ status }) => status)).toEqual(['0/08', '0/08', '0/08', '0/08', '0/08'])
    await host.pass(3e9)
    expect(host.poll(1)).toEqual([])
  })
})

describe('other Admin commands', () => {
  it('Abort reports in DW0 that no command was aborted (Base 2.1 §5.1.1)', async () => {
    expect(await (await enabled()).admin({ opcode: 0x08, cdw: { 10: 1 } })).toMatchObject({ status: SUCCESS, dw0: 1 })
  })

  it('DW0 does not depend on the previous command in the same slot', async () => {
    const host = await enabled({ profile: deriveProfile('ideal', { commandSlots: 1 }) })
    expect((await host.admin({ opcode: 0x08 })).dw0).toBe(1)
    expect((await host.admin({ opcode: 0x09, cdw: { 10: 0x06 } })).dw0).toBe(0)
  })

  it('up to AERL + 1 Asynchronous Event Requests stay outstanding (Base 2.1 §5.1.2)', async () => {
    const host = await enabled()
    for (let i = 0; i < 4; i++) host.submit(0, { opcode: 0x0c })
    expect(await host.until(() => host.poll(0).length > 0, 1e9)).toBe(false)
    expect((await host.admin({ opcode: 0x0c })).status).toBe('1/05')
    await host.disable()
    await host.enable()
    host.submit(0, { opcode: 0x0c })
    expect(await host.until(() => host.poll(0).length > 0, 1e9)).toBe(false)
  })

  it.each([0x03, 0x0e, 0x81, 0xc0, 0xff])('opcode %i is an Invalid Command Opcode', async (opcode) => {
    expect(await (await enabled()).admin({ opcode })).toMatchObject({ status: '0/01', dnr: true })
  })

  it.each([
    ['PSDT', 1 << 14],
    ['FUSE', 1 << 8],
  ])('%s other than 0 is rejected (Base 2.1 §4.1.1)', async (_, cdw0) => {
    const host = await ready()
    expect((await host.admin({ opcode: 0x08, cdw: { 0: cdw0 } })).status).toBe(INVALID_FIELD)
  })
})
