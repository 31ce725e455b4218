import { createCipheriv } from 'node:crypto'

/** Returns deterministic pseudo-random bytes: an AES key stream. */
export const someBytes = (length: number): Buffer =>
  createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(length))
