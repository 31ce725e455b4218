import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatHtml } from '../src/report/index.js'
import { oneCell, sweep } from './bench-results.js'
import { Browser, chromiumMissing } from './browser/devtools.js'
import { scratch } from './gpunvme.js'

const REPORTS = join(import.meta.dirname, '../.reports')
const shapes = { 'one cell': oneCell(), sweep: sweep() }
const cwd = scratch()

describe.skipIf(chromiumMissing)(`in Chromium${chromiumMissing ? ` (skipped: ${chromiumMissing})` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await Browser.open()
  }, 120_000)
  afterAll(() => browser.close())

  test.each(Object.entries(shapes))(
    '%s',
    async (name, results) => {
      const path = join(cwd, `${name}.html`)
      writeFileSync(path, formatHtml(results))
      for (const scheme of ['light', 'dark']) {
        await browser.send('Emulation.setEmulatedMedia', {
          features: [{ name: 'prefers-color-scheme', value: scheme }],
        })
        for (const width of [360, 1280]) {
          await browser.send('Emulation.setDeviceMetricsOverride', {
            width,
            height: 800,
            deviceScaleFactor: 1,
            mobile: false,
          })
          await browser.goTo(pathToFileURL(path).href)
          const { data } = await browser.send('Page.captureScreenshot', { captureBeyondViewport: true })
          mkdirSync(REPORTS, { recursive: true })
          writeFileSync(join(REPORTS, `${name.replaceAll(' ', '-')}-${width}-${scheme}.png`), data as string, 'base64')
        }
      }
      expect(browser.events.length).toBeGreaterThan(0)
    },
    120_000,
  )
})
