import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { profiles } from '../src/profiles/index.js'
import type { DriveProfile } from '../src/profiles/profile.js'
import { calibrate, renderCalibration, type CalibrationReport, type Comparison } from './index.js'

let report: CalibrationReport
beforeAll(async () => {
  report = await calibrate()
})

function pointOf(preset: string, what: string): Comparison {
  const [found, ...more] = report.points.filter((point) => point.preset === preset && point.what.startsWith(what))
  expect([found === undefined, more]).toEqual([false, []])
  return found!
}

it('docs/evidence/calibration.md holds what the code gives; `npm run calibrate -- --write` brings it up to date', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/evidence/calibration.md'), 'utf8')
  const [, written] = /<!-- calibration -->\n([\s\S]*?)\n<!-- \/calibration -->/.exec(page) ?? []
  expect(written).toBe(renderCalibration(report))
})

it('every preset of a drive has points that were fitted and points that were held back, each with its source', () => {
  for (const profile of Object.values<DriveProfile>(profiles).filter(({ name }) => name !== 'ideal')) {
    const uses = new Set(profile.points?.map(({ use }) => use))
    expect([profile.name, ...uses].sort()).toEqual([profile.name, 'fitted', 'held-back'].sort())
    expect(profile.points?.filter(({ source }) => source.length < 10)).toEqual([])
  }
})

it('points that were fitted are met within 5 %', () => {
  expect(report.points.filter(({ use, error }) => use === 'fitted' && Math.abs(error) > 0.05)).toEqual([])
})

it('sn740 reads 1 MiB commands, 32 deep, at 3,315 to 3,350 MiB/s', () => {
  const { modelValue } = pointOf('sn740', 'sustained read')
  expect(modelValue).toBeGreaterThan(3315)
  expect(modelValue).toBeLessThan(3350)
})

it('sn740 slows down after 53 s at that rate, and takes 314 ms instead of 202 ms for 670 MiB then', () => {
  expect(pointOf('sn740', 'full rate before throttling').modelValue).toBeCloseTo(53, 0)
  expect(Math.abs(pointOf('sn740', 'a layer of 670 MiB, cool').modelValue / 202 - 1)).toBeLessThan(0.01)
  expect(Math.abs(pointOf('sn740', 'a layer of 670 MiB, throttled').modelValue / 314 - 1)).toBeLessThan(0.01)
})

it.each([
  [64, 2111],
  [256, 2666],
  [512, 2634],
])('sn530 reads %i KiB, 32 deep, at %i MiB/s within 5 %%', (kib, published) => {
  expect(Math.abs(pointOf('sn530', `${kib} KiB, depth 32`).modelValue / published - 1)).toBeLessThan(0.05)
})

it.each([
  [4, 336],
  [16, 1393],
])("with the host's 11.4 µs per command sn530 reads %i KiB, 32 deep, at %i MiB/s within 5 %%", (kib, published) => {
  expect(Math.abs(pointOf('sn530', `${kib} KiB, depth 32`).modelValue / published - 1)).toBeLessThan(0.05)
})

it('980pro gives BaM its 0.80 M reads of 4 KiB a second, within 10 %', () => {
  expect(Math.abs(pointOf('980pro', 'random read, 4 KiB, deep queues').modelValue / 0.8e6 - 1)).toBeLessThan(0.1)
})

it('p5800x gives 5.0 M reads of 512 bytes a second at 25.5 µs, pm1753 3.86 M', () => {
  expect(pointOf('p5800x', 'random read, 512 B, depth 128').modelValue / 5e6).toBeCloseTo(1, 2)
  expect(pointOf('p5800x', 'mean latency').modelValue).toBeCloseTo(25.5, 0)
  expect(pointOf('pm1753', 'random read, 512 B: limit').modelValue / 3.86e6).toBeCloseTo(1, 2)
})

it('every check of the model is met', () => {
  expect(report.checks.length).toBe(10)
  expect(report.checks.filter(({ met }) => !met)).toEqual([])
})

it('every cell of the table of links comes out of the simulator within 1 %', () => {
  expect(report.links.length).toBe(27)
  expect(report.links.filter(({ error }) => Math.abs(error) > 0.01)).toEqual([])
})
