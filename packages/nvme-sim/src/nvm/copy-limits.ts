import { zeroBased } from '@gpunvme/nvme-spec'

/** What a Copy may ask for at most, as Identify Namespace says it; the lengths are in logical blocks. */
export const COPY_LIMITS = { MSSRL: 2048, MCL: 16_384, MSRC: zeroBased(128) } as const
