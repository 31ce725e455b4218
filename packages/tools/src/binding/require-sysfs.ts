import { MachineFiles } from '@gpunvme/host-driver/machine-files'
import { statfs } from 'node:fs/promises'
import { commandFor, isLive } from '../command-line/advised-command.js'
import { isSystemError } from '../command-line/file-error.js'
import { ToolsError } from '../command-line/tools-error.js'

/** SYSFS_MAGIC of Linux's include/uapi/linux/magic.h. */
const SYSFS_MAGIC = 0x62656572

/**
 * Rejects changes below a root whose sys/ is not the kernel's sysfs: a copy of a machine has regular files there, and
 * symbolic links to anywhere.
 * @throws ToolsError (NOT_SYSFS)
 */
export async function requireSysfs(root: string, verb: string): Promise<void> {
  if (!isLive(root) && !(await isSysfs(new MachineFiles(root).resolve('sys'))))
    throw new ToolsError(
      'ERR_GPUNVME_NOT_SYSFS',
      'usage',
      `Cannot ${verb} below ${root}: its sys/ is not a kernel's sysfs`,
      {
        facts: ['gpunvme never changes a copy of a machine'],
        next: { ...commandFor(root, verb, 'ADDRESS', '--dry-run'), note: 'which prints the steps' },
      },
    )
}

async function isSysfs(path: string): Promise<boolean> {
  try {
    return (await statfs(path)).type === SYSFS_MAGIC
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}
