import { createCipheriv } from 'node:crypto'

/** Bytes without a pattern, the same each time: the key stream of AES. */
export const someBytes = (length: number): Buffer =>
  createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(length))
