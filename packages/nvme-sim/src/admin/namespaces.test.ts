import { describe, expect, it } from 'vitest'
import { bytesOf, ready, type TestHost } from '../../test/host.js'
import { at, onBlocks, readMarked, writeMarked } from '../../test/nvm.js'
import { textsOf } from '../../test/diagnostics.js'
import { RamMedia, type Media } from '../index.js'

const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const INTERNAL_ERROR = '0/06'
const INVALID_NAMESPACE_OR_FORMAT = '0/0b'
const SEQUENCE_ERROR = '0/0c'
const WRITE_PROTECTED = '0/20'
const INVALID_FORMAT = '1/0a'
const INSUFFICIENT_CAPACITY = '1/15'
const IDENTIFIER_UNAVAILABLE = '1/16'
const ALREADY_ATTACHED = '1/18'
const NOT_ATTACHED = '1/1a'
const THIN_PROVISIONING_NOT_SUPPORTED = '1/1b'
const CONTROLLER_LIST_INVALID = '1/1c'
const ANA_GROUP_IDENTIFIER_INVALID = '1/24'
const I_O_COMMAND_SET_NOT_SUPPORTED = '1/29'

const BROADCAST = 0xffff_ffff
const MIB = 1 << 20

async function identify(host: TestHost, cns: number, nsid = 0): Promise<{ status: string; view: DataView }> {
  const memory = host.alloc(4096)
  const { status } = await host.admin({ opcode: 0x06, nsid, prp1: memory.iovaAt(0), cdw: { 10: cns } })
  return { status, view: memory.view }
}

/** Returns TNVMCAP (byte 280) and UNVMCAP (byte 296). */
async function capacities(host: TestHost): Promise<number[]> {
  const { view } = await identify(host, 1)
  return [280, 296].map((offset) => Number(view.getBigUint64(offset, true)))
}

async function activeNsids(host: TestHost): Promise<number[]> {
  const { view } = await identify(host, 2)
  return Array.from({ length: 8 }, (_, i) => view.getUint32(i * 4, true)).filter((nsid) => nsid !== 0)
}

const format = (host: TestHost, nsid: number, cdw10: number) => host.admin({ opcode: 0x80, nsid, cdw: { 10: cdw10 } })

describe('Format NVM (Base 2.1 §5.1.10)', () => {
  it.each([
    ['512-byte blocks', 0, 2048, 0],
    ['4096-byte blocks', 1, 256, 1],
    ['512-byte blocks with 8 bytes of metadata', 2, Math.floor(MIB / 520), 2],
    ['4096-byte blocks extended by 64 bytes, MSET', 0x17, Math.floor(MIB / 4160), 0x17],
    ['MSET without metadata, which is ignored', 0x11, 256, 1],
  ])('to %s changes NSZE and FLBAS, and clears the data', async (_, cdw10, nsze, flbas) => {
    const host = await ready({ namespaces: [{ capacityBytes: MIB }] })
    await writeMarked(host, 0, [1, 2])
    expect((await format(host, 1, cdw10)).status).toBe(SUCCESS)
    const { view } = await identify(host, 0, 1)
    expect([Number(view.getBigUint64(0, true)), view.getUint8(26)]).toEqual([nsze, flbas])
    expect((await format(host, 1, 0)).status).toBe(SUCCESS)
    expect(await readMarked(host, 0, 2)).toEqual([0, 0])
  })

  it.each([
    ['none', 0],
    ['User Data Erase', 1 << 9],
    ['Cryptographic Erase', 2 << 9],
  ])('with secure erase %s clears the data and the uncorrectable blocks', async (_, ses) => {
    const host = await ready({ namespaces: [{ nsid: 1 }, { nsid: 2 }] })
    await writeMarked(host, 0, [1])
    await host.command(1, onBlocks(0x04, 1, 1))
    await host.command(1, onBlocks(0x04, 0, 1, { nsid: 2 }))
    expect((await format(host, 1, ses)).status).toBe(SUCCESS)
    expect(await readMarked(host, 0, 2)).toEqual([0, 0])
    const other = await host.command(1, onBlocks(0x02, 0, 1, { nsid: 2, ...at(host, host.alloc(512)) }))
    expect(other.status).toBe('2/81')
  })

  it('of NSID FFFFFFFFh formats all attached namespaces, and no others', async () => {
    const host = await ready({
      namespaces: [
        { nsid: 1, capacityBytes: MIB },
        { nsid: 2, capacityBytes: MIB },
        { nsid: 3, capacityBytes: MIB, attached: false },
      ],
    })
    expect((await format(host, BROADCAST, 1)).status).toBe(SUCCESS)
    expect((await attach(host, 3)).status).toBe(SUCCESS)
    const formats = []
    for (const nsid of [1, 2, 3]) formats.push((await identify(host, 0, nsid)).view.getUint8(26))
    expect(formats).toEqual([1, 1, 0])
  })

  it.each([
    ['a Format Index that does not exist', 1, 8, INVALID_FORMAT],
    ['the last index of four bits', 1, 15, INVALID_FORMAT],
    ['protection information of type 1', 1, 2 | (1 << 5), INVALID_FORMAT],
    ['a reserved SES', 1, 3 << 9, INVALID_FIELD],
    ['a format with blocks larger than the namespace', 2, 1, INVALID_FORMAT],
    ['NSID 0h', 0, 0, INVALID_NAMESPACE_OR_FORMAT],
    ['an NSID above NN', 5, 0, INVALID_NAMESPACE_OR_FORMAT],
    ['an NSID that is not allocated', 3, 0, INVALID_FIELD],
    ['a write protected namespace', 4, 0, WRITE_PROTECTED],
    ['all namespaces if one is write protected', BROADCAST, 0, WRITE_PROTECTED],
  ])('rejects %s, and changes nothing', async (_, nsid, cdw10, status) => {
    const media: Media = Object.assign(new RamMedia(MIB), { readOnly: true })
    const host = await ready({ namespaces: [{ nsid: 1 }, { nsid: 2, capacityBytes: 1024 }, { nsid: 4, media }] })
    await writeMarked(host, 0, [1])
    expect(await format(host, nsid, cdw10)).toMatchObject({ status, dnr: true })
    expect(await readMarked(host, 0, 1)).toEqual([1])
  })

  it('is a Command Sequence Error, and reported, while commands for the namespace are in flight', async () => {
    const host = await ready({ profile: 'sn740', namespaces: [{ nsid: 1 }, { nsid: 2 }] })
    host.submit(1, onBlocks(0x02, 0, 1, at(host, host.alloc(512))))
    await host.pass(3_000)
    const [own, other] = [host.submit(0, { opcode: 0x80, nsid: 1 }), host.submit(0, { opcode: 0x80, nsid: 2 })]
    const completions = await host.collect(0, 2)
    expect(completions.map(({ cid, status }) => [cid, status])).toEqual([
      [own, SEQUENCE_ERROR],
      [other, SUCCESS],
    ])
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host formats namespace 1 while commands for it are in flight',
    ])
    expect((await host.collect(1, 1))[0]!.status).toBe(SUCCESS)
  })
})

it('Format NVM ends with Internal Error if the media fails, and keeps the format', async () => {
  const media: Media = Object.assign(new RamMedia(MIB), {
    deallocate: () => {
      throw new Error('no such sector')
    },
  })
  const host = await ready({ namespaces: [{ media }] })
  expect((await format(host, 1, 1)).status).toBe(INTERNAL_ERROR)
  expect(textsOf(host.simulation.diagnostics)).toEqual(['media of namespace 1: Error: no such sector'])
  expect((await identify(host, 0, 1)).view.getUint8(26)).toBe(0)
  await writeMarked(host, 0, [1])
  expect(await readMarked(host, 0, 1)).toEqual([1])
})

interface Wanted {
  readonly nsze?: number
  readonly ncap?: number
  readonly flbas?: number
  readonly dps?: number
  readonly ana?: number
  readonly set?: number
  readonly group?: number
}

/** Executes Namespace Management, Create; its fields are at bytes 0, 8, 26, 29, 92, 100 and 102 (NVM 1.2 §4.1.6). */
async function create(host: TestHost, wanted: Wanted = {}, nsid = 0, cdw11 = 0) {
  const { nsze = 1024, ncap = nsze, flbas = 0, dps = 0, ana = 0, set = 0, group = 0 } = wanted
  const memory = host.alloc(4096)
  const { view } = memory
  view.setBigUint64(0, BigInt(nsze), true)
  view.setBigUint64(8, BigInt(ncap), true)
  view.setUint8(26, flbas)
  view.setUint8(29, dps)
  view.setUint32(92, ana, true)
  view.setUint16(100, set, true)
  view.setUint16(102, group, true)
  return host.admin({ opcode: 0x0d, nsid, prp1: memory.iovaAt(0), cdw: { 10: 0, 11: cdw11 } })
}

const remove = (host: TestHost, nsid: number) => host.admin({ opcode: 0x0d, nsid, cdw: { 10: 1 } })

/** Executes Namespace Attachment with a Controller List: the number of identifiers, then two bytes for each. */
async function attach(host: TestHost, nsid: number, sel = 0, controllers: readonly number[] = [0]) {
  const memory = host.alloc(4096)
  ;[controllers.length, ...controllers].forEach((value, i) => memory.view.setUint16(i * 2, value, true))
  return host.admin({ opcode: 0x15, nsid, prp1: memory.iovaAt(0), cdw: { 10: sel } })
}

const detach = (host: TestHost, nsid: number) => attach(host, nsid, 1)

describe('Namespace Management (Base 2.1 §5.1.21)', () => {
  it('creates a detached namespace with the lowest free NSID from unallocated capacity', async () => {
    const host = await ready({
      namespaces: [{ nsid: 1, capacityBytes: MIB }, { nsid: 3, capacityBytes: MIB }], // oxfmt-ignore
      spareCapacityBytes: 4 * MIB,
    })
    expect(await capacities(host)).toEqual([6 * MIB, 4 * MIB])
    expect(await create(host, { nsze: 256, flbas: 1 })).toMatchObject({ status: SUCCESS, dw0: 2 })
    expect(await capacities(host)).toEqual([6 * MIB, 3 * MIB])
    expect(await activeNsids(host)).toEqual([1, 3])
    expect((await identify(host, 0, 2)).view.getBigUint64(0, true)).toBe(0n)
    expect((await host.command(1, onBlocks(0x02, 0, 1, { nsid: 2, ...at(host, host.alloc(4096)) }))).status).toBe(
      INVALID_FIELD,
    )
    expect((await attach(host, 2)).status).toBe(SUCCESS)
    expect(await activeNsids(host)).toEqual([1, 2, 3])
    const { view } = await identify(host, 0, 2)
    expect([view.getBigUint64(0, true), view.getBigUint64(48, true), view.getUint8(26)]).toEqual([256n, 1048576n, 1])
  })

  it('creates a namespace with extended metadata that can be written and read', async () => {
    const host = await ready({ spareCapacityBytes: MIB })
    expect(await create(host, { nsze: 100, flbas: 0x12 })).toMatchObject({ status: SUCCESS, dw0: 2 })
    await attach(host, 2)
    const memory = host.alloc(520)
    bytesOf(memory).fill(3)
    const entry = { nsid: 2, ...at(host, memory) }
    expect((await host.command(1, onBlocks(0x01, 99, 1, entry))).status).toBe(SUCCESS)
    bytesOf(memory).fill(0)
    expect((await host.command(1, onBlocks(0x02, 99, 1, entry))).status).toBe(SUCCESS)
    expect(bytesOf(memory).every((byte) => byte === 3)).toBe(true)
    expect(await capacities(host)).toEqual([1024 ** 3 + MIB, MIB - 52_000])
  })

  it.each<[string, Wanted, string]>([
    ['more than the unallocated capacity', { nsze: 2049 }, INSUFFICIENT_CAPACITY],
    ['a size of 2^60 blocks', { nsze: 2 ** 60 }, INSUFFICIENT_CAPACITY],
    ['no blocks', { nsze: 0 }, INVALID_FIELD],
    ['a capacity below the size', { nsze: 100, ncap: 50 }, THIN_PROVISIONING_NOT_SUPPORTED],
    ['a capacity above the size', { nsze: 100, ncap: 150 }, INVALID_FIELD],
    ['a Format Index that does not exist', { flbas: 8 }, INVALID_FORMAT],
    ['protection information', { dps: 1 }, INVALID_FORMAT],
    ['an ANA group', { ana: 1 }, ANA_GROUP_IDENTIFIER_INVALID],
    ['an NVM Set without an Endurance Group', { set: 1 }, INVALID_FIELD],
    ['an Endurance Group that does not exist', { group: 1 }, INVALID_FIELD],
  ])('rejects %s, and allocates nothing', async (_, wanted, status) => {
    const host = await ready({ spareCapacityBytes: MIB })
    expect(await create(host, wanted)).toMatchObject({ status, dnr: true })
    expect((await capacities(host))[1]).toBe(MIB)
  })

  it('rejects an NSID, which the controller chooses, another command set, and a reserved SEL', async () => {
    const host = await ready({ spareCapacityBytes: MIB })
    expect((await create(host, {}, 2)).status).toBe(INVALID_FIELD)
    expect((await create(host, {}, 0, 2 << 24)).status).toBe(I_O_COMMAND_SET_NOT_SUPPORTED)
    expect((await host.admin({ opcode: 0x0d, nsid: 1, cdw: { 10: 2 } })).status).toBe(INVALID_FIELD)
  })

  it('without spare capacity, cannot create a namespace until another is deleted', async () => {
    const host = await ready({ namespaces: [{ nsid: 1, capacityBytes: MIB }] })
    await writeMarked(host, 0, [7])
    expect((await create(host)).status).toBe(INSUFFICIENT_CAPACITY)
    expect((await remove(host, 1)).status).toBe(SUCCESS)
    expect(await activeNsids(host)).toEqual([])
    expect(await capacities(host)).toEqual([MIB, MIB])
    expect(await create(host)).toMatchObject({ status: SUCCESS, dw0: 1 })
    expect((await attach(host, 1)).status).toBe(SUCCESS)
    expect(await readMarked(host, 0, 1)).toEqual([0])
    expect((await create(host, { nsze: 1 })).status).toBe(IDENTIFIER_UNAVAILABLE)
  })

  it('a namespace that reuses an NSID has default features; features of other namespaces remain', async () => {
    const host = await ready({ namespaces: [{ nsid: 1 }], spareCapacityBytes: MIB })
    // Error Recovery: Time Limited Error Recovery is bits 15:0; SV is bit 31 of CDW10, SEL is bits 10:8.
    const setRecovery = (nsid: number, value: number, sv = 0) =>
      host.admin({ opcode: 0x09, nsid, cdw: { 10: (0x05 | (sv << 31)) >>> 0, 11: value } })
    const recovery = async (nsid: number, sel: number) =>
      (await host.admin({ opcode: 0x0a, nsid, cdw: { 10: 0x05 | (sel << 8) } })).dw0
    expect(await create(host)).toMatchObject({ status: SUCCESS, dw0: 2 })
    await attach(host, 2)
    expect((await setRecovery(2, 1234, 1)).status).toBe(SUCCESS)
    expect((await setRecovery(2, 99)).status).toBe(SUCCESS)
    expect((await setRecovery(1, 55)).status).toBe(SUCCESS)
    expect((await remove(host, 2)).status).toBe(SUCCESS)
    expect(await create(host)).toMatchObject({ status: SUCCESS, dw0: 2 })
    await attach(host, 2)
    expect([await recovery(2, 0), await recovery(2, 2), await recovery(1, 0)]).toEqual([0, 0, 55])
  })

  it.each([
    ['NSID 0h', 0, INVALID_NAMESPACE_OR_FORMAT],
    ['an NSID above NN', 4, INVALID_NAMESPACE_OR_FORMAT],
    ['an NSID that is not allocated', 2, INVALID_FIELD],
  ])('does not delete %s', async (_, nsid, status) => {
    const host = await ready({ namespaces: [{ nsid: 1 }, { nsid: 3 }] })
    expect((await remove(host, nsid)).status).toBe(status)
    expect(await activeNsids(host)).toEqual([1, 3])
  })

  it.each([
    ['by its NSID', 2],
    ['by FFFFFFFFh', BROADCAST],
  ])('does not delete a namespace with media from the options, or any other namespace, %s', async (_, nsid) => {
    const media = new RamMedia(MIB)
    const host = await ready({ namespaces: [{ nsid: 1 }, { nsid: 2, media }] })
    await writeMarked(host, 0, [7])
    expect(await remove(host, nsid)).toMatchObject({ status: INVALID_FIELD, dnr: true })
    expect(await activeNsids(host)).toEqual([1, 2])
    expect(await readMarked(host, 0, 1)).toEqual([7])
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host deletes namespace 2, whose media was given in the options: it cannot be deleted',
    ])
    expect((await remove(host, 1)).status).toBe(SUCCESS)
  })

  it('deletes all namespaces with FFFFFFFFh, and succeeds if there is none', async () => {
    const host = await ready({ namespaces: [{ nsid: 1 }, { nsid: 3, attached: false }] })
    expect((await remove(host, BROADCAST)).status).toBe(SUCCESS)
    expect((await remove(host, BROADCAST)).status).toBe(SUCCESS)
    expect(await capacities(host)).toEqual([2 * 1024 ** 3, 2 * 1024 ** 3])
  })

  it('ends commands in flight for a deleted namespace as for an inactive NSID (Base 2.3 §8.1.16)', async () => {
    const host = await ready({ profile: 'sn740' })
    host.submit(1, onBlocks(0x02, 0, 1, at(host, host.alloc(512))))
    await host.pass(3_000)
    expect((await remove(host, 1)).status).toBe(SUCCESS)
    expect((await host.collect(1, 1))[0]!.status).toBe(INVALID_FIELD)
    await host.pass(1e9)
    expect(host.poll(1)).toEqual([])
  })
})

describe('Namespace Attachment (Base 2.1 §5.1.20)', () => {
  it('after a detach, Identify returns zeroes and I/O commands fail, also after a reset', async () => {
    const host = await ready()
    await writeMarked(host, 0, [5])
    expect((await detach(host, 1)).status).toBe(SUCCESS)
    expect((await detach(host, 1)).status).toBe(NOT_ATTACHED)
    expect(await activeNsids(host)).toEqual([])
    const { status, view } = await identify(host, 0, 1)
    expect([status, view.getBigUint64(0, true)]).toEqual([SUCCESS, 0n])
    expect(await readMarked(host, 0, 1)).toBe(INVALID_FIELD)
    await host.disable()
    await host.enable()
    await host.createPair(1, 8)
    expect(await readMarked(host, 0, 1)).toBe(INVALID_FIELD)
    expect((await attach(host, 1)).status).toBe(SUCCESS)
    expect((await attach(host, 1)).status).toBe(ALREADY_ATTACHED)
    expect(await readMarked(host, 0, 1)).toEqual([5])
  })

  it.each([
    ['without a controller', []],
    ['of another controller', [1]],
    ['of this controller and another', [0, 1]],
    ['of this controller twice', [0, 0]],
    ['of more controllers than fit', Array.from({ length: 2047 }, (_, i) => i)],
  ])('rejects a list %s', async (_, controllers) => {
    const host = await ready()
    expect((await attach(host, 1, 1, controllers)).status).toBe(CONTROLLER_LIST_INVALID)
    expect(await activeNsids(host)).toEqual([1])
  })

  it.each([
    ['NSID 0h', 0, 0, INVALID_NAMESPACE_OR_FORMAT],
    ['an NSID above NN', 4, 0, INVALID_NAMESPACE_OR_FORMAT],
    ['FFFFFFFFh', BROADCAST, 0, INVALID_FIELD],
    ['an NSID that is not allocated', 2, 0, INVALID_FIELD],
    ['a reserved SEL', 1, 2, INVALID_FIELD],
  ])('rejects %s', async (_, nsid, sel, status) => {
    const host = await ready({ namespaces: [{ nsid: 1 }, { nsid: 3 }] })
    expect((await attach(host, nsid, sel)).status).toBe(status)
  })
})
