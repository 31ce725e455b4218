import { gzipSync } from 'node:zlib'

export interface Packed {
  readonly path: string
  readonly contents: Buffer
}

/**
 * Returns an initramfs as distributions build it: an uncompressed cpio archive with microcode, zeros, then a compressed
 * archive (Linux, Documentation/driver-api/early-userspace).
 */
export function initramfs(
  files: readonly Packed[],
  { early = [], compress = gzipSync }: { early?: readonly Packed[]; compress?: (bytes: Buffer) => Buffer } = {},
): Buffer {
  const rest = compress(cpio(files))
  return early.length === 0 ? rest : Buffer.concat([cpio(early), rest])
}

/** Returns a cpio archive in the "newc" format, padded to 512 bytes. */
export function cpio(files: readonly Packed[]): Buffer {
  const parts = [...files, { path: 'TRAILER!!!', contents: Buffer.alloc(0) }].map(({ path, contents }, index) => {
    const name = Buffer.from(`${path}\0`, 'utf8')
    const trailer = path === 'TRAILER!!!'
    const fields = [index + 1, trailer ? 0 : 0o100644, 0, 0, 1, 0, contents.length, 0, 0, 0, 0, name.length, 0]
    const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`, 'latin1')
    return Buffer.concat([padded(Buffer.concat([header, name]), 4), padded(contents, 4)])
  })
  return padded(Buffer.concat(parts), 512)
}

function padded(bytes: Buffer, to: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to)])
}
