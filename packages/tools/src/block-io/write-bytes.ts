import type { OutputStream } from '../terminal/io.js'

/**
 * Writes to a stream, and resolves when the stream has accepted the bytes.
 * @returns false if the reader has closed the stream, as `head` does: further writes are unnecessary.
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
