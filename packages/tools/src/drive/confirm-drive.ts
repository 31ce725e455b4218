import { Controller } from '@gpunvme/host-driver'
import { ask, canAsk } from '../terminal/ask.js'
import type { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { formatBytes } from '../terminal/units.js'
import { describeContents } from './drive-contents.js'
import type { OpenedTransport } from './opened-transport.js'
import { typed, type CommandStep } from '../command-line/next-step.js'
import { ToolsError } from '../command-line/tools-error.js'

export interface ConfirmFlags {
  /** The serial number of the drive that is meant. */
  readonly serial?: string
  /** Nobody is to be asked. Only with `serial`. */
  readonly yes?: boolean
}

/**
 * The serial number of the drive that is to be written to, after somebody has said that this is the one: on a terminal by
 * typing the number, elsewhere by --serial and --yes. A drive that is simulated needs neither.
 * @throws NotConfirmedError; nothing was written.
 */
export async function confirmDrive(
  opened: OpenedTransport,
  flags: ConfirmFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<string> {
  if (opened.serial !== undefined) return requireOwnSerial(opened.transport.name, opened.serial, flags)
  const drive = await lookAt(opened)
  await confirmChange(drive, flags, output, signal)
  return drive.serial!
}

/** A simulated drive needs no confirmation. A serial number that is given must be its own all the same. */
function requireOwnSerial(name: string, serial: string, flags: ConfirmFlags): string {
  const given = flags.serial?.trim()
  if (given === undefined || given === serial) return serial
  const serialFrom = { command: ['identify', '--transport', name] }
  const drive = { bdf: name, serial, serialFrom, description: 'a simulated drive', change: 'write to' }
  throw new NotConfirmedError(drive, `its serial number is not '${given}'`)
}

/** A drive as somebody recognises it, and what is about to happen to it. */
export interface ShownDrive {
  readonly bdf: string
  /** Undefined where nobody can know it, and blank of a drive without: then the address has to be said in its place. */
  readonly serial: string | undefined
  /** Shows serial numbers; by default `status`, which shows those of all drives of this machine. */
  readonly serialFrom?: CommandStep
  /** 'WD PC SN740, 477 GiB'. */
  readonly description: string
  /** Lines that warn about possible data loss: 'It holds GPT'. */
  readonly warning?: readonly string[]
  /** 'write to', 'take over'. */
  readonly change: string
}

/** Has somebody say that this drive is meant, as `confirmDrive` does. @throws NotConfirmedError, and as `ask` */
export async function confirmChange(
  drive: ShownDrive,
  flags: ConfirmFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<void> {
  const { yes = false } = flags
  const given = flags.serial?.trim()
  const { word, name } = passwordOf(drive)
  if (given !== undefined && given !== word) throw new NotConfirmedError(drive, `its ${name} is not '${given}'`)
  if (yes && given !== undefined) return
  if (!canAsk(output)) throw new NotConfirmedError(drive, 'nobody is here to be asked')
  output.error(`About to ${drive.change} ${drive.bdf}: ${printable(drive.description)}`, warningOf(drive))
  // A question that showed the number would confirm the wrong drive by copying.
  const seen = hasSerial(drive) ? ` (on its label, or by ${typed(serialFrom(drive), output.invocation)})` : ''
  const answer = await ask(`Type its ${name}${seen} to go on: `, output.io, signal)
  if (answer === '' || answer !== word) throw new NotConfirmedError(drive, `what was typed is not its ${name}`)
}

function passwordOf(drive: ShownDrive) {
  return hasSerial(drive)
    ? { word: drive.serial!.trim(), name: 'serial number' }
    : { word: drive.bdf, name: 'PCI address' }
}

function hasSerial({ serial = '' }: ShownDrive): boolean {
  return serial.trim() !== ''
}

function serialFrom({ serialFrom = { command: ['status'] } }: ShownDrive): CommandStep {
  return serialFrom
}

function warningOf({ warning = [] }: ShownDrive): string[] {
  return warning.map(printable)
}

async function lookAt({ transport }: OpenedTransport): Promise<ShownDrive> {
  const controller = await Controller.open(transport)
  try {
    const { model, serial } = controller.identity
    const bytes = controller.namespaces.reduce((sum, { identity }) => sum + identity.blocks * identity.blockBytes, 0)
    return {
      bdf: transport.bdf ?? transport.name,
      serial,
      ...(transport.bdf === undefined && { serialFrom: { command: ['identify', '--socket', 'PATH'] } }),
      description: `${model}, ${formatBytes(bytes)}`,
      warning: [await describeContents(controller)],
      change: 'write to',
    }
  } finally {
    await controller.close()
  }
}

/** Nobody has said that this drive is meant. It was not changed. */
export class NotConfirmedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_NOT_CONFIRMED'
  readonly category = 'privilege'
  constructor(drive: ShownDrive, reason: string) {
    super(`Refused to ${drive.change} ${drive.bdf}: ${printable(reason)}`, {
      facts: [printable(drive.description), ...warningOf(drive)],
      // The serial number itself would turn a refusal into a command to copy: the user looks at the drive first.
      next: hasSerial(drive)
        ? {
            words: [
              'look up the serial number of the intended drive on its label, or by ',
              serialFrom(drive),
              ', then pass --serial SERIAL --yes',
            ],
          }
        : '--serial ADDRESS --yes with the PCI address of the intended drive, whose serial number is not known',
    })
  }
}
