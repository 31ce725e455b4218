import { join } from 'node:path'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { BindingRecord, UserSpaceDriver } from './binding-record.js'
import { attribute, driverOf, functionFolder, type PciFunction } from './function.js'

/** One write to sysfs, which is a request to the kernel: `echo TEXT > PATH`. */
export interface BindingStep {
  /** 'set driver_override', 'unbind nvme', 'bind vfio-pci', 'set power/control'; of restoring, 'reset driver_override'. */
  readonly name: string
  readonly path: string
  readonly text: string
}

/** How files of sysfs are written: a write ends when the kernel has carried it out. */
export type SysfsWrite = (path: string, text: string) => Promise<void>

/** A step that is only taken where it still makes a difference. */
export interface ConditionalStep extends BindingStep {
  readonly isNeeded: () => boolean
}

/**
 * The override for "no driver": no driver is called that, so the kernel's own does not come back by itself, as it would
 * when its module is loaded or the bus rescanned.
 */
const NO_DRIVER = 'gpunvme-none'

const SET_OVERRIDE = 'set driver_override'

/** What a function is like before anything is done to it: no step is begun. */
export function recordBefore(
  { bdf, driver: previous }: PciFunction,
  driver: UserSpaceDriver,
  sysRoot: string,
): BindingRecord {
  const before = overrideOf(sysRoot, bdf)
  // A process that was killed left it: none that keeps the driver from binding which is there can be an original.
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
 * What binds the function. The override is set first, so that no driver comes back while there is none. Power is last:
 * vfio-pci has the kernel suspend what it binds (Linux drivers/vfio/pci/vfio_pci_core.c, pm_runtime_allow).
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
  // A function that the kernel may send to D3 reads all ones there.
  if (powerControl === 'auto' || (powerControl === 'on' && driver === 'vfio-pci' && previous !== driver))
    steps.push({ name: 'set power/control', path: controlOf(path), text: 'on', isNeeded: isSuspended })
  return steps
}

/**
 * What gives the function back, of what was begun. The previous driver comes after the override, without which it does
 * not match; power comes last, since vfio-pci changes it once more when it lets go. What somebody else did to the
 * function meanwhile - bound a driver, set an override - is left as it is.
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
    // It may have come back by itself: a bus was rescanned, a module loaded. And another may have been bound.
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

/** Has the kernel carry a step out. @throws BindError */
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

/** Empty where there is none, for which the kernel writes (null). */
function overrideOf(sysRoot: string, bdf: string): string {
  const text = attribute(sysRoot, `${functionFolder(bdf)}/driver_override`)
  return text === undefined || text === '(null)' ? '' : text
}

/** The kernel refused a step. Those before it were undone, apart from what `left` lists. */
export class BindError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_BIND'
  readonly category: 'privilege' | 'failure'
  /** What was to be done: 'unbind nvme', 'set driver_override', 'bind vfio-pci', 'reset power/control'. */
  readonly step: string
  /** The kernel's answer: 'EACCES'; undefined where it said yes and did nothing. */
  readonly errno: string | undefined
  /** What could not be done besides, in undoing: the function is left with it. */
  readonly left: readonly BindError[]
  readonly bdf: string
  /** How to remove the reason for the refusal. `next` continues with what `left` needs. */
  readonly advice: string
  /** @param known replaces the usual advice for the errno. */
  constructor(bdf: string, step: string, cause: unknown, left: readonly BindError[] = [], known?: string) {
    const errno = (cause as NodeJS.ErrnoException | undefined)?.code
    const advice = known ?? nextAfter(errno)
    super(`Cannot ${step} on ${bdf}: ${errno ?? 'the kernel took the request and did not do it'}`, {
      facts: left.map(leftUndone),
      next: `${advice}${left.length === 0 ? '' : `; then ${finishing(bdf)}`}`,
      cause,
    })
    this.category = errno === 'EACCES' || errno === 'EPERM' ? 'privilege' : 'failure'
    this.step = step
    this.errno = errno
    this.left = left
    this.bdf = bdf
    this.advice = advice
  }

  /** The same of a function that is left with `left`. */
  leaving(left: readonly BindError[]): BindError {
    return new BindError(this.bdf, this.step, this.cause, left, this.advice)
  }
}

/** What the function is left with, in an error's words. */
export function leftUndone({ step, errno }: BindError): string {
  return `left undone: ${step} (${errno ?? 'no answer'})`
}

/** What undoes the rest. */
export function finishing(bdf: string): string {
  return `restoreBinding with the last record, or gpunvme unbind ${bdf}, which does what is left to do`
}

function nextAfter(errno: string | undefined): string {
  if (errno === 'EACCES' || errno === 'EPERM') return 'run as root, or make the files of this function writable for you'
  if (errno === 'EROFS') return 'mount sysfs for writing: containers see it read-only'
  if (errno === 'EBUSY') return 'find the process that has the function open (fuser /dev/vfio/*), and end it'
  if (errno === 'ENODEV') return 'see that the function is on the bus (lspci), and what the kernel log says'
  if (errno === 'ENOENT') return 'see that the driver is still in the kernel; modprobe loads it again'
  return 'see what the kernel log says (dmesg)'
}
