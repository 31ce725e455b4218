import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { bytesOf, fillPattern, prps, ready } from '../../test/host.js'
import { deriveProfile, RamMedia, type Media, type SimulationOptions } from '../index.js'

const SUCCESS = '0/00'

/** Writes a pattern and reads it into other memory. Returns the statuses and whether all bytes are equal. */
async function roundTrip(
  options: SimulationOptions,
  lengthBytes: number,
  offsetBytes: number,
  slba: number,
  blockBytes = 512,
) {
  const host = await ready(options)
  const [from, to] = [host.alloc(offsetBytes + lengthBytes), host.alloc(offsetBytes + lengthBytes)]
  fillPattern(from)
  bytesOf(to).fill(0xa5)
  const blocks = lengthBytes / blockBytes
  const write = await host.command(1, transfer(0x01, slba, blocks, prps(host, from, offsetBytes, lengthBytes)))
  const read = await host.command(1, transfer(0x02, slba, blocks, prps(host, to, offsetBytes, lengthBytes)))
  const isSame = Buffer.compare(bytesOf(from, offsetBytes), bytesOf(to, offsetBytes)) === 0
  const isClean = bytesOf(to, 0, offsetBytes).every((byte) => byte === 0xa5)
  const { diagnostics, statistics } = host.simulation
  return { status: [write.status, read.status], isSame, isClean, diagnostics, statistics }
}

const good = { status: [SUCCESS, SUCCESS], isSame: true, isClean: true, diagnostics: [] }

describe('Read and Write (NVM 1.2 §3.3.4, §3.3.6)', () => {
  it.each([
    ['one block in PRP1', 512, 0],
    ['a page in PRP1', 4096, 0],
    ['a block up to the end of the page', 512, 4096 - 512],
    ['a block across two pages, the second in PRP2', 512, 4096 - 4],
    ['two pages', 8192, 0],
    ['three pages by a PRP list', 12288, 0],
    ['an offset in the first page, by a PRP list', 64 * 1024, 516],
    ['MDTS, 1 MiB', 1024 * 1024, 0],
    ['MDTS from an offset: one more page', 1024 * 1024, 2048],
  ])('transfer %s', async (_, lengthBytes, offsetBytes) => {
    for (const fragmented of [false, true]) {
      expect(await roundTrip({ fragmented }, lengthBytes, offsetBytes, 3)).toMatchObject(good)
    }
  })

  it.each([
    ['512 entries: the list fills its page', 513 * 4096, 0],
    ['513 entries: the last one of the first list page points to the next', 514 * 4096, 0],
    ['1,536 entries over four list pages', 1537 * 4096, 0],
    ['chained lists and an offset', 1537 * 4096, 1024],
  ])('transfer data by PRP lists: %s (Base 2.1 §4.3.1)', async (_, lengthBytes, offsetBytes) => {
    const profile = deriveProfile('ideal', { identify: { MDTS: 0 } })
    expect(await roundTrip({ profile, fragmented: true }, lengthBytes, offsetBytes, 8)).toMatchObject(good)
  })

  it('work with 4096-byte blocks', async () => {
    const options: SimulationOptions = { namespaces: [{ blockBytes: 4096 }], fragmented: true }
    expect(await roundTrip(options, 256 * 1024, 0, 100, 4096)).toMatchObject(good)
  })

  it('reach the last LBA of a sparse namespace of 2^52 bytes', async () => {
    const options: SimulationOptions = { namespaces: [{ capacityBytes: 2 ** 52 }] }
    expect(await roundTrip(options, 4096, 0, 2 ** 43 - 8)).toMatchObject(good)
  })

  it('work with the timing of a drive, and count bytes and commands', async () => {
    const { statistics, ...rest } = await roundTrip({ profile: 'sn740', fragmented: true }, 1024 * 1024, 0, 0)
    expect(rest).toEqual(good)
    expect(statistics).toMatchObject({
      ioCommands: { 1: 1, 2: 1 },
      bytesRead: 2 ** 20,
      bytesWritten: 2 ** 20,
      errors: 0,
    })
  })

  it('read zeroes from blocks that were never written', async () => {
    const host = await ready()
    const memory = host.alloc(8192)
    bytesOf(memory).fill(0xa5)
    await host.command(1, transfer(0x02, 5, 16, prps(host, memory)))
    expect(bytesOf(memory).every((byte) => byte === 0)).toBe(true)
  })
})

describe('errors of I/O commands', () => {
  const end = 2 ** 21
  it.each([
    ['the first LBA past the end', end, 1, 1, '0/80'],
    ['a range that ends outside of the namespace', end - 7, 8, 1, '0/80'],
    ['an SLBA of 2^64 - 1, whose range wraps', 2 ** 64, 8, 1, '0/80'],
    ['NSID 0h', 0, 8, 0, '0/0b'],
    ['an NSID above NN', 0, 8, 4, '0/0b'],
    ['an inactive NSID', 0, 8, 2, '0/02'],
    ['the broadcast NSID', 0, 8, 0xffff_ffff, '0/02'],
    ['more than MDTS', 0, 2049, 1, '0/02'],
  ])('%s ends with DNR and transfers nothing', async (_, slba, blocks, nsid, status) => {
    const host = await ready({ namespaces: [{ nsid: 1 }, { nsid: 3 }] })
    const memory = host.alloc(4 * 1024 * 1024)
    bytesOf(memory).fill(0xa5)
    const entry = transfer(0x02, Math.min(slba, 2 ** 53), blocks, prps(host, memory, 0, blocks * 512), nsid)
    const cdw = slba < 2 ** 53 ? entry.cdw! : { ...entry.cdw, 10: 0xffff_ffff, 11: 0xffff_ffff }
    expect(await host.command(1, { ...entry, cdw })).toMatchObject({ status, dnr: true })
    expect(bytesOf(memory).every((byte) => byte === 0xa5)).toBe(true)
  })

  it('PRINFO is ignored, since no format has protection information (NVM 1.2 §2.1.5, Figure 11)', async () => {
    const host = await ready()
    const entry = transfer(0x02, 0, 8, prps(host, host.alloc(4096)))
    const completed = await host.command(1, { ...entry, cdw: { ...entry.cdw, 12: 7 | (0xf << 26) } })
    expect(completed.status).toBe(SUCCESS)
  })

  it('the last LBA is in range', async () => {
    const host = await ready()
    const memory = host.alloc(4096)
    expect((await host.command(1, transfer(0x02, end - 8, 8, prps(host, memory)))).status).toBe(SUCCESS)
  })

  it.each([0x03, 0x06, 0x07, 0x0d, 0x0e, 0x11, 0x12, 0x15, 0x18, 0x1d, 0x80, 0xff])(
    'opcode %i is an Invalid Command Opcode',
    async (opcode) => {
      const host = await ready()
      expect((await host.command(1, { opcode, nsid: 1 })).status).toBe('0/01')
    },
  )

  it('a Write to a write protected namespace is rejected', async () => {
    const media: Media = Object.assign(new RamMedia(1 << 20), { readOnly: true })
    const host = await ready({ namespaces: [{ media }] })
    const memory = host.alloc(4096)
    expect((await host.command(1, transfer(0x01, 0, 8, prps(host, memory)))).status).toBe('0/20')
    expect((await host.command(1, transfer(0x02, 0, 8, prps(host, memory)))).status).toBe(SUCCESS)
  })

  it('an error of the media is an Unrecovered Read Error or a Write Fault, and the controller continues', async () => {
    const broken = () => {
      throw new Error('no such sector')
    }
    const media: Media = {
      capacityBytes: 1 << 20,
      read: broken,
      write: broken,
      flush: () => undefined,
      close: () => undefined,
    }
    const host = await ready({ namespaces: [{ media }] })
    const memory = host.alloc(4096)
    expect(await host.command(1, transfer(0x02, 0, 8, prps(host, memory)))).toMatchObject({
      status: '2/81',
      dnr: false,
    })
    expect((await host.command(1, transfer(0x01, 0, 8, prps(host, memory)))).status).toBe('2/80')
    expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe(SUCCESS)
  })

  it('freeing the memory of a command in flight is a Data Transfer Error', async () => {
    const host = await ready({ profile: 'sn740' })
    const memory = host.alloc(4096)
    host.submit(1, transfer(0x02, 0, 8, prps(host, memory)))
    await host.pass(10_000)
    memory.free()
    expect((await host.collect(1, 1))[0]).toMatchObject({ status: '0/04', dnr: false })
  })
})

describe('Flush (Base 2.1 §7.2)', () => {
  it.each([
    [1, SUCCESS, [1]],
    [3, SUCCESS, [3]],
    [0xffff_ffff, SUCCESS, [1, 3]],
    [2, '0/02', []],
    [0, '0/0b', []],
  ])('with NSID %i ends with %s and flushes namespaces %j', async (nsid, status, expected) => {
    const flushed: number[] = []
    const namespaces = [1, 3].map((id) => {
      const media: Media = Object.assign(new RamMedia(4096), { flush: () => void flushed.push(id) })
      return { nsid: id, media }
    })
    const host = await ready({ namespaces })
    expect((await host.command(1, { opcode: 0x00, nsid })).status).toBe(status)
    expect(flushed).toEqual(expected)
  })
})
