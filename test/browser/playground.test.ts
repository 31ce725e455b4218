import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumMissing, domInChromium } from '../../packages/nvme-spec/test/browser/chromium.js'
import { root } from '../packages.js'

let page: string
beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['playground/build.mjs'], { cwd: root, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  page = readFileSync(join(root, 'playground/dist/playground.html'), 'utf8')
})

test('the playground is one file below 300 kB without external references', () => {
  expect(page.length).toBeLessThan(300_000)
  expect(page).not.toMatch(/<link|@import|\b(src|href)=|https?:|\/\* (STYLE|PROGRAM) \*\//)
})

/** Makes the browser skip idle time by virtual time, so that the replay takes no real time. */
const BUDGET = ['--virtual-time-budget=20000']

async function figures(fragment: string) {
  const dom = await domInChromium({ '/': page }, { fragment: `#${fragment}`, more: BUDGET })
  const value = (id: string) => new RegExp(`id="${id}"[^>]*data-value="([^"]*)"`).exec(dom)?.[1]
  const status = /id="status"[^>]*>([^<]*)</.exec(dom)?.[1]
  return { dom, status, outcome: value('outcome'), number: (id: string) => Number(value(id)) }
}

describe.skipIf(chromiumMissing)(`in Chromium${chromiumMissing ? ` (skipped: ${chromiumMissing})` : ''}`, () => {
  test('a run without a fault reaches at least 95 % of the payload limit of the link, and does not exceed it', async () => {
    const { number, outcome, status } = await figures('drive=ideal&gen=3&width=4&mps=256')
    expect(status).toMatch(/^600 of 600 reads of 1 MiB completed in .* of virtual time$/)
    // Gen3 x4: 8 GT/s and 128b/130b over four lanes; packets of 256 bytes with 24 bytes around them.
    const limit = ((8e9 * 4 * 128) / 130 / 8) * (256 / 280)
    expect(number('limit')).toBeCloseTo(limit, 0)
    expect(number('throughput')).toBeLessThanOrEqual(limit)
    expect(number('throughput')).toBeGreaterThan(0.95 * limit)
    expect(outcome).toBe('none')
    // 80 layers of 518.7 MB. The loader's first read starts at once, so that its rate is close to that of the link.
    expect(number('token')).toBeGreaterThan((80 * 518.7e6) / limit)
    expect(number('token')).toBeLessThan((1.05 * (80 * 518.7e6)) / limit)
  })

  test.each([
    ['hang', 'Recovery, abort: succeeded'],
    ['lost', 'Recovery, recreate-queues: succeeded'],
    ['status', 'Fault: status: Unrecovered Read Error'],
    ['reset', 'Recovery, controller-reset: succeeded'],
    ['fatal', 'Recovery, controller-reset: succeeded'],
  ])('the driver recovers from the fault %s and completes every read', async (fault, step) => {
    const { number, dom, status, outcome } = await figures(`drive=sn740&fault=${fault}`)
    expect(status).toMatch(/^600 of 600 reads/)
    expect(outcome).toBe('recovered')
    expect(dom).toContain(step)
    expect(number('throughput')).toBeLessThan(number('limit'))
  })

  test('watching events does not delay a recovery: it begins at the command deadline', async () => {
    const { number } = await figures('drive=sn740&fault=hang&queueDepth=128&commandBytes=4096')
    // 768 reads of 4 KiB take 1.9 ms; the deadline of 2.4 ms begins early in the run.
    expect((768 * 4096) / number('throughput')).toBeLessThan(0.005)
  })

  test('a removed drive ends the run with an error', async () => {
    const { dom, status, outcome } = await figures('drive=sn740&fault=removed')
    expect(status).toMatch(/^\d+ of 600 reads/)
    expect(outcome).toBe('lost')
    expect(dom).toContain('Read failed: the controller was lost')
  })
})
