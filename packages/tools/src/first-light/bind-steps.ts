import { awaitBlockDevice } from '../bench/kernel-drive.js'
import { headline } from '../binding/bind-report.js'
import { bindHeld, type HeldDrive } from '../binding/bind-held.js'
import { driverName, openingOf, type Target } from '../binding/driver-choice.js'
import type { Session } from '../command-line/session.js'
import type { ConfirmFlags } from '../drive/confirm-drive.js'
import type { FoundDrive } from '../drive/find-drive.js'
import { confirmTaking, findUnbound, planTaking, takingOf } from '../drive/plan-taking.js'
import type { Output } from '../terminal/output.js'
import type { Reference } from './extents.js'
import { compareWithLinux } from './outside-reads.js'
import type { Redactor } from './redact.js'
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
  { output, session, redactor }: { output: Output; session: Session; redactor: Redactor },
  record: (facts: StepFacts) => void,
): Promise<{ readonly held: HeldDrive; readonly text: string }> {
  if (isBound(drive)) throw new SkippedStep(`it is already bound to ${driverName(drive.driver)}`)
  const binding = await planTaking(await findUnbound(drive.bdf, ROOT), flags.to, ROOT)
  const { driver, reason } = binding.choice
  record({ binding: { driver, previous: drive.driver ?? null, reason: redactor.text(reason) } })
  await confirmTaking(binding, flags, output, session.signal)
  const onLost = (message: string) => output.error(message)
  const held = await bindHeld(takingOf(binding, session), { onLost, invocation: output.invocation })
  return { held, text: `${headline(binding)}: ${reason}` }
}

/** Returns the drive to Linux's driver, and proves through it that the media are unchanged. */
export async function restoreDrive(
  held: HeldDrive | undefined,
  { bdf, driver }: FoundDrive,
  reference: Reference | undefined,
  record: (facts: StepFacts) => void,
): Promise<string> {
  if (held?.entry === undefined) throw new SkippedStep('this command did not bind the drive')
  await held.release()
  const returned = `${bdf} was returned to ${driverName(driver)}`
  if (reference?.comparedWith !== 'linux') return `${returned}; its content was not compared`
  const { linuxName } = await awaitBlockDevice(bdf, reference.nsid)
  await compareWithLinux({ bdf, linuxName: linuxName! }, reference, record)
  return `${returned}; ${reference.extents.length} extents have the same bytes as before`
}
