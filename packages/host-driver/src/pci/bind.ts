import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec'
import { DriverError } from '../error.js'
import { guardController, guardUnbinding, type Unbinding } from '../guard/guard.js'
import { checkDriver, type BindingRecord, type UserSpaceDriver } from './binding-record.js'
import {
  attempt,
  BindError,
  binding,
  bindingSteps,
  driverFolder,
  finishing,
  leftUndone,
  recordBefore,
  unbinding,
  type BindingStep,
  type SysfsWrite,
} from './binding-steps.js'
import { MachineFiles } from '../machine-files/files.js'
import {
  attribute,
  driverOf,
  functionFolder,
  groupNotViable,
  nvmeFunction,
  obstacles,
  type PciFunction,
} from './function.js'
import { claimFunction } from './open-functions.js'
import { CHANGING_DRIVER, restoreBindingBy, textOf, undo, writeToSysfs } from './restore.js'

/** Options of `bindDriver`. */
export interface BindOptions {
  /** PCI address, such as 0000:0b:00.0. */
  readonly bdf: string
  /**
   * Driver to bind: 'vfio-pci' for the transport vfio; 'gpunvme' (the module in kmod/) for kmod; null or
   * 'uio_pci_generic' for sysfs.
   */
  readonly driver: UserSpaceDriver
  /** Directory with sys/ and proc/. Default: '/'. */
  readonly sysRoot?: string
  /**
   * Called before every step with a record of all changes, that step included. Store it where it outlives this process:
   * `restoreBinding` can then restore the function whatever happens. If the call throws, the step is not taken, and
   * those before it are undone.
   */
  readonly onRecord?: (record: BindingRecord) => void | Promise<void>
}

/** A function that was taken from its driver. Disposing of it restores it. */
export interface Binding extends AsyncDisposable {
  /** PCI address of the function. */
  readonly bdf: string
  readonly driver: UserSpaceDriver
  /** Previous driver; undefined if there was none. */
  readonly previous: string | undefined
  /** Data for `restoreBinding` in another process. */
  readonly record: BindingRecord
  /**
   * Restores the function's previous driver, driver_override and power/control. Every step is tried, even after one has
   * failed; a second call takes the steps that are left. A function that is no longer on the bus needs nothing. One
   * that was meanwhile bound to another driver keeps that.
   * @throws BindError for the first step that failed; DeviceHeldError or DeviceUseUnknownError, before any step, if
   *   this process has the function open or another may drive it.
   */
  restore(): Promise<void>
}

/**
 * Takes an NVMe controller from its kernel driver and binds it to a driver that leaves it to user space. Uses
 * driver_override, which affects only this function; `new_id` would claim every drive of the same model. A failure
 * undoes all steps. A write to sysfs takes as long as the kernel's driver needs to release the drive, and cannot be
 * interrupted.
 * @throws RangeError for an invalid address; DeviceHeldError if this machine uses the drive, or starts to while it is
 *   being taken; BindError if the kernel refuses a step; DriverError (PCI_FUNCTION_NOT_FOUND, NOT_NVME,
 *   GROUP_NOT_VIABLE, DRIVER_NOT_LOADED; FUNCTION_ASLEEP if it does not wake up); LeftUndoneError instead of these, and
 *   of errors of `onRecord`, if a step could not be undone.
 */
export function bindDriver(options: BindOptions): Promise<Binding> {
  return bindDriverBy(writeToSysfs, options)
}

/** `bindDriver` with a replaceable write to sysfs, for tests. */
export async function bindDriverBy(write: SysfsWrite, options: BindOptions): Promise<Binding> {
  const { bdf, driver, sysRoot = '/', onRecord } = options
  checkDriver(driver)
  const found = nvmeFunction(sysRoot, bdf)
  const release = claimFunction(found, CHANGING_DRIVER)
  let record = recordBefore(found, driver, sysRoot)
  let guard: Unbinding | undefined
  try {
    await check(found, driver, sysRoot)
    guard = await guardUnbinding(sysRoot, bdf)
    for (const step of bindingSteps(found, record, sysRoot)) {
      if (!step.isNeeded()) continue
      record = { ...record, begun: [...record.begun, step.name] }
      await onRecord?.(record)
      await take(write, found, driver, sysRoot, step)
      if (found.driver !== undefined && step.name === unbinding(found.driver)) {
        await guard.release()
        await guard.refuseNewHolders()
      }
    }
    const state = attribute(sysRoot, `${functionFolder(bdf)}/power_state`)
    if (state === 'D3hot' || state === 'D3cold') throw asleep(bdf, state)
  } catch (error) {
    const left = await undo(write, record, sysRoot)
    if (left.length === 0) throw error
    throw error instanceof BindError ? error.leaving(left) : new LeftUndoneError(bdf, left, error)
  } finally {
    await guard?.release()
    release()
  }
  let isRestored = false
  const restore = async () => {
    if (!isRestored) await restoreBindingBy(write, record, { sysRoot })
    isRestored = true
  }
  return { bdf, driver, previous: found.driver, record, restore, [Symbol.asyncDispose]: restore }
}

/**
 * Returns the steps that `bindDriver` would take, after the same checks; none if it is already bound. Changes nothing.
 * @throws same as `bindDriver`, as far as known in advance; DriverError (NO_IOMMU).
 */
export async function planBinding(options: Omit<BindOptions, 'onRecord'>): Promise<BindingStep[]> {
  const { bdf, driver, sysRoot = '/' } = options
  checkDriver(driver)
  const found = nvmeFunction(sysRoot, bdf)
  await check(found, driver, sysRoot)
  const isAlone = driver === 'vfio-pci' && found.driver !== driver && found.group === undefined
  if (isAlone && attribute(sysRoot, NO_IOMMU_MODE) !== 'Y') throw noIommu(bdf, sysRoot)
  return bindingSteps(found, recordBefore(found, driver, sysRoot), sysRoot).map(textOf)
}

async function check(found: PciFunction, driver: UserSpaceDriver, sysRoot: string): Promise<void> {
  const { bdf, group } = found
  await guardController(sysRoot, { bdf })
  if (driver === 'vfio-pci' && group !== undefined) {
    const others = obstacles(sysRoot, found)
    if (others.length > 0) throw groupNotViable(bdf, group.number, others)
  }
  if (driver === null || new MachineFiles(sysRoot).exists(driverFolder(driver))) return
  throw new DriverError(
    'ERR_GPUNVME_DRIVER_NOT_LOADED',
    'not-found',
    `Cannot bind ${driver} to ${bdf}: the kernel has no driver of that name`,
    {
      next: driver === 'gpunvme' ? 'modprobe gpunvme; kmod/README.md describes how to build it' : `modprobe ${driver}`,
    },
  )
}

async function take(
  write: SysfsWrite,
  { bdf, group }: PciFunction,
  driver: UserSpaceDriver,
  sysRoot: string,
  step: BindingStep,
): Promise<void> {
  const isBinding = driver !== null && step.name === binding(driver)
  try {
    await attempt(write, bdf, step)
  } catch (error) {
    // vfio-pci refuses a function without an IOMMU group, unless its mode without an IOMMU is enabled.
    const isAlone = isBinding && driver === 'vfio-pci' && group === undefined
    if (!isAlone || !(error instanceof BindError) || error.errno !== 'EINVAL') throw error
    throw new BindError(bdf, error.step, error.cause, [], withoutIommu(sysRoot))
  }
  if (isBinding && driverOf(sysRoot, bdf) !== driver) throw new BindError(bdf, step.name, undefined)
}

const NO_IOMMU_MODE = 'sys/module/vfio/parameters/enable_unsafe_noiommu_mode'

/** Returns the next step on a machine whose IOMMU is off or absent. */
function withoutIommu(sysRoot: string): string {
  const turnOn = 'turn the IOMMU on (firmware set-up; kernel parameter intel_iommu=on)'
  return new MachineFiles(sysRoot).exists(NO_IOMMU_MODE)
    ? `${turnOn}; or, without one, echo 1 > /${NO_IOMMU_MODE}, which lets the drive access all memory`
    : `${turnOn}; or use the transport sysfs, with no driver: this kernel's vfio has no enable_unsafe_noiommu_mode`
}

/** Binding failed with the error in `cause`, and not all of its steps could be undone. */
export class LeftUndoneError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_LEFT_UNDONE'
  readonly category: ErrorCategory
  /** Steps that could not be undone. */
  readonly notUndone: readonly BindError[]
  readonly bdf: string
  constructor(bdf: string, left: readonly BindError[], cause: unknown) {
    const reasons = cause instanceof GpuNvmeError ? [cause.headline, ...cause.facts] : [messageOf(cause)]
    super(`${bdf} was not bound, and could not be restored completely`, {
      facts: [...reasons, ...left.map(leftUndone)],
      next: finishing(bdf),
      cause,
    })
    this.category = cause instanceof GpuNvmeError ? cause.category : 'failure'
    this.notUndone = left
    this.bdf = bdf
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** vfio-pci needs an IOMMU group, and the function has none. Nothing was touched. */
function noIommu(bdf: string, sysRoot: string): DriverError {
  const headline = `Cannot bind vfio-pci to ${bdf}: it has no IOMMU group`
  const facts = ['the machine has no IOMMU, or it is off']
  return new DriverError('ERR_GPUNVME_NO_IOMMU', 'infeasible', headline, { facts, next: withoutIommu(sysRoot) })
}

/** The kernel was asked to keep the function awake but reports that it sleeps: its registers would read all ones. */
function asleep(bdf: string, state: string): DriverError {
  const headline = `${bdf} does not wake up: the kernel reports power state ${state}`
  return new DriverError('ERR_GPUNVME_FUNCTION_ASLEEP', 'device', headline, {
    facts: ['power/control was set to on'],
    next: `remove it from the bus and rescan: echo 1 > /sys/bus/pci/devices/${bdf}/remove; echo 1 > /sys/bus/pci/rescan`,
  })
}
