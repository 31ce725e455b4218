import { constants } from 'node:os'

/**
 * Maximum data bytes of a message, as announced in VERSION: all of configuration space is the most that clients read at
 * once.
 */
export const MAX_DATA_BYTES = 1024 * 1024
/** Maximum descriptors beside a message, as announced in VERSION. */
export const MAX_DESCRIPTORS = 16
/** Maximum memory regions of a client, as announced in VERSION: Linux's own limit of mappings for a process. */
export const MAX_REGIONS = 65_535
/** Maximum writes in one REGION_WRITE_MULTI: QEMU packs at most 200. Each may take as long as a separate message. */
export const MAX_WRITES = 256
/** The longest message: a header, the target of the data, and the data. */
export const MAX_MESSAGE_BYTES = 32 + MAX_DATA_BYTES

/** The errnos of replies. */
export const { EACCES, EEXIST, EINVAL, ENOENT, ENOMEM, ENOSPC, ENOTSUP } = constants.errno

/** Whether a system call has failed, rather than this program. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error && typeof error.code === 'string'
}

/** Returns the errno of a failed call, for a reply. */
export function errnoOf(error: { readonly code: string }): number {
  return (constants.errno as Readonly<Record<string, number>>)[error.code] ?? constants.errno.EIO
}
