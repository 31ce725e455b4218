import { DeviceHeldError, type Holder } from '@gpunvme/host-driver'
import { nvmeFunction, nvmeFunctions, planRestoring, restoreBinding, type BindingStep } from '@gpunvme/host-driver/pci'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandFor } from '../command-line/advised-command.js'
import { isOfAnotherBoot, type Entry } from './entry.js'
import { DriverChangingError, withLock } from './lock.js'
import { isAlive, isSame, type ProcessIdentity } from './process-identity.js'
import { forgetEntry, readEntry } from './state-files.js'
import { ToolsError } from '../command-line/tools-error.js'

/** What became of a drive that was remembered. */
export interface GivenBack {
  readonly entry: Entry
  /** 'given back': steps were taken. 'forgotten': there was nothing left to do, for the reason given. */
  readonly result: 'given back' | 'forgotten'
  readonly reason?: string
  /** What has it now; undefined where no driver has, or where the drive is gone. */
  readonly driver: string | undefined
  readonly steps: readonly BindingStep[]
}

export interface GiveBackOptions {
  /** Nothing is touched; the result tells what would be. */
  readonly isDryRun?: boolean
  /** On whose behalf: the process that holds the drive, while it is ending. What another has bound is not given back. */
  readonly holder?: ProcessIdentity
  /** How long to wait for another gpunvme, and for who drives it still; not at all when not given. */
  readonly waitMs?: number
}

/** How often a drive that is in use is asked for again, while there is time. */
const RETRY_MS = 250

/**
 * Gives a drive back to the driver that had it, and forgets it.
 * @throws NotBoundError, HeldByProcessError, StillInUseError, DriverChangingError; BindError, and then it is remembered
 *   still, for another time.
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
    throw new HeldByProcessError(entry, entry.holder)
  const isPast = isOfAnotherBoot(entry, root)
  const steps = isPast ? [] : planRestoring(entry.record, { sysRoot: root })
  if (!isDryRun) {
    if (steps.length > 0) await restoreUnlessHeld(root, entry)
    await forgetEntry(root, bdf)
  }
  const driver = driverOf(root, bdf)
  if (steps.length > 0) return { entry, result: 'given back', driver, steps }
  const reason = isPast
    ? 'the machine was started again since, and with it every binding ended'
    : 'nothing of what was done to it is left'
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

/** gpunvme remembers no binding of it, or none of the process that was to give it back. It was not touched. */
export class NotBoundError extends ToolsError {
  readonly code = 'ERR_GPUNVME_NOT_BOUND'
  readonly category = 'not-found'
  constructor(root: string, bdf: string) {
    super(`There is nothing to give back: gpunvme has not bound ${bdf}`, {
      next: { ...commandFor(root, 'status', bdf), note: 'which shows its driver and users' },
    })
  }
}

/** A gpunvme that runs has it, and gives it back when it ends. It was not touched. */
export class HeldByProcessError extends ToolsError {
  readonly code = 'ERR_GPUNVME_HELD_BY_PROCESS'
  readonly category = 'privilege'
  constructor({ record: { bdf }, by }: Entry, { pid }: ProcessIdentity) {
    super(`${bdf} is in the hands of process ${pid}, which gives it back when it ends`, {
      facts: [`${by.user}: ${by.command}`],
      next: `wait for it, or end it: kill ${pid}`,
    })
  }
}

/** Somebody drives it: giving it back would pull it from under them. It was not touched. */
export class StillInUseError extends ToolsError {
  readonly code = 'ERR_GPUNVME_STILL_IN_USE'
  readonly category = 'privilege'
  readonly holders: readonly Holder[]
  constructor(root: string, bdf: string, cause: DeviceHeldError) {
    const { holders } = cause
    super(`Cannot give ${bdf} back: it is in use`, {
      facts: holders.map(({ device, use }) => `${device} is ${use}`),
      next: { ...commandFor(root, 'unbind', bdf), first: 'end what is listed' },
      cause,
    })
    this.holders = holders
  }
}
