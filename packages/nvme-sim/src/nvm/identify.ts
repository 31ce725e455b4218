import { zeroBased, type IdentifyController } from '@gpunvme/nvme-spec'
import type { Namespaces } from './namespaces.js'

type ControllerFields = NonNullable<Parameters<typeof IdentifyController.create>[0]>

/**
 * What Identify Controller says of the commands of the NVM Command Set and of namespaces. Commands take effect all at
 * once, whatever their size, which is what AWUN and ACWU say. AWUPF speaks of error conditions too, and a media of a
 * user's own that throws in the middle of a command has written a part: it promises no more than a block.
 */
export function nvmControllerFields({ totalBytes, unallocatedBytes }: Namespaces) {
  return {
    TNVMCAP: BigInt(totalBytes),
    UNVMCAP: BigInt(unallocatedBytes),
    // Format NVM is of the namespaces that it names, also with a secure erase; NSID FFFFFFFFh means all attached ones.
    FNA: { CRYES: 1 },
    FUSES: { FCWS: 1 },
    AWUN: zeroBased(65_536),
    AWUPF: zeroBased(1),
    ACWU: zeroBased(65_536),
    CDFS: { CDF0S: 1 },
    // Any alignment, bit buckets, lists longer than the data, and an SGL for metadata.
    SGLS: { SGLS: 1, SBBDS: 1, MBA: 1, LLDTS: 1, MSDS: 1 },
  } as const satisfies ControllerFields
}
