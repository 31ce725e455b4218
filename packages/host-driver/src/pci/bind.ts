import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec'
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
  GroupNotViableError,
  nvmeFunction,
  obstacles,
  type PciFunction,
} from './function.js'
import { claimFunction } from './open-functions.js'
import { CHANGING_DRIVER, restoreBindingBy, textOf, undo, writeToSysfs } from './restore.js'

/** Which function, and what to bind to it. */
export interface BindOptions {
  readonly bdf: string
  /** 'vfio-pci' for the transport vfio; 'gpunvme', the module of kmod/, for kmod; null or 'uio_pci_generic' for the transport sysfs. */
  readonly driver: UserSpaceDriver
  /** Where sys/ and proc/ are; '/' when not given. */
  readonly sysRoot?: string
  /**
   * Called before every step with what is to be undone from then on, the step included: who keeps it where it outlives
   * this process can have the function given back whatever happens, by `restoreBinding`. When it throws, the step is not
   * taken, and those before it are undone.
   */
  readonly onRecord?: (record: BindingRecord) => void | Promise<void>
}

/** A function that was taken from its driver. Disposing of it restores it. */
export interface Binding extends AsyncDisposable {
  readonly bdf: string
  readonly driver: UserSpaceDriver
  /** The driver that had it before; undefined where none did. */
  readonly previous: string | undefined
  /** What `restoreBinding` of another process needs. */
  readonly record: BindingRecord
  /**
   * Gives the function back to the driver that had it, with its driver_override and power/control as they were. Every
   * step is tried, also after one has failed. Doing it again does what is left to do. A function that is gone from the
   * bus needs nothing, and one that somebody else bound to another driver keeps that.
   * @throws BindError naming the first step that failed; DeviceHeldError, DeviceUseUnknownError when this process has it
   *   open or another may drive it, and nothing is done then.
   */
  restore(): Promise<void>
}

/**
 * Takes an NVMe controller from its kernel driver and binds it to one that leaves it alone. By driver_override, which
 * concerns this one function; `new_id` would claim every drive of the same model. A failure undoes what was done.
 * A write to sysfs lasts as long as the kernel's driver takes to let go of the drive, which nobody can cut short.
 * @throws RangeError, PciFunctionNotFoundError, NotNvmeError for a wrong address; DeviceHeldError when this machine uses
 *   the drive, or has begun to while it was taken; GroupNotViableError, DriverNotLoadedError, BindError;
 *   FunctionAsleepError of one that does not wake up; LeftUndoneError instead of any of them, and of what `onRecord`
 *   throws, where not all could be undone.
 */
export function bindDriver(options: BindOptions): Promise<Binding> {
  return bindDriverBy(writeToSysfs, options)
}

/** `bindDriver` with the kernel's side given: for tests, which have none. */
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
    if (state === 'D3hot' || state === 'D3cold') throw new FunctionAsleepError(bdf, state)
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
 * The steps that `bindDriver` would take, after the same checks; none where it is bound already. Nothing is touched.
 * @throws as `bindDriver`, as far as that can be known before; NoIommuError.
 */
export async function planBinding(options: Omit<BindOptions, 'onRecord'>): Promise<BindingStep[]> {
  const { bdf, driver, sysRoot = '/' } = options
  checkDriver(driver)
  const found = nvmeFunction(sysRoot, bdf)
  await check(found, driver, sysRoot)
  const isAlone = driver === 'vfio-pci' && found.driver !== driver && found.group === undefined
  if (isAlone && attribute(sysRoot, NO_IOMMU_MODE) !== 'Y') throw new NoIommuError(bdf, sysRoot)
  return bindingSteps(found, recordBefore(found, driver, sysRoot), sysRoot).map(textOf)
}

async function check(found: PciFunction, driver: UserSpaceDriver, sysRoot: string): Promise<void> {
  const { bdf, group } = found
  await guardController(sysRoot, { bdf })
  if (driver === 'vfio-pci' && group !== undefined) {
    const others = obstacles(sysRoot, found)
    if (others.length > 0) throw new GroupNotViableError(bdf, group.number, others)
  }
  if (driver !== null && !new MachineFiles(sysRoot).exists(driverFolder(driver)))
    throw new DriverNotLoadedError(bdf, driver)
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
    // vfio-pci refuses a function without an IOMMU group, and makes one up only where it is told to.
    const isAlone = isBinding && driver === 'vfio-pci' && group === undefined
    if (!isAlone || !(error instanceof BindError) || error.errno !== 'EINVAL') throw error
    throw new BindError(bdf, error.step, error.cause, [], withoutIommu(sysRoot))
  }
  if (isBinding && driverOf(sysRoot, bdf) !== driver) throw new BindError(bdf, step.name, undefined)
}

const NO_IOMMU_MODE = 'sys/module/vfio/parameters/enable_unsafe_noiommu_mode'

/** What to do about a machine whose IOMMU is off, or not there. */
function withoutIommu(sysRoot: string): string {
  const turnOn = 'turn the IOMMU on (firmware set-up; kernel parameter intel_iommu=on)'
  return new MachineFiles(sysRoot).exists(NO_IOMMU_MODE)
    ? `${turnOn}; or, without one, echo 1 > /${NO_IOMMU_MODE}, which lets the drive reach all memory`
    : `${turnOn}; or use the transport sysfs, with no driver: this kernel's vfio has no enable_unsafe_noiommu_mode`
}

/** The driver to bind is not in the kernel. Nothing was touched. */
export class DriverNotLoadedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DRIVER_NOT_LOADED'
  readonly category = 'not-found'
  constructor(bdf: string, driver: string) {
    super(`Cannot bind ${driver} to ${bdf}: the kernel has no driver of that name`, {
      next:
        driver === 'gpunvme'
          ? 'modprobe gpunvme, the module that kmod/README.md tells how to build'
          : `modprobe ${driver}`,
    })
  }
}

/** vfio-pci hands out IOMMU groups, and the function has none. Nothing was touched. */
export class NoIommuError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_IOMMU'
  readonly category = 'infeasible'
  constructor(bdf: string, sysRoot: string) {
    super(`Cannot bind vfio-pci to ${bdf}: it has no IOMMU group`, {
      facts: ['the machine has no IOMMU, or it is off'],
      next: withoutIommu(sysRoot),
    })
  }
}

/** Binding ended with an error, which is the cause, and what had been done could not all be undone. */
export class LeftUndoneError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_LEFT_UNDONE'
  readonly category: ErrorCategory
  /** What could not be undone: the function is left with it. */
  readonly left: readonly BindError[]
  readonly bdf: string
  constructor(bdf: string, left: readonly BindError[], cause: unknown) {
    const reasons = cause instanceof GpuNvmeError ? [cause.headline, ...cause.facts] : [messageOf(cause)]
    super(`${bdf} was not bound, and is not as it was before`, {
      facts: [...reasons, ...left.map(leftUndone)],
      next: finishing(bdf),
      cause,
    })
    this.category = cause instanceof GpuNvmeError ? cause.category : 'failure'
    this.left = left
    this.bdf = bdf
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** The kernel was told to keep the function awake, and says that it sleeps: its registers would read all ones. */
export class FunctionAsleepError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FUNCTION_ASLEEP'
  readonly category = 'device'
  constructor(bdf: string, state: string) {
    super(`${bdf} does not wake up: the kernel says that it is in ${state}`, {
      facts: ['power/control was set to on'],
      next: `take it off the bus and look for it again: echo 1 > /sys/bus/pci/devices/${bdf}/remove; echo 1 > /sys/bus/pci/rescan`,
    })
  }
}
