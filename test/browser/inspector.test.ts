import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Controller } from '@gpunvme/host-driver'
import { formatHexDump } from '@gpunvme/nvme-spec/hex-dump'
import { jsonlTrace } from '@gpunvme/nvme-spec/trace'
import { simulate } from '@gpunvme/nvme-sim'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONTROLLERS } from '../../packages/nvme-spec/test/nvme-cli/captured.js'
import { Browser, chromiumMissing } from '../../packages/tools/test/browser/devtools.js'
import { root } from '../packages.js'

const FILE = join(root, 'inspector/dist/inspector.html')
const CHECKS = readFileSync(join(root, 'packages/tools/test/browser/page-checks.js'), 'utf8')

let page: string
beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['inspector/build.mjs'], { cwd: root, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  page = readFileSync(FILE, 'utf8')
})

test('the inspector is one file below 300 kB without external references, and its policy allows no requests', () => {
  expect(page.length).toBeLessThan(300_000)
  // The SVG namespace is a name, not an address to load.
  const own = page.replaceAll('http://www.w3.org/2000/svg', '')
  expect(/<link|@import|\b(?:src|href)=|https?:|\/\* (?:STYLE|PROGRAM) \*\/|POLICY/.exec(own)?.[0]).toBeUndefined()
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? []
  expect(policy.replaceAll(/sha256-[\w+/=]{44}/g, 'HASH').split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'HASH'",
    "style-src 'HASH'",
    "base-uri 'none'",
    "form-action 'none'",
  ])
})

/** Identify Controller as QEMU 7.2 returned it. */
function identify(): Uint8Array {
  const bytes = new Uint8Array(4096)
  for (const [offset, digits] of Object.entries(CONTROLLERS[0]!.bytes!))
    bytes.set(Buffer.from(digits, 'hex'), Number(offset))
  return bytes
}

/** A trace of six reads on the simulator; one of them hangs until it is aborted. */
async function trace(): Promise<string> {
  let text = ''
  const faults = { rules: [{ match: { qid: 1, opcode: 2, nth: 3 }, action: { kind: 'hang' } }] } as const
  const { transport } = simulate({ profile: 'sn740', seed: 7, faults, trace: jsonlTrace((line) => (text += line)) })
  const controller = await Controller.open(transport)
  await Promise.all([0, 1, 2, 3, 4, 5].map((i) => controller.namespace(1).readBytes(i * 4096, 4096)))
  await controller.close()
  return text
}

describe.skipIf(chromiumMissing)(`in Chromium${chromiumMissing ? ` (skipped: ${chromiumMissing})` : ''}`, () => {
  const url = pathToFileURL(FILE).href
  let browser: Browser
  beforeAll(async () => {
    browser = await Browser.open()
  }, 120_000)
  afterAll(() => browser.close())

  const show = (width: number, scheme: string) =>
    Promise.all([
      browser.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false }),
      browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] }),
    ])
  const paste = (text: string) =>
    browser.evaluate(`(() => {
      const input = document.getElementById('text')
      input.value = ${JSON.stringify(text)}
      input.dispatchEvent(new Event('input'))
    })()`)
  const text = (selector: string) =>
    browser.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.textContent)`)
  const status = () => browser.evaluate(`document.getElementById('status').textContent`)
  /** Names, values and meanings of the lines shown. */
  const values = async () => (await text('.row:not([hidden]) .value')) as string[]
  const press = async (...keys: string[]) => {
    for (const key of keys)
      for (const type of ['keyDown', 'keyUp']) await browser.send('Input.dispatchKeyEvent', { type, key })
  }
  const requests = () =>
    browser.events.flatMap(({ method, params }) =>
      method === 'Network.requestWillBeSent' ? [(params['request'] as { url: string }).url] : [],
    )
  const complaints = () =>
    browser.events.filter(({ method }) => /consoleAPICalled|exceptionThrown|entryAdded/.test(method))

  test.each([
    [400, 'light'],
    [400, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ])(
    'at %i px, %s: every view fits, has sufficient contrast, logs nothing and makes no requests',
    async (width, scheme) => {
      await show(width, scheme)
      await browser.goTo(url)
      expect(await browser.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe(
        scheme === 'dark' ? 'rgb(13, 17, 23)' : 'rgb(255, 255, 255)',
      )
      const inputs = {
        nothing: '',
        registers: 'CC=0x00460001\nCSTS=0x80000001',
        entry: '02001204 01000000'.padEnd(129, '0'),
        identify: formatHexDump(identify()).join('\n'),
        trace: await trace(),
        error: 'no bytes',
      }
      for (const [name, input] of Object.entries(inputs)) {
        await paste(input)
        expect({ name, problems: await browser.evaluate(CHECKS) }).toEqual({ name, problems: [] })
      }
      await paste(inputs.trace)
      await browser.evaluate(`document.querySelectorAll('.event')[3].click()`)
      expect(await browser.evaluate(CHECKS)).toEqual([])
      expect(complaints()).toEqual([])
      expect(requests()).toEqual([url])
    },
  )

  test('decodes Identify data from a dropped binary file', async () => {
    await show(1280, 'light')
    await browser.goTo(url)
    await browser.evaluate(`(() => {
      const dropped = new DataTransfer()
      dropped.items.add(new File([Uint8Array.from(${JSON.stringify([...identify()])})], 'controller.bin'))
      dispatchEvent(new DragEvent('drop', { dataTransfer: dropped, cancelable: true }))
    })()`)
    while ((await status()) === '') await browser.evaluate('0')
    expect(await status()).toBe('controller.bin: 4096 bytes: CNS 01h controller, by length')
    const shown = await values()
    expect(shown).toContain('VID0x1b36')
    expect(shown).toContain('MN"QEMU NVMe Ctrl"')
    expect(shown).toContain('MDTS7512 KiB at 4 KiB pages')
    expect(shown).toContain('CNTRLTYPE1IO')
    expect(shown).toContain('WCTEMP34370 °C')
  })

  test('decodes a hex dump of a completion, and registers by name', async () => {
    await browser.goTo(url)
    await paste('00000000: 0000 0000 0000 0000 0400 0100 1204 0181  ................\n')
    expect(await values()).toContain('STATUS0x8101LBA Out of Range (SCT 0h SC 80h, DNR)')
    await paste('CC=0x00460001\nVS=0x00020100')
    expect(await status()).toBe('2 register values')
    expect(await values()).toEqual(expect.arrayContaining(['EN1enabled', 'IOSQES664 bytes', 'VS0x000201002.1.0']))
  })

  test('filters fields by text and by nonzero values, and keeps their parents', async () => {
    await browser.goTo(url)
    await paste(formatHexDump(identify()).join('\n'))
    await browser.evaluate(`(() => {
      const search = document.querySelector('input[type=search]')
      search.value = 'format nvm supported'
      search.dispatchEvent(new Event('input'))
    })()`)
    expect(await values()).toEqual(['OACS0x010a', 'FNVMS1supported'])
    expect(await text('.filter [role=status]')).toEqual([expect.stringMatching(/^2 of \d{3} lines$/)])
    await browser.evaluate(`(() => {
      const search = document.querySelector('input[type=search]')
      search.value = ''
      search.dispatchEvent(new Event('input'))
      document.querySelector('.filter input[type=checkbox]').click()
    })()`)
    const set = await values()
    expect(set).toContain('VID0x1b36')
    expect(set.filter((value) => /^(?:CMIC|ANATT|PSD\[1\])/.test(value))).toEqual([])
  })

  test('arrow keys move between fields and highlight their bytes; clicking a byte selects its field', async () => {
    await browser.goTo(url)
    await paste(formatHexDump(identify()).join('\n'))
    await browser.evaluate(`document.querySelector('.row[tabindex="0"]').focus()`)
    await press('ArrowDown', 'ArrowDown')
    const focused = () => browser.evaluate(`document.activeElement.title`)
    expect(await focused()).toBe('SN')
    expect(await text('.bytes .lit')).toHaveLength(20)
    await press('End')
    expect(await focused()).toBe('VS')
    await press('Home')
    expect(await focused()).toBe('VID')
    await browser.evaluate(`document.querySelectorAll('.bytes i')[77].click()`)
    expect(await focused()).toBe('MDTS')
    expect(await text('.bytes .lit')).toEqual(['07'])
  })

  test('shows a trace of the simulator as a timeline of queues, with a filter and docs of the fields', async () => {
    await browser.goTo(url)
    await paste(await trace())
    expect(await status()).toMatch(
      /^Trace of [\d.]+ s: \d+ events, \d+ commands on 2 queues, 1 failed, \d+ without a completion$/,
    )
    expect(await text('.timeline .track')).toEqual(['queue 0', 'queue 1', 'fault'])
    const bars = (state: string) => browser.evaluate(`document.querySelectorAll('.bar.${state}').length`)
    // The aborted read, and its fault.
    expect(await bars('failed')).toBe(2)
    await browser.evaluate(
      `[...document.querySelectorAll('.chip')].find((each) => each.textContent.startsWith('queue 0')).click()`,
    )
    expect(await text('.timeline .track')).toEqual(['queue 1', 'fault'])
    // Six reads, the fault of the third, and the retry of the third after its deadline.
    expect(await text('.event .what b')).toEqual([...Array<string>(6).fill('Read'), 'hang', 'Read'])
    await browser.evaluate(`document.querySelectorAll('.event')[0].click()`)
    expect(await text('.detail .doc')).toEqual(expect.arrayContaining(['Namespace Identifier', 'Starting LBA']))
    await browser.evaluate(`(() => {
      const search = document.querySelector('.trace input[type=search]')
      search.value = 'abort'
      search.dispatchEvent(new Event('input'))
    })()`)
    expect(await text('.event .what b')).toEqual(['Read'])
  })

  test('keys zoom the timeline', async () => {
    await browser.goTo(url)
    await paste(await trace())
    const labels = () => text('.timeline svg text:not(.track)')
    const all = await labels()
    await browser.evaluate(`document.querySelector('.timeline').focus()`)
    await press('+', '+')
    expect(await labels()).not.toEqual(all)
    await press('0')
    expect(await labels()).toEqual(all)
  })

  test('reports invalid text with a next step, and shows markup as text', async () => {
    await browser.goTo(url)
    await paste('<img src=x onerror=alert(1)>')
    expect(await text('#error')).toEqual([
      "Expected hexadecimal digits in the text, got '<img'. Try: use plain digits as printed by `xxd -p`, or a binary file",
    ])
    await paste(`{"timeNs":0,"track":"<b>x</b>","name":"<img src=x onerror=alert(1)>"}`)
    expect(await browser.evaluate(`document.querySelectorAll('#result img, #result .chip b').length`)).toBe(0)
    expect(requests()).toEqual([url])
  })

  test('the policy blocks requests of scripts', async () => {
    await browser.goTo(url)
    await browser.evaluate(
      `addEventListener('securitypolicyviolation', ({ effectiveDirective }) => (document.title = effectiveDirective))`,
    )
    await browser.evaluate(`void fetch('http://127.0.0.1:9/').catch(() => 0)`)
    while ((await browser.evaluate('document.title')) === 'NVMe inspector') await browser.evaluate('0')
    expect(await browser.evaluate('document.title')).toBe('connect-src')
  })
})
