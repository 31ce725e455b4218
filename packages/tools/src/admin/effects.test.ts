import { expect, test } from 'vitest'
import { describeEffects } from './effects.js'

/** Returns a page with these dwords, by index. */
function pageOf(bytes: number, dwords: Readonly<Record<number, number>>): DataView {
  const page = new DataView(new ArrayBuffer(bytes))
  for (const [index, value] of Object.entries(dwords)) page.setUint32(Number(index) * 4, value, true)
  return page
}

// Base 2.1 Figures 203, 209, 210 and 261.
test('describeEffects has a line for each supported command with its effects', () => {
  // Get Log Page; Format NVM: contents and capability change, alone on its namespace; C5h; I/O: Write.
  const page = pageOf(4096, { 0x02: 1, 0x80: 0x0001_0007, 0xc5: 1, 257: 3 })
  expect(describeEffects(0x05, page)).toEqual([
    'Admin commands (ACS)',
    '  02h  get log page',
    '  80h  format nvm  LBCC=1  NCC=1  CSE=ALONE_ON_NAMESPACE',
    '  C5h  unknown',
    '',
    'I/O commands (IOCS)',
    '  01h  write  LBCC=1',
  ])
})

test('describeEffects lists log pages and features, including effects of unsupported ones', () => {
  expect(describeEffects(0x00, pageOf(1024, { 2: 1, 7: 0x0001_0001 }))).toEqual([
    'Log pages of this drive (LIDS)',
    '  02h  smart health information',
    '  07h  telemetry host initiated  LIDSP=1',
  ])
  expect(describeEffects(0x12, pageOf(1024, { 6: 0x0010_0001, 7: 4 }))).toEqual([
    'Features of this drive (FIS)',
    '  06h  volatile write cache  NSCPE=1',
    '  07h  number of queues  FSUPP=0  NCC=1',
  ])
})

test('describeEffects returns undefined for other pages', () => {
  expect(describeEffects(0x02, pageOf(512, {}))).toBeUndefined()
})
