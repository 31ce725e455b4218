import { zeroBased, type IdentifyController } from '@gpunvme/nvme-spec'
import type { Namespaces } from './namespaces.js'

type ControllerFields = NonNullable<Parameters<typeof IdentifyController.create>[0]>

/**
 * Fields of Identify Controller for the NVM Command Set and namespaces. Commands take effect atomically whatever their
 * size, as AWUN and ACWU report. AWUPF covers errors too, and user-supplied media that throw in the middle of a command
 * have written a part: it reports only one block.
 */
export function nvmControllerFields({ totalBytes, unallocatedBytes }: Namespaces) {
  return {
    TNVMCAP: BigInt(totalBytes),
    UNVMCAP: BigInt(unallocatedBytes),
    // Format NVM and secure erase apply to the given namespace; NSID FFFFFFFFh means all attached ones.
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
