import { createCipheriv } from 'node:crypto'

/** Bytes without a pattern, the same each time: the key stream of AES. */
export const someBytes = (length: number): Buffer =>
  createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(length))

/**
 * As compilers check programs: what is read outside of memory, or not as its alignment asks, ends one. Compiling takes
 * longer than running, and half as long without optimization.
 */
export const sanitized = ['-O0', '-fsanitize=address,undefined', '-fno-sanitize-recover=all']
