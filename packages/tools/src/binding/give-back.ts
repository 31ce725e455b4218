import { DeviceHeldError, type Holder } from '@gpunvme/host-driver'
import { nvmeFunction, nvmeFunctions, planRestoring, restoreBinding, type BindingStep } from '@gpunvme/host-driver/pci'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandFor } from '../command-line/advised-command.js'
import { isOfAnotherBoot, type Entry } from './entry.js'
import { DriverChangingError, withLock } from './lock.js'
import { isAlive, isSame, type ProcessIdentity } from './process-identity.js'
import { forgetEntry, readEntry } from './state-files.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Result of returning a drive. */
export interface GivenBack {
  readonly entry: Entry
  /** 'given back': steps were taken. 'forgotten': there was nothing to do, for the reason given. */
  readonly result: 'given back' | 'forgotten'
  readonly reason?: string
  /** Its driver now; undefined if it has none, or if the drive is gone. */
  readonly driver: string | undefined
  readonly steps: readonly BindingStep[]
}

export interface GiveBackOptions {
  /** Whether to return the steps without executing them. */
  readonly isDryRun?: boolean
  /** The process that held the drive and is ending; drives bound by others are not returned. */
  readonly holder?: ProcessIdentity
  /** Time to wait for another gpunvme, and for users of the drive. Default: none. */
  readonly waitMs?: number
}

/** Interval between attempts while the drive is in use. */
const RETRY_MS = 250

/**
 * Returns a drive to its previous driver, and deletes the record.
 * @throws NotBoundError, ToolsError (HELD_BY_PROCESS), StillInUseError, DriverChangingError; BindError, after which the record is
 * kept for another attempt.
 */
export async function giveBack(root: string, bdf: string, options: GiveBackOptions = {}): Promise<GivenBack> {
  const until = performance.now() + (options.waitMs ?? 0)
  for (;;) {
    try {
      const { isDryRun = false } = options
      return isDryRun
        ? await restore(root, bdf, options)
        : await withLock(root, bdf, 0, () => restore(root, bdf, options))
    } catch (error) {
      const mayEnd = error instanceof StillInUseError || error instanceof DriverChangingError
      if (!mayEnd || performance.now() >= until) throw error
      await sleep(RETRY_MS)
    }
  }
}

async function restore(root: string, bdf: string, { isDryRun = false, holder }: GiveBackOptions): Promise<GivenBack> {
  const entry = await readEntry(root, bdf)
  const isOfAnother = holder !== undefined && !isSame(entry?.holder, holder)
  if (entry === undefined || isOfAnother) throw new NotBoundError(root, bdf)
  if (entry.holder !== null && !isSame(entry.holder, holder) && isAlive(entry.holder))
    throw heldByProcessError(entry, entry.holder)
  const isPast = isOfAnotherBoot(entry, root)
  const steps = isPast ? [] : planRestoring(entry.record, { sysRoot: root })
  if (!isDryRun) {
    if (steps.length > 0) await restoreUnlessHeld(root, entry)
    await forgetEntry(root, bdf)
  }
  const driver = driverOf(root, bdf)
  if (steps.length > 0) return { entry, result: 'given back', driver, steps }
  const reason = isPast ? 'a reboot has ended all bindings' : 'the binding is no longer in effect'
  return { entry, result: 'forgotten', reason, driver, steps }
}

function driverOf(root: string, bdf: string): string | undefined {
  return nvmeFunctions(root).includes(bdf) ? nvmeFunction(root, bdf).driver : undefined
}

async function restoreUnlessHeld(root: string, { record }: Entry): Promise<void> {
  try {
    await restoreBinding(record, { sysRoot: root })
  } catch (error) {
    throw error instanceof DeviceHeldError ? new StillInUseError(root, record.bdf, error) : error
  }
}

/** Error of a drive without a record, or with that of another process. It was not changed. */
export class NotBoundError extends ToolsError {
  constructor(root: string, bdf: string) {
    super('ERR_GPUNVME_NOT_BOUND', 'not-found', `${bdf} is not bound by gpunvme`, {
      next: { ...commandFor(root, 'list', bdf), note: 'which shows its driver and users' },
    })
  }
}

/** Error of a drive held by a running gpunvme, which returns it when it ends. It was not changed. */
function heldByProcessError({ record: { bdf }, by }: Entry, { pid }: ProcessIdentity): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_HELD_BY_PROCESS',
    'privilege',
    `${bdf} is in use by process ${pid}, which returns it when it ends`,
    {
      facts: [`${by.user}: ${by.command}`],
      next: `wait for it, or end it: kill ${pid}`,
    },
  )
}

/** Error of a drive in use, which cannot be returned. It was not changed. */
export class StillInUseError extends ToolsError {
  readonly holders: readonly Holder[]
  constructor(root: string, bdf: string, cause: DeviceHeldError) {
    const { holders } = cause
    super('ERR_GPUNVME_STILL_IN_USE', 'privilege', `Cannot unbind ${bdf}: it is in use`, {
      facts: holders.map(({ device, use }) => `${device} is ${use}`),
      next: { ...commandFor(root, 'unbind', bdf), first: 'end the listed uses' },
      cause,
    })
    this.holders = holders
  }
}
