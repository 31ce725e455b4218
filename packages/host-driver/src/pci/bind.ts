import { constants, existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { guardController } from '../guard/guard.js'
import { attribute, driverOf, GroupNotViableError, nvmeFunction, obstacles, type PciFunction } from './function.js'
import { claimFunction } from './open-functions.js'

/** Drivers that leave a function to user space; null for none at all. */
export type UserSpaceDriver = 'vfio-pci' | 'gpunvme' | 'uio_pci_generic' | null

const DRIVERS: readonly unknown[] = ['vfio-pci', 'gpunvme', 'uio_pci_generic', null] satisfies UserSpaceDriver[]

/** Which function, and what to bind to it. */
export interface BindOptions {
  readonly bdf: string
  /** 'vfio-pci' for the transport vfio; 'gpunvme', the module of kmod/, for kmod; null or 'uio_pci_generic' for the transport sysfs. */
  readonly driver: UserSpaceDriver
  /** Where sys/ and proc/ are; '/' when not given. */
  readonly sysRoot?: string
}

/** A function that was taken from its driver. Disposing of it restores it. */
export interface Binding extends AsyncDisposable {
  readonly bdf: string
  readonly driver: UserSpaceDriver
  /** The driver that had it before; undefined where none did. */
  readonly previous: string | undefined
  /**
   * Gives the function back to the driver that had it, with its driver_override and power/control as they were. Every
   * step is tried, also after one has failed. Doing it again does what is left to do. A function that is gone from the
   * bus needs nothing, and one that somebody else bound to another driver keeps that.
   * @throws BindError naming the first step that failed; DeviceHeldError, DeviceUseUnknownError when this process has it
   *   open or another may drive it, and nothing is done then.
   */
  restore(): Promise<void>
}

/** How files of sysfs are written: a write is a request to the kernel, and ends when it has been carried out. */
export type SysfsWrite = (path: string, text: string) => Promise<void>

/**
 * The override for "no driver": no driver is called that, so the kernel's own does not come back by itself, as it would
 * when its module is loaded or the bus rescanned.
 */
const NO_DRIVER = 'gpunvme-none'

/**
 * Takes an NVMe controller from its kernel driver and binds it to one that leaves it alone. By driver_override, which
 * concerns this one function; `new_id` would claim every drive of the same model. A failure undoes what was done.
 * A write to sysfs lasts as long as the kernel's driver takes to let go of the drive, which nobody can cut short.
 * @throws RangeError, PciFunctionNotFoundError, NotNvmeError for a wrong address; DeviceHeldError when this machine uses
 *   the drive; GroupNotViableError, DriverNotLoadedError, BindError.
 */
export function bindDriver(options: BindOptions): Promise<Binding> {
  // Not created where it is missing, and not read: sysfs refuses to open bind and unbind for reading.
  return bindDriverBy((path, text) => writeFile(path, text, { flag: constants.O_WRONLY }), options)
}

/** `bindDriver` with the kernel's side given: for tests, which have none. */
export async function bindDriverBy(write: SysfsWrite, options: BindOptions): Promise<Binding> {
  const { bdf, driver, sysRoot = '/' } = options
  if (!DRIVERS.includes(driver))
    throw new TypeError(
      `driver: expected 'vfio-pci', 'gpunvme', 'uio_pci_generic' or null, got ${JSON.stringify(driver)}`,
    )
  const found = nvmeFunction(sysRoot, bdf)
  const steps = new Steps(found)
  const release = claimFunction(found, CHANGING_DRIVER)
  try {
    await guardController(sysRoot, { bdf })
    if (driver === 'vfio-pci' && found.group !== undefined) {
      const others = obstacles(sysRoot, found)
      if (others.length > 0) throw new GroupNotViableError(bdf, found.group.number, others)
    }
    if (driver !== null && !existsSync(driverFolder(sysRoot, driver))) throw new DriverNotLoadedError(bdf, driver)
    await take(steps, write, sysRoot, found, driver)
  } catch (error) {
    const left = await steps.undo()
    throw left.length > 0 && error instanceof BindError ? error.leaving(left) : error
  } finally {
    release()
  }
  const restore = () => restoreSteps(steps, found, driver, sysRoot)
  return { bdf, driver, previous: found.driver, restore, [Symbol.asyncDispose]: restore }
}

const CHANGING_DRIVER = 'changed by this process: its driver is being bound or given back'

async function restoreSteps(steps: Steps, found: PciFunction, driver: UserSpaceDriver, sysRoot: string): Promise<void> {
  const { bdf, path } = found
  const release = claimFunction(found, CHANGING_DRIVER)
  try {
    // While the function is as it was left here somebody may drive it. What somebody else bound is not touched anyway.
    if (existsSync(path) && driverOf(path) === (driver ?? undefined)) await guardController(sysRoot, { bdf })
    const [first, ...others] = await steps.undo()
    if (first !== undefined) throw new BindError(bdf, first.step, first.cause, others)
  } finally {
    release()
  }
}

/**
 * Each step beside what undoes it; undone in reverse, but for the previous driver, which comes last: it matches only
 * where the override is gone. The override is set first, so that no driver comes back while there is none. What somebody
 * else did to the function meanwhile - bound a driver, set an override - is left as it is.
 */
async function take(
  steps: Steps,
  write: SysfsWrite,
  sysRoot: string,
  { bdf, path, driver: previous, group }: PciFunction,
  driver: UserSpaceDriver,
): Promise<void> {
  const unbind = () => write(join(path, 'driver/unbind'), bdf)
  const bind = (name: string) => write(join(driverFolder(sysRoot, name), 'bind'), bdf)
  if (previous !== driver) {
    const override = join(path, 'driver_override')
    const ours = driver ?? NO_DRIVER
    const before = overrideOf(path)
    const isLeftOver = before === NO_DRIVER || (previous !== undefined && before !== previous)
    const reset = async () => {
      if (overrideOf(path) === ours) await write(override, `${isLeftOver ? '' : before}\n`)
    }
    await steps.take('set driver_override', () => write(override, ours), 'reset driver_override', reset)
    if (previous !== undefined) {
      const rebind = async () => {
        // It may have come back by itself: a bus was rescanned, a module loaded. And another may have been bound.
        const now = driverOf(path)
        if (now === undefined || now === driver) await bind(previous)
      }
      await steps.take(`unbind ${previous}`, unbind, `bind ${previous}`, rebind, 'last')
    } else if (before === NO_DRIVER) {
      // Nobody knows any more which driver it was taken from: the kernel has to look.
      const probe = async () => {
        if (driverOf(path) === undefined) await write(join(sysRoot, 'sys/bus/pci/drivers_probe'), bdf)
      }
      steps.owe('probe drivers', probe)
    }
    if (driver !== null) {
      const release = async () => {
        if (driverOf(path) === driver) await unbind()
      }
      try {
        await steps.take(`bind ${driver}`, () => bind(driver), `unbind ${driver}`, release)
      } catch (error) {
        // vfio-pci refuses a function without an IOMMU group, and makes one up only where it is told to.
        const isAlone = driver === 'vfio-pci' && group === undefined
        if (!isAlone || !(error instanceof BindError) || error.errno !== 'EINVAL') throw error
        throw new BindError(bdf, error.step, error.cause, [], withoutIommu(sysRoot))
      }
      if (driverOf(path) !== driver) throw new BindError(bdf, `bind ${driver}`, undefined)
    }
  }
  // A function that the kernel may send to D3 reads all ones there.
  const control = join(path, 'power/control')
  const policy = attribute(control)
  if (policy === undefined || policy === 'on') return
  await steps.take(
    'set power/control',
    () => write(control, 'on'),
    'reset power/control',
    () => write(control, policy),
  )
}

/** What was done, and how it is undone. */
class Steps {
  private readonly found: PciFunction
  private undoing: { readonly name: string; readonly action: () => Promise<void> }[] = []

  constructor(found: PciFunction) {
    this.found = found
  }

  /** @param when undone: before what was done until now, or after all the rest. */
  async take(
    name: string,
    action: () => Promise<void>,
    undoName: string,
    undo: () => Promise<void>,
    when: 'next' | 'last' = 'next',
  ): Promise<void> {
    await this.attempt(name, action)
    if (when === 'last') this.owe(undoName, undo)
    else this.undoing.unshift({ name: undoName, action: undo })
  }

  /** What is to be done last of all, though nothing of ours is undone by it. */
  owe(name: string, action: () => Promise<void>): void {
    this.undoing.push({ name, action })
  }

  /** Tries everything, and keeps what failed for another time. @returns what failed, in the order of trying. */
  async undo(): Promise<BindError[]> {
    const failed: typeof this.undoing = []
    const errors: BindError[] = []
    for (const step of this.undoing.splice(0)) {
      // What was pulled out meanwhile has no driver to go back to.
      if (!existsSync(this.found.path)) return []
      try {
        await this.attempt(step.name, step.action)
      } catch (error) {
        failed.push(step)
        errors.push(error as BindError)
      }
    }
    this.undoing = failed
    return errors
  }

  private async attempt(name: string, action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      throw new BindError(this.found.bdf, name, error)
    }
  }
}

/** Empty where there is none, for which the kernel writes (null). */
function overrideOf(path: string): string {
  const text = attribute(join(path, 'driver_override'))
  return text === undefined || text === '(null)' ? '' : text
}

function driverFolder(sysRoot: string, driver: string): string {
  return join(sysRoot, 'sys/bus/pci/drivers', driver)
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
  private readonly bdf: string
  private readonly next: string | undefined
  /** @param next where more is known than the errno tells. */
  constructor(bdf: string, step: string, cause: unknown, left: readonly BindError[] = [], next?: string) {
    const errno = (cause as NodeJS.ErrnoException | undefined)?.code
    super(`Cannot ${step} on ${bdf}: ${errno ?? 'the kernel took the request and did not do it'}`, {
      facts: left.map((error) => `left undone: ${error.step} (${error.errno ?? 'no answer'})`),
      next: next ?? nextAfter(errno),
      cause,
    })
    this.category = errno === 'EACCES' || errno === 'EPERM' ? 'privilege' : 'failure'
    this.step = step
    this.errno = errno
    this.left = left
    this.bdf = bdf
    this.next = next
  }

  /** The same of a function that is left with `left`. */
  leaving(left: readonly BindError[]): BindError {
    return new BindError(this.bdf, this.step, this.cause, left, this.next)
  }
}

/** What to do about a machine whose IOMMU is off, or not there. */
function withoutIommu(sysRoot: string): string {
  const parameter = 'sys/module/vfio/parameters/enable_unsafe_noiommu_mode'
  const turnOn = 'turn the IOMMU on (firmware set-up; kernel parameter intel_iommu=on)'
  return existsSync(join(sysRoot, parameter))
    ? `${turnOn}; or, without one, echo 1 > /${parameter}, which lets the drive reach all memory`
    : `${turnOn}; or use the transport sysfs (driver: null): this kernel's vfio has no enable_unsafe_noiommu_mode`
}

function nextAfter(errno: string | undefined): string {
  if (errno === 'EACCES' || errno === 'EPERM') return 'run as root, or make the files of this function writable for you'
  if (errno === 'EROFS') return 'mount sysfs for writing: containers see it read-only'
  if (errno === 'EBUSY') return 'see who has the function open (fuser /dev/vfio/*), and end that first'
  if (errno === 'ENODEV') return 'see that the function is on the bus (lspci), and what the kernel log says'
  return 'see what the kernel log says (dmesg)'
}
