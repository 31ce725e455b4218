import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An open file in a temporary folder. `Symbol.dispose` closes the file, and removes it and the folder. */
export interface ScratchFile extends Disposable {
  readonly path: string
  readonly fd: number
}

export function scratchFile(content: Uint8Array, flags = 'r+', parent = tmpdir()): ScratchFile {
  const folder = mkdtempSync(join(parent, 'gpunvme-host-'))
  const path = join(folder, 'file')
  writeFileSync(path, content)
  const fd = openSync(path, flags)
  return {
    path,
    fd,
    [Symbol.dispose]() {
      closeSync(fd)
      rmSync(folder, { recursive: true })
    },
  }
}

/** Creates a scratch file on a tmpfs, as memory that a vfio-user client can share. */
export function memoryFile(content: Uint8Array): ScratchFile {
  return scratchFile(content, 'r+', '/dev/shm')
}
