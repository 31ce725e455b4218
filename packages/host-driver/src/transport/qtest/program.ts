import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const DEFAULT = 'qemu-system-x86_64'

/** The program that `startQemu` starts where it is told none: GPUNVME_QEMU of the environment, or else its usual name. */
export function qemuProgram(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const named = environment['GPUNVME_QEMU']
  return named === undefined || named === '' ? DEFAULT : named
}

/** Whether that program is there to be started; its version is looked at when it is. */
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
