import { ToolsError } from '../command-line/tools-error.js'
import { openTransport } from './by-name.js'
import { findDrive, type FoundDrive } from './find-drive.js'
import type { OpenedTransport } from './opened-transport.js'
import { transportOf } from './transport-names.js'

/**
 * Opens a real drive by the transport of its driver.
 * @param text PCI address or Linux name, as for `findDrive`
 * @param asked the only accepted transport
 * @throws ToolsError (DRIVE_IN_USE); errors of `findDrive` and `openTransport`
 */
export function openReal(text: string, asked?: string): Promise<OpenedTransport> {
  const found = findDrive(text)
  const suiting = transportOf(found.driver)
  if (suiting === undefined || (asked !== undefined && asked !== suiting)) throw driveInUseError(found, asked)
  return openTransport(suiting, { address: found.bdf })
}

/** Error of a drive that is bound to a driver without the transport. It was not changed. */
function driveInUseError({ bdf, driver, linuxName }: FoundDrive, asked: string | undefined): ToolsError {
  const owner = driver === undefined ? 'no driver' : `the driver ${driver}`
  const name = linuxName === undefined ? '' : ` (${linuxName})`
  return new ToolsError('ERR_GPUNVME_DRIVE_IN_USE', 'privilege', `Cannot open ${bdf}${name}: it is bound to ${owner}`, {
    facts: asked === undefined ? [] : [`--transport ${asked} requires another driver`],
    next: { command: ['bind', bdf], note: 'which binds it to user space' },
  })
}
