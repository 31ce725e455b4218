import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { otherDriver } from '../test/other-driver.js'
import { driverAreas } from './cases/index.js'
import { ERROR_CODES } from './error-codes.js'
import { driverCases, runDriverCase, simulatedDevices, type DriverUnderTest } from './index.js'

/** A case that expects each code. */
const EXPECTING: Readonly<Record<keyof typeof ERROR_CODES, string>> = {
  ERR_GPUNVME_NOT_READY: 'ready-never-rises',
  ERR_GPUNVME_UNSUPPORTED_CONTROLLER: 'no-nvm-command-set',
  ERR_GPUNVME_SERIAL_MISMATCH: 'wrong-serial',
  ERR_GPUNVME_CONTROLLER_IN_USE: 'opened-twice',
  ERR_GPUNVME_DEVICE_LOST: 'start-gone',
  ERR_GPUNVME_COMMAND: 'refused-create-cq',
  ERR_GPUNVME_COMMAND_TIMEOUT: 'start-hangs',
  ERR_GPUNVME_BLOCK_COMMAND: 'retry-limit-write-zeroes',
  ERR_GPUNVME_TRANSFER: 'transfer-error',
  ERR_GPUNVME_LBA_RANGE: 'input-past-the-end',
  ERR_GPUNVME_NAMESPACE_NOT_FOUND: 'no-namespace',
  ERR_GPUNVME_UNSUPPORTED_NAMESPACE: 'metadata-refused',
  ERR_GPUNVME_FOREIGN_DATA: 'foreign-data',
  ERR_GPUNVME_CONTROLLER_CLOSED: 'close-under-load',
  ERR_GPUNVME_SHUTDOWN_INCOMPLETE: 'shutdown-incomplete',
}

async function outcomeOf(id: string, driver: DriverUnderTest): Promise<string> {
  const each = driverCases.find((found) => found.id === id)!
  const result = await runDriverCase(each, simulatedDevices(), { time: 'virtual', driver })
  return result.outcome === 'failed' ? result.error.message : result.outcome
}

describe('a case that expects an error', () => {
  it.each(Object.entries(EXPECTING))('compares the code %s, not the class or the message (%s)', async (code, id) => {
    expect(await outcomeOf(id, otherDriver())).toBe('passed')
    const wrong = otherDriver((given) => (given === code ? 'ERR_GPUNVME_OTHER' : given))
    expect(await outcomeOf(id, wrong)).toContain(`expected ${code}, got ERR_GPUNVME_OTHER: OtherError: it failed`)
  })

  it.each(['options-out-of-range', 'input-nan', 'plan-of-no-operation', 'aborted-reason'])(
    'compares the error class, or the reason of a signal, not the message (%s)',
    async (id) => {
      expect(await outcomeOf(id, otherDriver())).toBe('passed')
    },
  )
})

const page = readFileSync(join(import.meta.dirname, '../docs/driver-cases.md'), 'utf8')

it('docs/driver-cases.md lists the areas with their numbers of cases', () => {
  const rows = [...page.matchAll(/^\| ([^|]+) \| (\d+) \|/gm)].map(([, area, cases]) => [area, Number(cases)])
  expect(rows).toEqual(driverAreas.map(({ area, cases }) => [area, cases.length]))
})

it('docs/driver-cases.md lists the error codes', () => {
  const rows = [...page.matchAll(/^\| `(ERR_GPUNVME_\w+)` +\| (.*?) +\|$/gm)].map(([, code, when]) => [code, when])
  expect(rows).toEqual(Object.entries(ERROR_CODES))
})
