import { findHolders } from '@gpunvme/host-driver'
import { hasCode } from '@gpunvme/layer-loader'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { awaitBlockDevice } from '../drive/block-device.js'
import { headline } from '../binding/bind-report.js'
import { bindHeld, type HeldDrive } from '../binding/bind-held.js'
import { driverName, openingOf, type Target } from '../binding/driver-choice.js'
import type { Session } from '../command-line/session.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { ConfirmFlags } from '../drive/confirm-drive.js'
import type { FoundDrive } from '../drive/find-drive.js'
import { confirmTaking, findUnbound, planTaking, takingOf } from '../drive/plan-taking.js'
import type { Output } from '../terminal/output.js'
import { compareReads, type Reference } from './extents.js'
import { readFromLinux } from './outside-reads.js'
import { plural } from '../terminal/units.js'
import type { StepFacts } from './report.js'
import { SkippedStep } from './sequence.js'

const ROOT = '/'

export interface BindFlags extends ConfirmFlags {
  readonly to?: Target
}

/** Returns whether a drive is bound to user space already, and can be opened as it is. */
export function isBound({ driver, group }: FoundDrive): boolean {
  return 'transport' in openingOf({ driver, group })
}

/**
 * Binds the drive after confirmation, as the verb bind does, until `release`.
 * @throws SkippedStep if it is bound already; errors of the verb bind
 */
export async function bindDrive(
  drive: FoundDrive,
  flags: BindFlags,
  { output, session, onConfirmed }: { output: Output; session: Session; onConfirmed: () => void },
  record: (facts: StepFacts) => void,
): Promise<{ readonly held: HeldDrive; readonly text: string }> {
  if (isBound(drive)) throw new SkippedStep(`already bound to ${driverName(drive.driver)}: used as it is`)
  const binding = await planTaking(await findUnbound(drive.bdf, ROOT), flags.to, ROOT)
  const { driver, reason } = binding.choice
  record({ binding: { driver, previous: drive.driver ?? null, reason } })
  await confirmTaking(binding, flags, output, session.signal)
  onConfirmed()
  const onLost = (message: string) => output.error(message)
  const held = await bindHeld(takingOf(binding, session), { onLost, invocation: output.invocation })
  return { held, text: `${headline(binding)}: ${reason}` }
}

/**
 * Returns the drive to Linux's driver. Compares the reference extents again if they came from Linux.
 * @param held undefined if binding failed after its confirmation: the drive should then be as before
 */
export async function restoreDrive(
  held: HeldDrive | undefined,
  { bdf, driver }: FoundDrive,
  reference: Reference | undefined,
  record: (facts: StepFacts) => void,
): Promise<string> {
  const isLinux = reference?.comparedWith === 'linux'
  if (held === undefined && !isLinux) throw new SkippedStep('the drive was not bound')
  await held?.release()
  const state = held === undefined ? `${bdf} was not bound` : `${bdf} was returned to ${driverName(driver)}`
  if (!isLinux) return `${state}; its content was not compared`
  const { linuxName } = await awaitBlockDevice(bdf, reference.nsid)
  if (held === undefined) {
    const uses = await usesOf(bdf)
    if (uses.length > 0) throw new SkippedStep('the drive was not bound, and is in use: its content was not compared')
  }
  const { contents } = await readFromLinux({ bdf, linuxName: linuxName! }, reference.nsid)
  try {
    compareReads(reference, contents, record)
  } catch (error) {
    throw hasCode(error, 'ERR_GPUNVME_BYTES_DIFFER') ? await explainDifference(error, bdf) : error
  }
  return `${state}; ${plural(reference.extents.length, 'extent')} have the same bytes as before`
}

/** Adds the uses of the drive: udev can assemble an array or mount a file system as soon as Linux has the drive. */
async function explainDifference(error: GpuNvmeError, bdf: string): Promise<GpuNvmeError> {
  const uses = await usesOf(bdf)
  if (uses.length === 0) return error
  return new ToolsError(error.code, 'verification', `${error.headline}, and the drive is in use again`, {
    facts: [...error.facts, ...uses, 'another program may have written the bytes'],
    cause: error,
  })
}

async function usesOf(bdf: string): Promise<string[]> {
  return (await findHolders(ROOT, bdf)).map(({ device, use }) => `${device} is ${use}`)
}
