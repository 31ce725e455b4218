import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BenchResults } from '../src/report/bench-results.js'
import { formatHtml } from '../src/report/html/page.js'
import { oneCell, sweep } from './bench-results.js'
import { hostileTexts, hugeNumbers, manySources, mixedFailures, modelled, nothingMeasured } from './bench-shapes.js'
import { Browser, chromiumMissing } from './browser/devtools.js'
import { scratch } from './gpunvme.js'

const CHECKS = readFileSync(join(import.meta.dirname, 'browser/page-checks.js'), 'utf8')
/** A4 without margins of 14 mm, in CSS pixels. */
const PAPER_WIDTH = 688
const cwd = scratch()

const shapes: [name: string, results: BenchResults][] = [
  ['one-cell', oneCell()],
  ['sweep', sweep()],
  ['mixed-failures', mixedFailures()],
  ['modelled', modelled()],
  ['huge-numbers', hugeNumbers()],
  ['hostile-texts', hostileTexts()],
  ['nothing-measured', nothingMeasured()],
  ['many-sources', manySources()],
]

describe.skipIf(chromiumMissing)(`in Chromium${chromiumMissing ? ` (skipped: ${chromiumMissing})` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await Browser.open()
  }, 120_000)
  afterAll(() => browser.close())

  const show = (width: number) =>
    browser.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false })
  const media = (name: '' | 'print', scheme: 'light' | 'dark') =>
    browser.send('Emulation.setEmulatedMedia', {
      media: name,
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    })
  const open = async (name: string, results: BenchResults) => {
    const path = join(cwd, `${name}.html`)
    writeFileSync(path, formatHtml(results))
    await media('', 'light')
    await browser.goTo(pathToFileURL(path).href)
    return pathToFileURL(path).href
  }
  const unfold = (open: boolean) =>
    browser.evaluate(`document.querySelectorAll('details').forEach((one) => (one.open = ${open}))`)

  test.each(shapes)(
    '%s has no requests, no console output, and a valid layout at every width and in print',
    async (name, results) => {
      const url = await open(name, results)
      const problems: Record<string, unknown> = {}
      // Widths change the layout, the scheme only colours.
      for (const [scheme, widths] of [
        ['light', [360, 768, 1280, 1600]],
        ['dark', [1280]],
      ] as const) {
        await media('', scheme)
        for (const width of widths) {
          await show(width)
          problems[`${width} ${scheme}`] = await browser.evaluate(CHECKS)
          await unfold(true)
          problems[`${width} ${scheme} unfolded`] = await browser.evaluate(CHECKS)
          await unfold(false)
        }
      }
      await show(PAPER_WIDTH)
      await media('print', 'dark')
      problems['print'] = await browser.evaluate(CHECKS)
      for (const [place, found] of Object.entries(problems)) expect({ place, found }).toEqual({ place, found: [] })

      const eventsOf = (...methods: string[]) => browser.events.filter(({ method }) => methods.includes(method))
      expect(eventsOf('Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Log.entryAdded')).toEqual([])
      const requested = eventsOf('Network.requestWillBeSent').map(
        ({ params }) => (params['request'] as { url: string }).url,
      )
      expect(requested.filter((one) => !one.startsWith('data:'))).toEqual([url])
    },
    300_000,
  )

  test('texts of drives are escaped, and the page contains the results', async () => {
    const results = hostileTexts()
    await open('hostile', results)
    const seen = await browser.evaluate(`({
      hacked: typeof window.hacked,
      elements: document.querySelectorAll('img, iframe, b, body style, body script:not(#results), [onload], [onmouseover]').length,
      title: document.title,
      results: document.querySelector('#results').textContent,
    })`)
    expect(seen).toMatchObject({ hacked: 'undefined', elements: 0, title: `gpunvme bench: ${results.drive.model}` })
    expect(JSON.parse((seen as { results: string }).results)).toEqual(results)
  }, 120_000)

  test('every drawing has a title, a description and a table', async () => {
    await open('sweep', sweep())
    const drawings = (await browser.evaluate(`[...document.querySelectorAll('svg[role=img]')].map((svg) => ({
      labels: svg.getAttribute('aria-labelledby').split(' ').map((id) => document.getElementById(id)?.textContent ?? ''),
      table: svg.closest('.card').querySelector('table') !== null || svg.closest('section').querySelector('dl') !== null,
    }))`)) as { labels: string[]; table: boolean }[]
    expect(drawings.length).toBeGreaterThan(6)
    for (const { labels, table } of drawings) {
      expect(labels.map((label) => label.length > 10)).toEqual([true, true])
      expect(table).toBe(true)
    }
  }, 120_000)
})
