import { UNDETECTABLE_USES } from '@gpunvme/host-driver'
import { planBinding } from '@gpunvme/host-driver/pci'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { BindingOf } from '../binding/bind-report.js'
import { driveFacts } from '../binding/drive-facts.js'
import { chooseDriver, TARGETS, type Target } from '../binding/driver-choice.js'
import { describeLosses, readLosses } from '../binding/lost-devices.js'
import { readEntry } from '../binding/state-files.js'
import { refuseBound, type Taking } from '../binding/take-drive.js'
import { callerOf } from '../command-line/advised-command.js'
import type { Session } from '../command-line/session.js'
import type { Output } from '../terminal/output.js'
import { confirmChange, type ConfirmFlags } from './confirm-drive.js'
import { findDrive, type FoundDrive } from './find-drive.js'

/** Adds the options of verbs that bind a drive. */
export function addTakingOptions(command: Command): Command {
  const to = new Option('--to <driver>', 'vfio-pci, kmod or none (default: what the machine allows)')
  to.argParser((text) => {
    if (!Object.hasOwn(TARGETS, text)) throw new InvalidArgumentError('Expected vfio-pci, kmod or none.')
    return text as Target
  })
  return command
    .addOption(to)
    .option('--serial <serial>', 'required serial number of the drive')
    .option('--yes', 'with --serial: bind without confirmation')
}

/** Finds a drive to bind. @throws errors of `findDrive`; ToolsError (ALREADY_BOUND) */
export async function findUnbound(address: string, root: string): Promise<FoundDrive> {
  const drive = findDrive(address, root)
  const entry = await readEntry(root, drive.bdf)
  if (entry !== undefined) refuseBound(root, entry)
  return drive
}

/** Plans the binding of a drive, and changes nothing. @throws errors of `planBinding` */
export async function planTaking(drive: FoundDrive, to: Target | undefined, root: string): Promise<BindingOf> {
  const choice = chooseDriver(root, drive, to)
  const steps = await planBinding({ bdf: drive.bdf, driver: choice.driver, sysRoot: root })
  const namespaces = await readLosses(root, drive)
  return { root, drive, choice, known: knownOf(root, drive), namespaces, steps }
}

/** Facts from Linux's driver. A binding record is not used: it may describe an earlier drive at this address. */
function knownOf(root: string, { bdf, linuxName }: FoundDrive): Taking['known'] {
  return { name: linuxName ?? null, ...driveFacts(root, bdf) }
}

const UNSEEN = ['No use of the drive was found. gpunvme cannot detect:', ...UNDETECTABLE_USES.map((use) => `- ${use}`)]

/**
 * States which block devices disappear, and asks for confirmation, unless nothing would change.
 * @throws errors of `confirmChange`
 */
export async function confirmTaking(
  { drive, known, namespaces, steps }: BindingOf,
  flags: ConfirmFlags,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  if (steps.length > 0) {
    output.error(describeLosses(namespaces))
    const description = known.model ?? 'model unknown: no Linux driver is bound'
    const shown = { bdf: drive.bdf, serial: known.serial ?? undefined, description, warning: UNSEEN }
    await confirmChange({ ...shown, change: 'take over' }, flags, output, signal)
  }
  signal.throwIfAborted()
}

/** Returns the input of `takeDrive` for a confirmed plan. */
export function takingOf({ root, drive, choice, known }: BindingOf, session: Session): Omit<Taking, 'isHeld'> {
  return { root, found: drive, driver: choice.driver, known, by: callerOf(session) }
}
