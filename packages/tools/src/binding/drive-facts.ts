import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../command-line/file-error.js'

/** What Linux's own driver knows of a drive while it has it; null where it does not. */
export interface DriveFacts {
  readonly serial: string | null
  readonly model: string | null
}

/** What the driver calls it: 'nvme0'; undefined while that has it not. @param path the function's folder in sysfs. */
export function linuxNameOf(path: string): string | undefined {
  return unlessMissing(() => readdirSync(join(path, 'nvme')).find((name) => /^nvme\d+$/.test(name)))
}

export function driveFacts(path: string, linuxName: string | undefined): DriveFacts {
  // Padded with blanks, as Identify has it.
  const text = (name: string) =>
    linuxName === undefined
      ? undefined
      : unlessMissing(() => readFileSync(join(path, 'nvme', linuxName, name), 'utf8').trim())
  return { serial: text('serial') ?? null, model: text('model') ?? null }
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}
