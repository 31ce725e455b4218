import { describe, expect, it } from 'vitest'
import { BAR0, CONFIG, DirectClient, EINVAL, words } from '../../test/vfio-user/direct-client.js'

// Offsets in configuration space (PCI Local Bus 3.0 §6.1; PCIe 1.2 Figures 32 and 49), not from the implementation.
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
  it('returns all 4096 bytes or any part of them', () => {
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
  ])('rejects a read at offset %i of %i bytes', (offset, count) => {
    expect(connected().read(CONFIG, offset, count)).toBe(EINVAL)
  })
})

describe('writing configuration space', () => {
  it('BAR0 returns its size after ones are written, and stores an address without effect', () => {
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

  it('accepts 1, 2 and 4 bytes anywhere inside a dword', () => {
    const client = connected()
    expect(client.write(CONFIG, CMD + 1, Uint8Array.of(0x04))).toBe(0)
    expect(client.read32(CONFIG, CMD) & 0xffff).toBe(0x0406)
    // Only Cache Line Size is writable in this dword.
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
  ])('rejects an invalid size or a write across dwords: at offset %i, %i bytes', (offset, count) => {
    const client = connected()
    expect(client.write(CONFIG, offset, new Uint8Array(count))).toBe(EINVAL)
    expect(client.diagnostics.entries).toHaveLength(1)
  })

  it('stores MSI-X Message Control without enabling MSI-X', () => {
    const client = connected()
    expect(client.write(CONFIG, MXC, words([16, 0xffff]))).toBe(0)
    const shown = (client.read(CONFIG, MXC, 2) as DataView).getUint16(0, true)
    // Enable and Function Mask are writable; Table Size is read-only: 64 queue pairs and the Admin queue, 0's based.
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

  it('Function Level Reset resets the controller and keeps the Command register', () => {
    const client = connected()
    client.write(CONFIG, CMD, words([16, 0x0406]))
    client.write32(BAR0, CC, 0x0046_0000)
    expect(client.write(CONFIG, PXDC, words([16, 0x8000]))).toBe(0)
    expect(client.read32(BAR0, CC)).toBe(0)
    expect(client.read32(CONFIG, CMD) & 0xffff).toBe(0x0406)
  })

  it('D3hot makes registers read all ones until D0', () => {
    const client = connected()
    client.write(CONFIG, PMCS, words([16, 3]))
    expect(client.read32(BAR0, CSTS)).toBe(ALL_ONES)
    client.write(CONFIG, PMCS, words([16, 0]))
    expect(client.read32(BAR0, CSTS)).toBe(0)
  })

  it('Memory Space Enable = 0 makes registers read all ones', () => {
    const client = connected()
    client.write(CONFIG, CMD, words([16, 0]))
    expect(client.read32(BAR0, CSTS)).toBe(ALL_ONES)
    expect(client.read32(BAR0, 0x2000)).toBe(ALL_ONES)
  })

  it('a removed device reads all ones', () => {
    const client = connected()
    client.served.controller.remove()
    expect(bytesOf(client.read(CONFIG, 0, 4096)).every((byte) => byte === 0xff)).toBe(true)
    expect(client.read32(BAR0, 0)).toBe(ALL_ONES)
    client.reconnect()
    expect(client.agree().read32(BAR0, 8)).toBe(0x0002_0100)
  })
})
