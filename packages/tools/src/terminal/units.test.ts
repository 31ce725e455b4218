import { expect, test } from 'vitest'
import { formatBytes, formatDuration, formatRate, parseBytes, plural } from './units.js'

test('formatBytes uses binary units with three significant digits', () => {
  const cases: [number, string][] = [
    [0, '0 B'],
    [512, '512 B'],
    [1024, '1 KiB'],
    [1536, '1.5 KiB'],
    [1_048_575, '1 MiB'],
    [268_435_456, '256 MiB'],
    [5_569_024, '5.31 MiB'],
    [1023 * 1024, '1023 KiB'],
    [512_110_190_592, '477 GiB'],
  ]
  for (const [bytes, text] of cases) expect(formatBytes(bytes)).toBe(text)
})

test('formatRate uses decimal units: 3,330 MiB/s are 3.49 GB/s', () => {
  expect(formatRate(3330 * 1024 * 1024, 1e9)).toBe('3.49 GB/s')
  expect(formatRate(1_000_000, 1e9)).toBe('1 MB/s')
  expect(formatRate(3_485_000_000, 1e9)).toBe('3.49 GB/s')
})

test('formatRate prints a dash without elapsed time', () => {
  expect(formatRate(4096, 0)).toBe('-')
})

test('formatDuration uses common units', () => {
  const cases: [number, string][] = [
    [940, '940 ns'],
    [76_912_345, '76.9 ms'],
    [2_410_000_000, '2.41 s'],
    [200e9, '3 min 20 s'],
    [119.7e9, '2 min 0 s'],
  ]
  for (const [ns, text] of cases) expect(formatDuration(ns)).toBe(text)
})

test('parseBytes accepts binary and decimal units', () => {
  expect(parseBytes('4096')).toBe(4096)
  expect(parseBytes('512MiB')).toBe(536_870_912)
  expect(parseBytes('16 GB')).toBe(16_000_000_000)
  expect(parseBytes('1.5GiB')).toBe(1_610_612_736)
})

test('parseBytes rejects ambiguous and invalid sizes', () => {
  for (const text of ['16G', '', 'MiB', '-1', '1e9', '0x10', '1.0000001KiB', '99999999TiB']) {
    expect(parseBytes(text)).toBeUndefined()
  }
})

test('plural uses the singular for 1', () => {
  expect([plural(0, 'layer'), plural(1, 'layer'), plural(2, 'layer')]).toEqual(['0 layers', '1 layer', '2 layers'])
})
