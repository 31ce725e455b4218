import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const DEFAULT = 'qemu-system-x86_64'

/** Returns the default program of `startQemu`: GPUNVME_QEMU of the environment, or else `qemu-system-x86_64`. */
export function qemuProgram(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const named = environment['GPUNVME_QEMU']
  return named === undefined || named === '' ? DEFAULT : named
}

/** Returns whether that program can be started. Its version is not checked. */
export function qemuIsInstalled(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const program = qemuProgram(environment)
  const folders = program.includes('/') ? [''] : (environment['PATH'] ?? '').split(delimiter)
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
