import { Controller, findSignatures, UNREADABLE_DATA, type Namespace } from '@gpunvme/host-driver'
import { ask, canAsk } from '../command-line/ask.js'
import type { Output } from '../terminal/output.js'
import { printable, typedName } from '../terminal/printable.js'
import { formatBytes } from '../terminal/units.js'
import type { OpenedTransport } from './opened-transport.js'
import { typed, type CommandStep } from '../command-line/next-step.js'
import { ToolsError } from '../command-line/tools-error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { holdsImage } from '../block-io/unknown-data.js'

export interface ConfirmFlags {
  /** Serial number of the intended drive. */
  readonly serial?: string
  /** Skips the prompt. Requires `serial`. */
  readonly yes?: boolean
}

/**
 * Returns the serial number of the drive to write to after confirmation: by typing it on a terminal, otherwise by
 * --serial and --yes. A simulated drive needs no confirmation.
 * @throws ToolsError (NOT_CONFIRMED); nothing was written.
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

/** A simulated drive needs no confirmation, but a given serial number must match. */
function requireOwnSerial(name: string, serial: string, flags: ConfirmFlags): string {
  const given = typedSerial(flags)
  if (given === undefined || given === serial) return serial
  const serialFrom = { command: ['nvme', 'identify', '--transport', name] }
  const drive = { bdf: name, serial, serialFrom, description: 'a simulated drive', change: 'write to' }
  throw notConfirmedError(drive, `its serial number is not '${given}'`)
}

/** Description of a drive for the prompt, and the operation. */
export interface ShownDrive {
  readonly bdf: string
  /** Undefined if unknown, blank if the drive has none: then the address is used instead. */
  readonly serial: string | undefined
  /** Command that shows the serial number. Default: `list ADDRESS`, for the drive that the user intends. */
  readonly serialFrom?: CommandStep
  /** For example 'WD PC SN740, 477 GiB'. */
  readonly description: string
  /** Lines that warn of possible data loss: 'It holds GPT'. */
  readonly warning?: readonly string[]
  /** For example 'write to' or 'take over'. */
  readonly change: string
}

/** Asks for confirmation of the drive, as `confirmDrive` does. @throws ToolsError (NOT_CONFIRMED); errors of `ask` */
export async function confirmChange(
  drive: ShownDrive,
  flags: ConfirmFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<void> {
  const { yes = false } = flags
  const given = typedSerial(flags)
  const { word, name } = passwordOf(drive)
  if (given !== undefined && given !== word) throw notConfirmedError(drive, `its ${name} is not '${given}'`)
  if (yes && given !== undefined) return
  if (!canAsk(output)) throw notConfirmedError(drive, 'stdin is not a terminal')
  output.error(`About to ${drive.change} ${drive.bdf}: ${printable(drive.description)}`, warningOf(drive))
  // If the prompt showed the number, copying it would confirm the wrong drive.
  const seen = hasSerial(drive) ? ` (on its label, or by ${typed(serialFrom(drive), output.invocation)})` : ''
  const answer = await ask(`Type its ${name}${seen} to continue: `, output.io, signal)
  if (answer === '' || typedName(answer) !== word)
    throw notConfirmedError(drive, `the input does not match its ${name}`)
}

function typedSerial({ serial }: ConfirmFlags): string | undefined {
  return serial === undefined ? undefined : typedName(serial.trim())
}

function passwordOf(drive: ShownDrive) {
  return hasSerial(drive)
    ? { word: drive.serial!.trim(), name: 'serial number' }
    : { word: drive.bdf, name: 'PCI address' }
}

function hasSerial({ serial = '' }: ShownDrive): boolean {
  return serial.trim() !== ''
}

function serialFrom({ serialFrom = { command: ['list', 'ADDRESS'] } }: ShownDrive): CommandStep {
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
      ...(transport.bdf === undefined && { serialFrom: { command: ['nvme', 'identify', '--socket', 'PATH'] } }),
      description: `${model}, ${formatBytes(bytes)}`,
      warning: [await describeContents(controller)],
      change: 'write to',
    }
  } finally {
    await controller.close()
  }
}

/** Error of a drive without confirmation. It was not changed. */
function notConfirmedError(drive: ShownDrive, reason: string): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_NOT_CONFIRMED',
    'privilege',
    `Refused to ${drive.change} ${drive.bdf}: ${printable(reason)}`,
    {
      facts: [printable(drive.description), ...warningOf(drive)],
      // With the number itself, the refusal would be a command to copy: the user should check the drive first.
      next: hasSerial(drive)
        ? {
            words: [
              'look up the serial number of the intended drive on its label, or by ',
              serialFrom(drive),
              ', then pass --serial SERIAL --yes',
            ],
          }
        : 'pass --serial ADDRESS --yes with the PCI address of the intended drive, whose serial number is unknown',
    },
  )
}

/**
 * Describes the known formats on a drive, for the confirmation of a write: 'It holds GPT, NTFS'. Reads only the offsets
 * of known signatures, so a drive without a known format is not necessarily empty.
 */
async function describeContents(controller: Controller): Promise<string> {
  const lists = await Promise.all(
    controller.namespaces.map(({ identity }) => recognized(() => controller.namespace(identity.nsid))),
  )
  const names = [...new Set(lists.flat())]
  return names.length === 0 ? 'It has no known format' : `It has ${names.join(', ')}`
}

async function recognized(open: () => Namespace): Promise<string[]> {
  try {
    const namespace = open()
    const names = (await findSignatures(namespace)).map(({ name }) => name)
    return (await holdsImage(namespace)) ? [...names, 'a model image'] : names
  } catch (error) {
    if (error instanceof GpuNvmeError && error.category !== 'device') return [UNREADABLE_DATA]
    throw error
  }
}
