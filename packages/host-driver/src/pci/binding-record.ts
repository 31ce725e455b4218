import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { show } from '../check-options.js'
import { checkBdf } from './function.js'

/** Drivers that leave a function to user space; null for none at all. */
export type UserSpaceDriver = 'vfio-pci' | 'gpunvme' | 'uio_pci_generic' | null

/**
 * What a binding has changed, and what was there before: plain data, from which `restoreBinding` of any process gives
 * the function back. Its names are stable; a later release reads what this one has written, for as long as `version` is 1.
 */
export interface BindingRecord {
  readonly version: 1
  readonly bdf: string
  readonly driver: UserSpaceDriver
  /** The driver that had the function before; null where none did. */
  readonly previous: string | null
  /** The driver_override to put back; empty for none. */
  readonly override: string
  /** Nobody knows any more which driver it was taken from, since a binding before was never restored: the kernel looks. */
  readonly isProbed: boolean
  /** The power/control to put back, 'auto' or 'on'; null where the kernel has none. */
  readonly powerControl: string | null
  /** The steps that were begun, by their names; a process that was killed may not have carried the last one out. */
  readonly begun: readonly string[]
}

const DRIVERS: readonly unknown[] = ['vfio-pci', 'gpunvme', 'uio_pci_generic', null] satisfies UserSpaceDriver[]

/** No step of a binding, no override and no name of a driver is longer. */
const MAX_LENGTH = 120

/** @throws TypeError for what is no driver that leaves a function to user space. */
export function checkDriver(driver: unknown): asserts driver is UserSpaceDriver {
  if (!DRIVERS.includes(driver))
    throw new TypeError(`driver: expected 'vfio-pci', 'gpunvme', 'uio_pci_generic' or null, got ${show(driver)}`)
}

/**
 * A record as it was read from a file. What it names becomes part of paths below /sys, so nothing else is let through.
 * @throws BindingRecordError
 */
export function parseBindingRecord(value: unknown): BindingRecord {
  const refuse = (problem: string): never => {
    throw new BindingRecordError(problem)
  }
  if (typeof value !== 'object' || value === null) return refuse('it is no object')
  const { version, bdf, driver, previous, override, isProbed, powerControl, begun } = value as Partial<
    Record<keyof BindingRecord, unknown>
  >
  if (version !== 1) return refuse(`its version is ${show(version)}, and 1 is known here`)
  try {
    checkBdf(bdf as string)
    checkDriver(driver)
  } catch (error) {
    return refuse((error as Error).message)
  }
  if (previous !== null && !isName(previous)) return refuse(`previous: no driver is called ${show(previous)}`)
  if (!isLine(override)) return refuse(`override: expected one line, got ${show(override)}`)
  if (typeof isProbed !== 'boolean') return refuse(`isProbed: expected true or false, got ${show(isProbed)}`)
  if (powerControl !== null && powerControl !== 'auto' && powerControl !== 'on')
    return refuse(`powerControl: expected auto, on or null, got ${show(powerControl)}`)
  if (!Array.isArray(begun) || begun.length > 8 || !begun.every(isLine))
    return refuse(`begun: expected names of steps, got ${show(begun)}`)
  return { version, bdf: bdf as string, driver, previous, override, isProbed, powerControl, begun }
}

/** What a driver can be called: it is a folder in sysfs. */
function isName(value: unknown): value is string {
  return isLine(value) && !['', '.', '..'].includes(value) && !value.includes('/')
}

function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_LENGTH && !/[\0\n]/.test(value)
}

/** What is to be restored is no record of a binding, or one of a later release. Nothing was touched. */
export class BindingRecordError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_BINDING_RECORD'
  readonly category = 'infeasible'
  constructor(problem: string) {
    super(`Invalid binding record: ${problem}`, {
      next: 'the release of gpunvme that has written it; or bind the driver by hand, by its file bind in sysfs',
    })
  }
}
