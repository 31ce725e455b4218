import { expect, it } from 'vitest'
import { LinkModel } from './link.js'

// 2.5 GT/s × 4 lanes × 8/10 = 1 byte per ns.
const profile = { gen: 1, width: 4, mps: 256, propagationNs: 0, maxReadRequestBytes: 512 } as const

it('a small packet does not wait for a transfer in progress, but delays its end by its own length', () => {
  const link = new LinkModel(profile)
  // 256 bytes of payload are 280 on the wire, a completion entry is 40.
  expect(link.sendData(0, 256_000)).toBe(280_000)
  expect(link.postEntry(1000)).toBe(1040)
  expect(link.sendData(0, 256)).toBe(280_000 + 40 + 280)
  expect(link.upstream.busyNs).toBe(280_320)
})

it('a later small packet does not delay an earlier transfer', () => {
  const link = new LinkModel(profile)
  link.postEntry(10_000)
  expect(link.sendData(0, 256)).toBe(280)
})

it('an MSI-X message is 28 bytes upstream, with the propagation delay of other packets', () => {
  const link = new LinkModel({ ...profile, propagationNs: 150 })
  expect(link.interrupt(1000)).toBe(1000 + 28 + 150)
  expect([link.upstream.busyNs, link.downstream.busyNs]).toEqual([28, 0])
})

it('an entry fetch is a request of 24 bytes, or 20 with 32-bit addresses, and a completion of 84 bytes', () => {
  const link = new LinkModel(profile)
  expect(link.fetchEntry(0)).toBe(24 + 84)
  expect(new LinkModel({ ...profile, headerBytes: 12 }).fetchEntry(0)).toBe(20 + 84)
})

it('data read from host memory arrives in completions of the RCB size', () => {
  // 8 requests of 512 bytes each, then 64 completions of 84 bytes, or 16 of 276.
  expect(new LinkModel({ ...profile, rcb: 64 }).receiveData(0, 4096)).toBe(8 * 24 + 64 * 84)
  expect(new LinkModel(profile).receiveData(0, 4096)).toBe(8 * 24 + 16 * 276)
})

it('without a link profile, no transfer takes time', () => {
  const link = new LinkModel(undefined)
  expect([link.doorbell(7), link.fetchEntry(7), link.sendData(7, 1e9), link.receiveData(7, 1e9)]).toEqual([7, 7, 7, 7])
  expect(link.interrupt(7)).toBe(7)
})

it('rejects a link width and an RCB that PCIe does not define', () => {
  expect(() => new LinkModel({ ...profile, width: 3 })).toThrow('link width: expected 1, 2, 4, 8 or 16 lanes, got 3')
  expect(() => new LinkModel({ ...profile, rcb: 100 })).toThrow('RCB: expected 64 to 4096, a power of two, got 100')
})
