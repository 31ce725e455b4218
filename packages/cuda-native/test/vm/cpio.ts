/** A file of an initramfs; a directory if it has no content. */
export interface CpioEntry {
  readonly path: string
  readonly content?: Uint8Array
  readonly executable?: boolean
}

/**
 * Creates an archive in the "newc" format of initramfs (Linux Documentation/driver-api/early-userspace/buffer-format).
 */
export function cpio(entries: readonly CpioEntry[]): Buffer {
  const parts = [...entries.map((entry, index) => record(entry, index + 1)), record({ path: 'TRAILER!!!' }, 0)]
  return Buffer.concat(parts)
}

function record({ path, content, executable = false }: CpioEntry, ino: number): Buffer {
  const bytes = content ?? new Uint8Array(0)
  const mode = content === undefined ? 0o040755 : executable ? 0o100755 : 0o100644
  // ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
  const fields = [ino, mode, 0, 0, 1, 0, bytes.length, 0, 0, 0, 0, Buffer.byteLength(path) + 1, 0]
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}${path}\0`
  return Buffer.concat([padded(Buffer.from(header)), padded(bytes)])
}

function padded(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)])
}
