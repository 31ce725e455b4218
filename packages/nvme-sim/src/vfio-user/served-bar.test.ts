import { describe, expect, it } from 'vitest'
import { BAR0, DirectClient, EINVAL, words } from '../../test/vfio-user/direct-client.js'
import { textsOf } from '../../test/diagnostics.js'

const [VS, AQA, ASQ, ACQ, DOORBELLS, TABLE, PENDING] = [0x08, 0x24, 0x28, 0x30, 0x1000, 0x2000, 0x3000]

const connected = () => new DirectClient().agree()

describe('accesses to BAR0', () => {
  it('of 8 bytes are allowed for 64-bit registers only', () => {
    const client = connected()
    expect(client.write(BAR0, ASQ, words([64, 0x1234_5678_9000n]))).toBe(0)
    expect((client.read(BAR0, ASQ, 8) as DataView).getBigUint64(0, true)).toBe(0x1234_5678_9000n)
    expect(client.write32(BAR0, ACQ + 4, 0x77)).toBe(0)
    expect((client.read(BAR0, ACQ, 8) as DataView).getBigUint64(0, true)).toBe(0x77_0000_0000n)
    for (const offset of [VS, AQA - 4, DOORBELLS, DOORBELLS + 8]) {
      expect(client.read(BAR0, offset, 8)).toBe(EINVAL)
      expect(client.write(BAR0, offset, new Uint8Array(8))).toBe(EINVAL)
    }
    expect(client.diagnostics.entries.length).toBe(8)
    expect(client.diagnostics.entries[0]?.text).toBe(
      'client sent REGION_READ: 8 bytes at 0x8 of BAR0: expected 4 aligned bytes, or 8 of a 64-bit register',
    )
  })

  it.each([
    [VS, 1],
    [VS, 2],
    [VS, 3],
    [VS + 1, 4],
    [ASQ + 4, 8],
    [VS, 5],
    [VS, 16],
    [VS, 4096],
    [0x4000, 4],
    [0x3ffe, 4],
    [2 ** 40, 4],
    [VS, 0],
  ])('at offset %i of %i bytes are rejected', (offset, count) => {
    const client = connected()
    expect(client.read(BAR0, offset, count)).toBe(EINVAL)
    if (count > 0) expect(client.write(BAR0, offset, new Uint8Array(count))).toBe(EINVAL)
    expect(client.diagnostics.entries.length).toBe(count > 0 ? 2 : 1)
  })

  it('to the MSI-X Table are stored without effect; its vectors are masked for each new client', () => {
    const client = connected()
    expect(client.read32(BAR0, TABLE + 12)).toBe(1)
    client.write(BAR0, TABLE, words([64, 0xfee0_0000n]))
    client.write(BAR0, TABLE + 8, words([64, 0x4021n]))
    expect((client.read(BAR0, TABLE, 8) as DataView).getBigUint64(0, true)).toBe(0xfee0_0000n)
    expect(client.read32(BAR0, TABLE + 12)).toBe(0)
    // The vector still signals nothing: the client has set no eventfd.
    expect(client.served.device.pci.msix.isMasked(0)).toBe(true)
    client.reconnect()
    expect(client.agree().read32(BAR0, TABLE + 12)).toBe(1)
  })

  it('cannot write the Pending Bit Array', () => {
    const client = connected()
    expect(client.write32(BAR0, PENDING, 1)).toBe(0)
    expect((client.read(BAR0, PENDING, 8) as DataView).getBigUint64(0, true)).toBe(0n)
    expect(textsOf(client.diagnostics.entries)).toEqual([
      'host wrote 0x1 to offset 0x3000: the MSI-X Pending Bit Array is read-only',
    ])
  })
})

describe('doorbells in mapped memory', () => {
  it('are a file for the range from 1000h to the MSI-X Table; each client gets a new file', () => {
    const client = new DirectClient({ mappedDoorbells: true }).agree()
    const { errno, data, descriptor } = client.ask(5, words([32, 72], [32, 0], [32, 0], [32, 0], [64, 0], [64, 0]))
    expect(errno).toBe(0)
    // READ, WRITE, MMAP and CAPS; one capability after the 32 bytes: sparse mmap, version 1, one area.
    expect([0, 4, 8, 12].map((at) => data.getUint32(at, true))).toEqual([64, 15, 0, 32])
    expect([data.getUint16(32, true), data.getUint16(34, true), data.getUint32(36, true)]).toEqual([1, 1, 0])
    expect(data.getUint32(40, true)).toBe(1)
    expect([data.getBigUint64(48, true), data.getBigUint64(56, true)]).toEqual([0x1000n, 0x1000n])
    expect(descriptor).toBeGreaterThan(2)
    expect(client.memory.mapped.size).toBe(1)
    const [before] = client.memory.mapped
    expect(client.doorbells!.poll()).toBe(false)
    // A doorbell write by message still works; the simulator reports it, since the queue does not exist.
    client.write32(BAR0, 0x1000, 5)
    expect(textsOf(client.diagnostics.entries)).toEqual(['host rang SQ 0 tail 5, but CSTS.RDY is 0'])
    client.reconnect()
    expect(client.memory.mapped.size).toBe(1)
    expect([...client.memory.mapped][0]).not.toBe(before)
    client.leave()
    expect(client.memory.mapped.size).toBe(0)
  })

  it('are reported without capability and file to a client whose argsz is too small', () => {
    const client = new DirectClient({ mappedDoorbells: true }).agree()
    const { errno, data, descriptor } = client.ask(5, words([32, 32], [32, 0], [32, 0], [32, 0], [64, 0], [64, 0]))
    expect([errno, data.byteLength, descriptor]).toEqual([0, 32, -1])
    expect([data.getUint32(0, true), data.getUint32(12, true)]).toEqual([64, 0])
    client.leave()
  })
})
