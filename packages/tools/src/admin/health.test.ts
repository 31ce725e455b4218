import { SmartHealthLog } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { describeHealth, healthOf } from './health.js'

/** Returns a log page with these bytes in hexadecimal, by offset. */
function smartOf(bytes: Readonly<Record<number, string>>) {
  const page = Buffer.alloc(512)
  for (const [offset, hex] of Object.entries(bytes)) page.write(hex, Number(offset), 'hex')
  return SmartHealthLog.decode(new DataView(new Uint8Array(page).buffer))
}

const LIMITS = { WCTEMP: 343, CCTEMP: 353 }

// Offsets and units: Base 2.1 Figure 206.
test('healthOf converts values to degrees Celsius, bytes, hours and percent', () => {
  const smart = smartOf({
    1: '3601', // 310 K
    3: '640a03', // spare 100 %, threshold 10 %, used 3 %
    32: '4042', // 0x4240 data units read
    64: '07', // host reads
    128: '1027', // 10,000 hours
    200: '2c01', // sensor 1: 300 K
    202: '0000', // sensor 2 is not there
    204: '3601', // sensor 3
    216: '02000000', // Thermal Management Temperature 1 Transition Count
    224: '1e000000', // 30 s of it
  })
  const health = healthOf(smart, LIMITS)
  expect(health).toMatchObject({
    warnings: [],
    ...{ temperatureCelsius: 37, warningCelsius: 70, criticalCelsius: 80 },
    sensors: [
      { sensor: 1, celsius: 27 },
      { sensor: 3, celsius: 37 },
    ],
    ...{ sparePercent: 100, spareThresholdPercent: 10, usedPercent: 3 },
    ...{ readBytes: 0x4240n * 512_000n, readCommands: 7n, powerOnHours: 10_000n },
    thermalManagement: [
      { level: 1, transitions: 2, seconds: 30 },
      { level: 2, transitions: 0, seconds: 0 },
    ],
  })
  const lines = describeHealth(health)
  expect(lines[0]).toBe('No critical warning (CW)')
  expect(lines).toContain('  temperature       37 °C, warning from 70 °C, critical from 80 °C')
  expect(lines).toContain('  throttled (1)     2 times, 30 s in all')
})

test('describeHealth lists all critical warnings in its first line', () => {
  const health = healthOf(smartOf({ 0: '09', 1: '3601', 6: '08' }), LIMITS)
  expect(health.warnings).toEqual([
    { field: 'CW.ASCBT', text: 'Available Spare Capacity Below Threshold', critical: true },
    { field: 'CW.AMRO', text: 'All Media Read-Only', critical: true },
    { field: 'EGCWS.EGRO', text: 'Endurance Group Read-Only', critical: true },
  ])
  expect(describeHealth(health)[0]).toBe(
    'CRITICAL WARNING: Available Spare Capacity Below Threshold (CW.ASCBT); ' +
      'All Media Read-Only (CW.AMRO); Endurance Group Read-Only (EGCWS.EGRO)',
  )
})

test('healthOf reports unknown bits of Critical Warning', () => {
  const [warning] = healthOf(smartOf({ 0: '80', 1: '3601' }), LIMITS).warnings
  expect(warning).toEqual({ field: 'CW.reserved', text: 'unknown bits 0x80', critical: true })
})

test.each([
  [{ 1: '5701' }, 'CTEMP', 'temperature reaches the warning limit (WCTEMP)'],
  [{ 1: '6101' }, 'CTEMP', 'temperature reaches the critical limit (CCTEMP)'],
  [{ 1: '3601', 5: '64' }, 'PUSED', '100 % of rated endurance is used'],
  [{ 1: '3601', 160: '01' }, 'MDIE', 'uncorrectable data errors: 1'],
])('healthOf warns at thresholds without a critical warning: %o', (bytes, field, text) => {
  const health = healthOf(smartOf(bytes), LIMITS)
  expect(health.warnings).toEqual([{ field, text, critical: false }])
  expect(describeHealth(health).slice(0, 2)).toEqual(['No critical warning (CW)', `Warning: ${text} (${field})`])
})

test('a page of all ones is printed without invalid numbers', () => {
  const health = healthOf(smartOf({ 0: 'ff'.repeat(512) }), { WCTEMP: 0, CCTEMP: 0 })
  expect(health.readBytes).toBe((2n ** 128n - 1n) * 512_000n)
  expect(describeHealth(health).every((line) => !/NaN|Infinity|undefined/.test(line))).toBe(true)
  expect(describeHealth(health)).toContain('  used              more than 254 % of rated endurance')
})
