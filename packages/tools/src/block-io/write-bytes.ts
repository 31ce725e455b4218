import type { OutputStream } from '../terminal/io.js'

/**
 * Writes to a stream as fast as its reader takes it.
 * @returns false where the reader has gone, as `head` does when it has enough: nothing more is wanted then.
 */
export function writeBytes(stream: OutputStream, bytes: Uint8Array | string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => {
      if (error === undefined || error === null) resolve(true)
      else if ((error as NodeJS.ErrnoException).code === 'EPIPE') resolve(false)
      else reject(error)
    })
  })
}
