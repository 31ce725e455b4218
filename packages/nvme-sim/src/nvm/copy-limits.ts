import { zeroBased } from '@gpunvme/nvme-spec'

/** Limits of a Copy, as reported by Identify Namespace; the lengths are in logical blocks. */
export const COPY_LIMITS = { MSSRL: 2048, MCL: 16_384, MSRC: zeroBased(128) } as const
