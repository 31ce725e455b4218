import { join } from 'node:path'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { BindingRecord, UserSpaceDriver } from './binding-record.js'
import { attribute, driverOf, functionFolder, type PciFunction } from './function.js'

/** One write to sysfs, which is a request to the kernel: `echo TEXT > PATH`. */
export interface BindingStep {
  /**
   * For example 'set driver_override', 'unbind nvme', 'bind vfio-pci', 'set power/control' or 'reset driver_override'.
   */
  readonly name: string
  /** File to which the step writes. */
  readonly path: string
  /** Text that the step writes. */
  readonly text: string
}

/** Writes a file of sysfs; resolves when the kernel has carried out the request. */
export type SysfsWrite = (path: string, text: string) => Promise<void>

/** A step that is taken only if it still makes a difference. */
export interface ConditionalStep extends BindingStep {
  readonly isNeeded: () => boolean
}

/**
 * Override for "no driver". No driver has this name, so the kernel's own does not return when its module is loaded or
 * the bus rescanned.
 */
const NO_DRIVER = 'gpunvme-none'

const SET_OVERRIDE = 'set driver_override'

/** Returns the record of a function before any step. */
export function recordBefore(
  { bdf, driver: previous }: PciFunction,
  driver: UserSpaceDriver,
  sysRoot: string,
): BindingRecord {
  const before = overrideOf(sysRoot, bdf)
  // Left by a killed process: an override that excludes the bound driver cannot be the original one.
  const isLeftOver = before === NO_DRIVER || (previous !== undefined && before !== previous)
  const control = powerControlOf(sysRoot, bdf)
  return {
    version: 1,
    bdf,
    driver,
    previous: previous ?? null,
    override: isLeftOver ? '' : before,
    isProbed: previous === undefined && before === NO_DRIVER,
    powerControl: control === 'auto' || control === 'on' ? control : null,
    begun: [],
  }
}

/**
 * Returns the steps of a binding. The override comes first, so that no driver binds in between. Power comes last:
 * vfio-pci lets the kernel suspend what it binds (Linux drivers/vfio/pci/vfio_pci_core.c, pm_runtime_allow).
 */
export function bindingSteps(
  { bdf, path, driver: previous }: PciFunction,
  { driver, powerControl }: BindingRecord,
  sysRoot: string,
): ConditionalStep[] {
  const isNeeded = () => true
  const steps: ConditionalStep[] = []
  if (previous !== driver) {
    steps.push({ name: SET_OVERRIDE, path: join(path, 'driver_override'), text: driver ?? NO_DRIVER, isNeeded })
    if (previous !== undefined) steps.push({ name: unbinding(previous), path: unbindOf(path), text: bdf, isNeeded })
    if (driver !== null) steps.push({ name: binding(driver), path: bindOf(sysRoot, driver), text: bdf, isNeeded })
  }
  const isSuspended = () => powerControlOf(sysRoot, bdf) === 'auto'
  // In D3, to which the kernel may suspend a function, registers read all ones.
  if (powerControl === 'auto' || (powerControl === 'on' && driver === 'vfio-pci' && previous !== driver))
    steps.push({ name: 'set power/control', path: controlOf(path), text: 'on', isNeeded: isSuspended })
  return steps
}

/**
 * Returns the steps that restore a function, according to those that were begun. The previous driver follows the
 * override, without which it does not match. Power comes last, since vfio-pci changes it once more when it releases the
 * function. Changes by others in the meantime (a bound driver, an override) are kept.
 */
export function restoringSteps(record: BindingRecord, sysRoot: string): ConditionalStep[] {
  const { bdf, driver, previous, override, isProbed, powerControl, begun } = record
  const path = join(sysRoot, functionFolder(bdf))
  const steps: ConditionalStep[] = []
  if (driver !== null && begun.includes(binding(driver))) {
    const isNeeded = () => driverOf(sysRoot, bdf) === driver
    steps.push({ name: unbinding(driver), path: unbindOf(path), text: bdf, isNeeded })
  }
  if (begun.includes(SET_OVERRIDE)) {
    const isNeeded = () => overrideOf(sysRoot, bdf) === (driver ?? NO_DRIVER)
    steps.push({ name: 'reset driver_override', path: join(path, 'driver_override'), text: `${override}\n`, isNeeded })
    // It may have returned by itself (bus rescan, module load), or another driver may be bound.
    const isFree = () => {
      const now = driverOf(sysRoot, bdf)
      return now === undefined || now === driver
    }
    if (previous !== null && begun.includes(unbinding(previous)))
      steps.push({ name: binding(previous), path: bindOf(sysRoot, previous), text: bdf, isNeeded: isFree })
    if (isProbed) {
      const probe = join(sysRoot, 'sys/bus/pci/drivers_probe')
      steps.push({
        name: 'probe drivers',
        path: probe,
        text: bdf,
        isNeeded: () => driverOf(sysRoot, bdf) === undefined,
      })
    }
  }
  if (powerControl === 'auto' && begun.length > 0) {
    const isNeeded = () => powerControlOf(sysRoot, bdf) === 'on'
    steps.push({ name: 'reset power/control', path: controlOf(path), text: powerControl, isNeeded })
  }
  return steps
}

/** Performs a step. @throws BindError */
export async function attempt(write: SysfsWrite, bdf: string, { name, path, text }: BindingStep): Promise<void> {
  try {
    await write(path, text)
  } catch (error) {
    throw new BindError(bdf, name, error)
  }
}

export function binding(driver: string): string {
  return `bind ${driver}`
}

export function unbinding(driver: string): string {
  return `unbind ${driver}`
}

function bindOf(sysRoot: string, driver: string): string {
  return join(sysRoot, driverFolder(driver), 'bind')
}

function unbindOf(path: string): string {
  return join(path, 'driver/unbind')
}

/** Returns the sysfs folder of a driver, relative to the root of the machine. */
export function driverFolder(driver: string): string {
  return `sys/bus/pci/drivers/${driver}`
}

function controlOf(path: string): string {
  return join(path, 'power/control')
}

function powerControlOf(sysRoot: string, bdf: string): string | undefined {
  return attribute(sysRoot, `${functionFolder(bdf)}/power/control`)
}

/** Returns driver_override; empty if there is none, for which the kernel writes (null). */
function overrideOf(sysRoot: string, bdf: string): string {
  const text = attribute(sysRoot, `${functionFolder(bdf)}/driver_override`)
  return text === undefined || text === '(null)' ? '' : text
}

/** The kernel refused a step. Those before it were undone, except for `left`. */
export class BindError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_BIND'
  readonly category: 'privilege' | 'failure'
  /** Step that failed: 'unbind nvme', 'set driver_override', 'bind vfio-pci', 'reset power/control'. */
  readonly step: string
  /** Error of the kernel, such as 'EACCES'; undefined if it reported success without effect. */
  readonly errno: string | undefined
  /** Steps that could not be undone. */
  readonly notUndone: readonly BindError[]
  readonly bdf: string
  /** How to remove the reason for the refusal. `next` continues with what `left` needs. */
  readonly advice: string
  /** @param known replaces the usual advice for the errno. */
  constructor(bdf: string, step: string, cause: unknown, left: readonly BindError[] = [], known?: string) {
    const errno = (cause as NodeJS.ErrnoException | undefined)?.code
    const advice = known ?? nextAfter(errno)
    super(`Cannot ${step} on ${bdf}: ${errno ?? 'the kernel accepted the request without effect'}`, {
      facts: left.map(leftUndone),
      next: `${advice}${left.length === 0 ? '' : `; then ${finishing(bdf)}`}`,
      cause,
    })
    this.category = errno === 'EACCES' || errno === 'EPERM' ? 'privilege' : 'failure'
    this.step = step
    this.errno = errno
    this.notUndone = left
    this.bdf = bdf
    this.advice = advice
  }

  /** Returns the same error for a function that is left with `left`. */
  leaving(left: readonly BindError[]): BindError {
    return new BindError(this.bdf, this.step, this.cause, left, this.advice)
  }
}

/** Returns a step that could not be undone as text. */
export function leftUndone({ step, errno }: BindError): string {
  return `left undone: ${step} (${errno ?? 'no effect'})`
}

/** Returns how to undo the rest. */
export function finishing(bdf: string): string {
  return `restoreBinding with the last record, or gpunvme unbind ${bdf}, to undo the rest`
}

function nextAfter(errno: string | undefined): string {
  if (errno === 'EACCES' || errno === 'EPERM') return 'run as root, or make the files of this function writable for you'
  if (errno === 'EROFS') return 'mount sysfs for writing: it is read-only in containers'
  if (errno === 'EBUSY') return 'find the process that has the function open (fuser /dev/vfio/*), and end it'
  if (errno === 'ENODEV') return 'check that the function is on the bus (lspci), and the kernel log (dmesg)'
  if (errno === 'ENOENT') return 'check that the driver is still loaded; modprobe loads it'
  return 'check the kernel log (dmesg)'
}
