import { planResidence } from '@gpunvme/layer-loader/residence'
import { expect, test } from 'vitest'
import { describePlan } from './residence-report.js'

const MIB = 1024 * 1024
const layers = Array.from({ length: 12 }, (_, index) => ({ name: `layer ${index}`, lengthBytes: 8 * MIB }))

function linesOf(budget: { vramBytes: number; ramBytes: number }, isKnown: boolean): string[] {
  const cost = { readNs: (bytes: number) => bytes / 3.5, ...(isKnown && { copyNs: (bytes: number) => bytes / 10 }) }
  const plan = planResidence(layers, { budget, tier: 1, cost, costFrom: 'preset sn740' })
  return describePlan('chat', plan, isKnown ? { gpuLink: { gen: 4, width: 16 } } : {})
}

test('describePlan predicts nothing for copies at an unknown rate', () => {
  const lines = linesOf({ vramBytes: 40 * MIB, ramBytes: 128 * MIB }, false)
  expect(lines).toContain('predicted nothing: it copies 88 MiB at an unknown rate (set --gpu-link)')
})

test('describePlan predicts no time for a pass without transfers', () => {
  expect(linesOf({ vramBytes: 128 * MIB, ramBytes: 16 * MIB }, false)).toContain(
    'predicted no time: a pass moves no data',
  )
})

test('describePlan shows times of passes, lower bounds and the source of costs', () => {
  const lines = linesOf({ vramBytes: 40 * MIB, ramBytes: 128 * MIB }, true)
  expect(lines).toContain('predicted by the model of the preset sn740; copies at the limit of Gen4 x16')
  // 3 layers are read and 11 copied.
  expect(lines).toContain('later                     9.23 ms')
  expect(lines).toContain('Lower bounds: drive 7.19 ms, GPU link 9.23 ms.')
  expect(lines.join('\n')).toMatch(/\nA PASS +TIME\nfirst, from a cold drive {2}10\.8 ms\n/)
})

test('describePlan shows times with slow checksums and with throttling', () => {
  const throttle = { factor: 2, limitBytes: 1e9, recoveredBytes: 0, coolingBytesPerSecond: 0 }
  const cost = { readNs: (bytes: number) => bytes / 3.5, throttle }
  const timesAt = (bytesPerNs: number) => {
    const budget = { vramBytes: 72 * MIB, ramBytes: 16 * MIB }
    const checkNs = (bytes: number) => bytes / bytesPerNs
    const plan = planResidence(layers, { budget, tier: 1, cost, costFrom: 'measured', checkNs })
    return describePlan('chat', plan)
  }
  // Seven layers of 8 MiB are read.
  expect(timesAt(1)).toEqual(
    expect.arrayContaining([
      'A PASS                           UNVERIFIED  VERIFIED',
      'later                               16.8 ms   58.7 ms',
      'later, once the drive throttles     33.6 ms   58.7 ms',
      'throttles after                      286 ms       1 s',
      'Lower bounds: drive 16.8 ms; with verification, checks 58.7 ms.',
    ]),
  )
  expect(timesAt(100)).toContain('A PASS                              TIME')
})
