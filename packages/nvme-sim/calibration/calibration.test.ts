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
  const [found, ...more] = report.points.filter((point) => point.preset === preset && point.metric.startsWith(what))
  expect([found === undefined, more]).toEqual([false, []])
  return found!
}

it('docs/evidence/calibration.md is up to date; otherwise run `npm run calibrate -- --write`', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/evidence/calibration.md'), 'utf8')
  const [, written] = /<!-- calibration -->\n([\s\S]*?)\n<!-- \/calibration -->/.exec(page) ?? []
  expect(written).toBe(renderCalibration(report))
})

it('every preset of a drive has fitted and held-back points, each with its source', () => {
  for (const profile of Object.values<DriveProfile>(profiles).filter(({ name }) => name !== 'ideal')) {
    const uses = new Set(profile.points?.map(({ use }) => use))
    expect([profile.name, ...uses].sort()).toEqual([profile.name, 'fitted', 'held-back'].sort())
    expect(profile.points?.filter(({ source }) => source.length < 10)).toEqual([])
  }
})

it('the model meets fitted points within 5 %', () => {
  expect(report.points.filter(({ use, error }) => use === 'fitted' && Math.abs(error) > 0.05)).toEqual([])
})

it('sn740 reads 1 MiB at depth 32 at 3,315 to 3,350 MiB/s', () => {
  const { modelValue } = pointOf('sn740', 'sustained read')
  expect(modelValue).toBeGreaterThan(3315)
  expect(modelValue).toBeLessThan(3350)
})

it('sn740 throttles after 53 s at that rate, and then takes 314 ms instead of 202 ms for 670 MiB', () => {
  expect(pointOf('sn740', 'full rate before throttling').modelValue).toBeCloseTo(53, 0)
  expect(Math.abs(pointOf('sn740', 'a layer of 670 MiB, cool').modelValue / 202 - 1)).toBeLessThan(0.01)
  expect(Math.abs(pointOf('sn740', 'a layer of 670 MiB, throttled').modelValue / 314 - 1)).toBeLessThan(0.01)
})

it.each([
  [64, 2111],
  [256, 2666],
  [512, 2634],
])('sn530 reads %i KiB at depth 32 at %i MiB/s within 5 %%', (kib, published) => {
  expect(Math.abs(pointOf('sn530', `${kib} KiB, depth 32`).modelValue / published - 1)).toBeLessThan(0.05)
})

it.each([
  [4, 336],
  [16, 1393],
])('sn530 reads %i KiB at depth 32 at %i MiB/s within 5 %%, with 11.4 µs of host time each', (kib, published) => {
  expect(Math.abs(pointOf('sn530', `${kib} KiB, depth 32`).modelValue / published - 1)).toBeLessThan(0.05)
})

it('980pro reads 4 KiB at 0.80 million commands per second, as measured by BaM, within 10 %', () => {
  expect(Math.abs(pointOf('980pro', 'random read, 4 KiB, deep queues').modelValue / 0.8e6 - 1)).toBeLessThan(0.1)
})

it('p5800x reads 512 bytes at 5.0 million commands per second and 25.5 µs, pm1753 at 3.86 million', () => {
  expect(pointOf('p5800x', 'random read, 512 B, depth 128').modelValue / 5e6).toBeCloseTo(1, 2)
  expect(pointOf('p5800x', 'mean latency').modelValue).toBeCloseTo(25.5, 0)
  expect(pointOf('pm1753', 'random read, 512 B: limit').modelValue / 3.86e6).toBeCloseTo(1, 2)
})

it('the model meets every check', () => {
  expect(report.checks.length).toBe(10)
  expect(report.checks.filter(({ met }) => !met)).toEqual([])
})

it('the simulator meets every cell of the link table within 1 %', () => {
  expect(report.links.length).toBe(27)
  expect(report.links.filter(({ error }) => Math.abs(error) > 0.01)).toEqual([])
})
