import { describe, expect, it } from 'vitest'
import { BAR0, CONFIG, DirectClient, EINVAL, words } from '../../test/vfio-user/direct-client.js'

// Offsets of configuration space as numbers (PCI Local Bus 3.0 §6.1; PCIe 1.2 Figures 32, 49): the client's own knowledge.
const CMD = 0x04
const BAR = 0x10
const PMCS = 0x44
const MXC = 0x52
const PXDC = 0x68
const CC = 0x14
const CSTS = 0x1c
const ALL_ONES = 0xffff_ffff

const connected = () => new DirectClient().agree()
const bytesOf = (view: DataView | number) => [
  ...new Uint8Array((view as DataView).buffer, (view as DataView).byteOffset),
]

describe('reading configuration space', () => {
  it('gives all 4096 bytes at once, and any part of them as in the whole', () => {
    const client = connected()
    const whole = bytesOf(client.read(CONFIG, 0, 4096))
    expect(whole).toHaveLength(4096)
    // NVM Express: mass storage, non-volatile memory, I/O controller (PCIe 1.2 Figure 8).
    expect(whole.slice(9, 12)).toEqual([2, 8, 1])
    expect(bytesOf(client.read(CONFIG, 0xfe, 7))).toEqual(whole.slice(0xfe, 0x105))
    for (const [offset, count] of [
      [1, 1],
      [3, 2],
      [5, 3],
      [7, 4],
      [4095, 1],
    ] as const) {
      expect(bytesOf(client.read(CONFIG, offset, count))).toEqual(whole.slice(offset, offset + count))
    }
  })

  it.each([
    [0, 0],
    [4096, 1],
    [4093, 4],
    [0, 4097],
    [2 ** 53, 4],
  ])('of nothing, or beyond it, is refused: %i, %i bytes', (offset, count) => {
    expect(connected().read(CONFIG, offset, count)).toBe(EINVAL)
  })
})

describe('writing configuration space', () => {
  it('BAR0 says its size where ones are written, and keeps any address, which moves nothing', () => {
    const client = connected()
    client.write32(CONFIG, BAR, ALL_ONES)
    client.write32(CONFIG, BAR + 4, ALL_ONES)
    // 16 KiB, anywhere in 64 bits.
    expect(client.read32(CONFIG, BAR)).toBe(0xffff_c004)
    expect(client.read32(CONFIG, BAR + 4)).toBe(ALL_ONES)
    client.write32(CONFIG, BAR, 0)
    client.write32(CONFIG, BAR + 4, 1)
    expect(client.read32(CONFIG, BAR)).toBe(4)
    expect(client.read32(BAR0, 8)).toBe(0x0002_0100)
  })

  it('takes 1, 2 and 4 bytes wherever they lie in a dword', () => {
    const client = connected()
    expect(client.write(CONFIG, CMD + 1, Uint8Array.of(0x04))).toBe(0)
    expect(client.read32(CONFIG, CMD) & 0xffff).toBe(0x0406)
    // Cache Line Size alone can be written of these four.
    expect(client.write(CONFIG, 0x0b, Uint8Array.of(9))).toBe(0)
    expect(client.write(CONFIG, 0x0d, Uint8Array.of(9, 9))).toBe(0)
    expect(client.write(CONFIG, 0x0c, Uint8Array.of(0x20, 9, 9, 9))).toBe(0)
    expect(client.read32(CONFIG, 0x0c)).toBe(0x20)
  })

  it.each([
    [2, 4],
    [3, 2],
    [0, 3],
    [0, 8],
    [4095, 2],
  ])('takes no bytes of two dwords, nor 3 or 8: at %i, %i bytes', (offset, count) => {
    const client = connected()
    expect(client.write(CONFIG, offset, new Uint8Array(count))).toBe(EINVAL)
    expect(client.diagnostics.entries).toHaveLength(1)
  })

  it('MSI-X Message Control is kept, and turns nothing on', () => {
    const client = connected()
    expect(client.write(CONFIG, MXC, words([16, 0xffff]))).toBe(0)
    const shown = (client.read(CONFIG, MXC, 2) as DataView).getUint16(0, true)
    // Enable and Function Mask, and the size of the table, which cannot be written: 64 queue pairs and the Admin queue.
    expect(shown).toBe(0xc000 | 64)
    expect(client.served.device.pci.isMessageSignaled).toBe(false)
    client.write(CONFIG, MXC + 1, Uint8Array.of(0x80))
    expect(client.read32(CONFIG, 0x50) >>> 16).toBe(0x8000 | 64)
    client.write32(CONFIG, 0x50, 0)
    expect(client.read32(CONFIG, 0x50) >>> 16).toBe(64)
    client.write(CONFIG, MXC, words([16, 0x8000]))
    client.reconnect()
    expect(client.agree().read32(CONFIG, 0x50) >>> 16).toBe(64)
  })

  it('Function Level Reset resets the controller, and leaves what the client has set up', () => {
    const client = connected()
    client.write(CONFIG, CMD, words([16, 0x0406]))
    client.write32(BAR0, CC, 0x0046_0000)
    expect(client.write(CONFIG, PXDC, words([16, 0x8000]))).toBe(0)
    expect(client.read32(BAR0, CC)).toBe(0)
    expect(client.read32(CONFIG, CMD) & 0xffff).toBe(0x0406)
  })

  it('in D3hot no register answers, and all do again in D0', () => {
    const client = connected()
    client.write(CONFIG, PMCS, words([16, 3]))
    expect(client.read32(BAR0, CSTS)).toBe(ALL_ONES)
    client.write(CONFIG, PMCS, words([16, 0]))
    expect(client.read32(BAR0, CSTS)).toBe(0)
  })

  it('with Memory Space Enable 0 no register answers', () => {
    const client = connected()
    client.write(CONFIG, CMD, words([16, 0]))
    expect(client.read32(BAR0, CSTS)).toBe(ALL_ONES)
    expect(client.read32(BAR0, 0x2000)).toBe(ALL_ONES)
  })

  it('a device that has left the bus shows nothing but ones', () => {
    const client = connected()
    client.served.controller.remove()
    expect(bytesOf(client.read(CONFIG, 0, 4096)).every((byte) => byte === 0xff)).toBe(true)
    expect(client.read32(BAR0, 0)).toBe(ALL_ONES)
    client.reconnect()
    expect(client.agree().read32(BAR0, 8)).toBe(0x0002_0100)
  })
})
