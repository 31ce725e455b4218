import { expect, it } from 'vitest'
import { DriveModel } from './drive-model.js'
import type { DriveTiming } from './drive-timing.js'
import { LinkModel } from './link.js'
import { randomStream } from './random.js'

const timing: DriveTiming = {
  commandNs: 100,
  adminNs: 0,
  readNs: [50, 50, 50, 50, 50],
  writeNs: [0, 100, 200, 300, 1000],
  flushNs: [0, 0, 0, 0, 0],
  mediaUnits: 2,
  readBytesPerSecond: 1e9,
  writeBytesPerSecond: 5e8,
}
const drive = (changes: Partial<DriveTiming> = {}) => new DriveModel({ ...timing, ...changes }, randomStream(1, 'test'))

it('the processor serves one command after the other', () => {
  const model = drive()
  expect([model.process(0), model.process(0), model.process(1000)]).toEqual([100, 200, 1100])
})

it('the media serves as many commands at a time as it has units', () => {
  const model = drive()
  expect(Array.from({ length: 5 }, () => model.access(0, 'read'))).toEqual([50, 50, 100, 100, 150])
})

it('reads and writes have each their own data path, which serves one transfer after the other', () => {
  const model = drive()
  expect([model.transfer(0, 'read', 1000), model.transfer(0, 'read', 1000)]).toEqual([1000, 2000])
  expect([model.transfer(0, 'write', 1000), model.transfer(0, 'write', 1000)]).toEqual([2000, 4000])
})

it('latencies are drawn by their quantiles', () => {
  const model = drive({ mediaUnits: 1 })
  const latencies = Array.from({ length: 20_000 }, (_, i) => model.access(i * 1e6, 'write') - i * 1e6)
  const share = (below: number) => latencies.filter((latency) => latency < below).length / latencies.length
  for (const [below, expected] of [
    [100, 0.5],
    [200, 0.9],
    [300, 0.99],
    [1000, 1],
  ] as const) {
    expect(Math.abs(share(below) - expected)).toBeLessThan(0.01)
  }
})

it('a small packet does not wait for a transfer under way, and makes it end later by its own length', () => {
  const link = new LinkModel({ gen: 1, width: 4, mps: 256, propagationNs: 0, maxReadRequestBytes: 512 })
  // 2.5 GT/s × 4 lanes × 8/10 = 1 byte per ns; 256 bytes of payload are 280 on the wire, a completion entry is 40.
  expect(link.sendData(0, 256_000)).toBe(280_000)
  expect(link.postEntry(1000)).toBe(1040)
  expect(link.sendData(0, 256)).toBe(280_000 + 40 + 280)
  expect(link.upstream.busyNs).toBe(280_320)
})

it('without a link profile nothing takes time', () => {
  const link = new LinkModel(undefined)
  expect([link.doorbell(7), link.fetchEntry(7), link.sendData(7, 1e9), link.receiveData(7, 1e9)]).toEqual([7, 7, 7, 7])
})
