import { randomStream } from '@gpunvme/nvme-spec/faults'
import { expect, it } from 'vitest'
import { DriveModel } from './drive-model.js'
import type { DriveTiming } from './drive-timing.js'
import { meanLatency } from './latency.js'

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

it('the processor executes one command at a time', () => {
  const model = drive()
  expect([model.process(0), model.process(0), model.process(1000)]).toEqual([100, 200, 1100])
})

it('the media execute as many commands at a time as there are media units', () => {
  const model = drive()
  expect(Array.from({ length: 5 }, () => model.access(0, 'read'))).toEqual([50, 50, 100, 100, 150])
})

it('the media unit that is free first executes the next command', () => {
  const free = [0, 0, 0, 0, 0, 0, 0]
  const model = drive({ mediaUnits: 7 })
  const twin = drive({ mediaUnits: 500 })
  for (let i = 0; i < 500; i++) {
    // The twin never queues a command, so it returns the latency that was drawn.
    const lengthNs = twin.access(0, 'write')
    free.sort((a, b) => a - b)
    free[0]! += lengthNs
    expect(model.access(0, 'write')).toBeCloseTo(free[0]!, 6)
  }
})

it('controller time precedes media time and overlaps for all commands', () => {
  const model = drive({ controllerNs: [20, 20, 20, 20, 20], mediaUnits: 1 })
  expect([model.access(0, 'read'), model.access(0, 'read'), model.access(0, 'none')]).toEqual([70, 120, 20])
})

it('an operation without media access uses no media unit', () => {
  const model = drive({ mediaUnits: 1 })
  expect([model.access(7, 'none'), model.access(0, 'read')]).toEqual([7, 50])
})

it('a deallocation takes deallocateNs, or the time of a write by default', () => {
  const own = drive({ deallocateNs: [9, 9, 9, 9, 9] })
  expect(own.access(0, 'deallocate')).toBe(9)
  expect(drive().access(0, 'deallocate')).toBe(drive().access(0, 'write'))
})

it('reads and writes have separate data paths, each with one transfer at a time', () => {
  const model = drive()
  expect([model.transfer(0, 'read', 1000), model.transfer(0, 'read', 1000)]).toEqual([1000, 2000])
  expect([model.transfer(0, 'write', 1000), model.transfer(0, 'write', 1000)]).toEqual([2000, 4000])
})

it('each transfer uses its data path for a setup time in addition to its bytes', () => {
  const model = drive({ readSetupNs: 10, writeSetupNs: 30 })
  expect([model.transfer(0, 'read', 1000), model.transfer(0, 'read', 0)]).toEqual([1010, 1020])
  expect(model.transfer(0, 'write', 1000)).toBe(2030)
})

it('latencies have the distribution of their quantiles', () => {
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

it('the mean of a distribution is that of its linear pieces', () => {
  // 50 % at 50, 40 % at 150, 9 % at 250 and 1 % at 650 on average.
  expect(meanLatency([0, 100, 200, 300, 1000])).toBeCloseTo(114, 9)
})

it('a forced throttle slows all operations that begin before its end by its factor', () => {
  const model = drive({ mediaUnits: 1 })
  model.throttle(4, 1000)
  expect([model.process(0), model.access(0, 'read'), model.transfer(0, 'read', 100)]).toEqual([400, 200, 400])
  expect([model.process(1000), model.access(1000, 'read')]).toEqual([1100, 1050])
  expect([model.slowdown(999), model.slowdown(1000)]).toEqual([4, 1])
})

it('a drive throttles by its factor after a long transfer, and recovers when idle', () => {
  // Heat rises by 1 GB/s and falls by 0.5 GB/s, so it reaches the limit of 1 GB after 2 s.
  const thermal = { factor: 1.5, limitBytes: 1e9, recoveredBytes: 0.25e9, coolingBytesPerSecond: 0.5e9 }
  const model = drive({ thermal })
  let endNs = 0
  while (model.slowdown(endNs) === 1) endNs = model.transfer(endNs, 'read', 1e6)
  expect(endNs / 1e9).toBeCloseTo(2, 2)
  expect(model.heatShare(endNs)).toBeCloseTo(1, 2)
  expect(model.transfer(endNs, 'read', 1e6) - endNs).toBeCloseTo(1.5e6, 3)
  // At 0.67 GB/s, the drive stays throttled while the transfers continue.
  for (let i = 0; i < 5000; i++) endNs = model.transfer(endNs, 'read', 1e6)
  expect(model.slowdown(endNs)).toBe(1.5)
  expect([model.slowdown(endNs + 1.4e9), model.slowdown(endNs + 1.5e9)]).toEqual([1.5, 1])
})
