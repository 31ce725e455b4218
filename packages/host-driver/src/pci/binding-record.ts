import { show } from '../check-options.js'
import { DriverError } from '../error.js'
import { checkBdf } from '../machine-files/bdf.js'

/** Drivers that leave a function to user space; null for none at all. */
export type UserSpaceDriver = 'vfio-pci' | 'gpunvme' | 'uio_pci_generic' | null

/**
 * Changes of a binding, and the state before: plain data, from which `restoreBinding` restores the function in any
 * process. Its names are stable: later releases read records of this one while `version` is 1.
 */
export interface BindingRecord {
  /** Version of the record's format. */
  readonly version: 1
  /** PCI address of the function. */
  readonly bdf: string
  /** Driver that the binding binds. */
  readonly driver: UserSpaceDriver
  /** Previous driver; null if there was none. */
  readonly previous: string | null
  /** driver_override to restore; empty for none. */
  readonly override: string
  /** The previous driver is unknown, since an earlier binding was never restored: the kernel probes for one. */
  readonly isProbed: boolean
  /** power/control to restore, 'auto' or 'on'; null if the kernel has none. */
  readonly powerControl: string | null
  /** Steps that were begun, by name. A process that was killed may not have completed the last one. */
  readonly begun: readonly string[]
}

const DRIVERS: readonly unknown[] = ['vfio-pci', 'gpunvme', 'uio_pci_generic', null] satisfies UserSpaceDriver[]

/** Maximum length of the name of a step or driver, and of an override. */
const MAX_LENGTH = 120

/** Checks a driver to bind. @throws TypeError for a driver that does not leave a function to user space. */
export function checkDriver(driver: unknown): asserts driver is UserSpaceDriver {
  if (!DRIVERS.includes(driver))
    throw new TypeError(`driver: expected 'vfio-pci', 'gpunvme', 'uio_pci_generic' or null, got ${show(driver)}`)
}

/**
 * Checks a record that was read from a file. Its names become part of paths below /sys, so everything else is rejected.
 * @throws DriverError (BINDING_RECORD)
 */
export function parseBindingRecord(value: unknown): BindingRecord {
  const refuse = (problem: string): never => {
    throw new DriverError('ERR_GPUNVME_BINDING_RECORD', 'infeasible', `Invalid binding record: ${problem}`, {
      next: 'use the release of gpunvme that wrote it, or bind the driver by hand, with its file bind in sysfs',
    })
  }
  if (typeof value !== 'object' || value === null) return refuse('not an object')
  const { version, bdf, driver, previous, override, isProbed, powerControl, begun } = value as Partial<
    Record<keyof BindingRecord, unknown>
  >
  if (version !== 1) return refuse(`version ${show(version)}, expected 1`)
  try {
    checkBdf(bdf as string)
    checkDriver(driver)
  } catch (error) {
    return refuse((error as Error).message)
  }
  if (previous !== null && !isName(previous)) return refuse(`previous: expected a driver name, got ${show(previous)}`)
  if (!isLine(override)) return refuse(`override: expected one line, got ${show(override)}`)
  if (typeof isProbed !== 'boolean') return refuse(`isProbed: expected true or false, got ${show(isProbed)}`)
  if (powerControl !== null && powerControl !== 'auto' && powerControl !== 'on')
    return refuse(`powerControl: expected auto, on or null, got ${show(powerControl)}`)
  if (!Array.isArray(begun) || begun.length > 8 || !begun.every(isLine))
    return refuse(`begun: expected names of steps, got ${show(begun)}`)
  return { version, bdf: bdf as string, driver, previous, override, isProbed, powerControl, begun }
}

/** Whether a value can be the name of a driver, which is a directory in sysfs. */
function isName(value: unknown): value is string {
  return isLine(value) && !['', '.', '..'].includes(value) && !value.includes('/')
}

function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_LENGTH && !/[\0\n]/.test(value)
}
