import { planResidence } from '@gpunvme/layer-loader'
import { expect, test } from 'vitest'
import { describePlan } from './residence-report.js'

const MIB = 1024 * 1024
const layers = Array.from({ length: 12 }, (_, index) => ({ name: `layer ${index}`, lengthBytes: 8 * MIB }))

function linesOf(budget: { vramBytes: number; ramBytes: number }, isKnown: boolean): string[] {
  const cost = { readNs: (bytes: number) => bytes / 3.5, ...(isKnown && { copyNs: (bytes: number) => bytes / 10 }) }
  const plan = planResidence(layers, { budget, tier: 1, cost, costFrom: 'preset sn740' })
  return describePlan('chat', plan, isKnown ? { gpuLink: { gen: 4, width: 16 } } : {})
}

test('a pass that copies at a rate that nobody knows has no time, and is not said to take none', () => {
  const lines = linesOf({ vramBytes: 40 * MIB, ramBytes: 128 * MIB }, false)
  expect(lines).toContain('predicted nothing: it copies 88 MiB at an unknown rate (set --gpu-link)')
})

test('a pass for which nothing is moved takes no time', () => {
  expect(linesOf({ vramBytes: 128 * MIB, ramBytes: 16 * MIB }, false)).toContain(
    'predicted no time: a pass moves no data',
  )
})

test('a pass that is known says what bounds it, and what that is computed from', () => {
  const text = linesOf({ vramBytes: 40 * MIB, ramBytes: 128 * MIB }, true)
    .join('\n')
    .replace(/\s+/g, ' ')
  expect(text).toMatch(/predicted [\d.]+ ms, bound by the gpu link, the first [\d.]+ µs longer, by the model of/)
  expect(text).toContain('the preset sn740; copies at the limit of Gen4 x16')
})
