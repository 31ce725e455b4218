import { ToolsError } from '../command-line/tools-error.js'
import { openTransport } from './by-name.js'
import { findDrive, type FoundDrive } from './find-drive.js'
import type { OpenedTransport } from './opened-transport.js'
import { transportOf } from './transport-names.js'

/**
 * Opens a real drive, by the transport that suits the driver it is bound to.
 * @param text PCI address or Linux name, as `findDrive` takes it
 * @param asked the only transport that will do
 * @throws DriveInUseError; as `findDrive` and `openTransport`
 */
export function openReal(text: string, asked?: string): Promise<OpenedTransport> {
  const found = findDrive(text)
  const suiting = transportOf(found.driver)
  if (suiting === undefined || (asked !== undefined && asked !== suiting)) throw new DriveInUseError(found, asked)
  return openTransport(suiting, { address: found.bdf })
}

/** The drive is bound to a driver that the transport cannot use. It was not touched. */
export class DriveInUseError extends ToolsError {
  readonly code = 'ERR_GPUNVME_DRIVE_IN_USE'
  readonly category = 'privilege'
  constructor({ bdf, driver, linuxName }: FoundDrive, asked: string | undefined) {
    const owner = driver === undefined ? 'no driver' : `the driver ${driver}`
    const name = linuxName === undefined ? '' : ` (${linuxName})`
    super(`Cannot open ${bdf}${name}: ${owner} has it`, {
      facts: asked === undefined ? [] : [`--transport ${asked} needs another`],
      next: { command: ['bind', bdf], note: 'which gives it to user space and says how it comes back' },
    })
  }
}
