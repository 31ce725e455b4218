import { constants } from 'node:os'

/** Most bytes of data in one message, as VERSION says: configuration space is the most that anybody asks for at a time. */
export const MOST_DATA_BYTES = 1024 * 1024
/** Most descriptors beside one message, as VERSION says. */
export const MOST_DESCRIPTORS = 16
/** Most regions of memory that a client may map, as VERSION says: Linux's own limit for a process. */
export const MOST_REGIONS = 65_535
/** Most writes in one REGION_WRITE_MULTI: QEMU packs no more than 200. Each may take as long as a message of its own. */
export const MOST_WRITES = 256
/** The longest message: a header, what says where data go, and the data. */
export const MOST_MESSAGE_BYTES = 32 + MOST_DATA_BYTES

/** The errnos of replies. */
export const { EACCES, EEXIST, EINVAL, ENOENT, ENOMEM, ENOSPC, ENOTSUP } = constants.errno

/** Whether a call to the system has failed, and not this program. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error && typeof error.code === 'string'
}

/** The errno of a failed call, for a reply. */
export function errnoOf(error: { readonly code: string }): number {
  return (constants.errno as Readonly<Record<string, number>>)[error.code] ?? constants.errno.EIO
}
