import { countOf, IdentifyController, IdentifyNamespace, IdentifyNvmController } from '@gpunvme/nvme-spec'

/** Undefined: the controller has no such command. Infinity: it states no limit. */
type Limit = number | undefined

/** What a controller takes at most of each command of the NVM Command Set, beside Read and Write. */
export interface BlockCommandLimits {
  /** Whether there is one; its data is limited as that of every transfer. */
  readonly compare: boolean
  /** Bytes of one Verify. */
  readonly verifyBytes: Limit
  /** Bytes of one Write Zeroes. */
  readonly writeZeroesBytes: Limit
  /** The same, with Deallocate. */
  readonly writeZeroesDeallocateBytes: Limit
  /** Of one Dataset Management. */
  readonly deallocate: { readonly ranges: number; readonly rangeBlocks: number; readonly blocks: number } | undefined
  /** Whether there is one that takes ranges of Descriptor Format 0h; its limits are the namespace's. */
  readonly copy: boolean
}

/** Of a Copy within a namespace, in logical blocks (NVM 1.2 §4.1.5.1, Figure 114). */
export interface CopyLimits {
  readonly ranges: number
  readonly rangeBlocks: number
  readonly blocks: number
}

/** NLB of a source range, and LLB of a range of Dataset Management. */
const MOST_SOURCE_BLOCKS = 65_536
const MOST_RANGE_BLOCKS = 2 ** 32 - 1
/** NR of Dataset Management. A Copy takes as many sources as fit a page of data: 128 of format 0h. */
const MOST_RANGES = 256
const MOST_SOURCES = 128

/**
 * @param controller Identify, CNS 01h.
 * @param nvm Identify, CNS 06h of the NVM Command Set; undefined where the controller has no such page, as before
 *   revision 2.0.
 * @param mpsmin CAP.MPSMIN, the unit of limits in bytes.
 */
export function blockCommandLimits(
  controller: DataView,
  nvm: DataView | undefined,
  mpsmin: number,
): BlockCommandLimits {
  const { ONCS: raw, CDFS } = IdentifyController.view(controller)
  const { ONCS } = IdentifyController
  const { VSL, WZSL, WZDSL, DMRL, DMRSL, DMSL } = nvm === undefined ? NONE : IdentifyNvmController.view(nvm)
  // A limit that is stated says that there is the command, whatever ONCS says (NVM 1.2 §4.1.5.4, Figure 120). What is
  // then only recommended, where ONCS has its bit too, is kept to as well.
  const bytes = (supported: number, exponent: number): Limit => {
    if (exponent !== 0) return 2 ** (12 + mpsmin + exponent)
    return supported === 1 ? Infinity : undefined
  }
  const writeZeroesBytes = bytes(ONCS.NVMWZSV.of(raw), WZSL)
  const largerWithDeallocate = ONCS.MAXWZD.of(raw) === 1 && WZDSL !== 0
  // Ranges beyond these limits may be ignored without a word (NVM 1.0 §3.2.3.1): they have to be kept to.
  const deallocates = ONCS.NVMDSMSV.of(raw) === 1 || (DMRL !== 0 && DMRSL !== 0 && DMSL !== 0n)
  return {
    compare: ONCS.NVMCMPS.of(raw) === 1,
    verifyBytes: bytes(ONCS.NVMVFYS.of(raw), VSL),
    writeZeroesBytes,
    writeZeroesDeallocateBytes: largerWithDeallocate ? bytes(1, WZDSL) : writeZeroesBytes,
    deallocate: deallocates
      ? {
          ranges: DMRL || MOST_RANGES,
          rangeBlocks: DMRSL || MOST_RANGE_BLOCKS,
          blocks: DMSL === 0n ? Infinity : Number(DMSL),
        }
      : undefined,
    copy: ONCS.NVMCPYS.of(raw) === 1 && IdentifyController.CDFS.CDF0S.of(CDFS) === 1,
  }
}

const NONE = { VSL: 0, WZSL: 0, WZDSL: 0, DMRL: 0, DMRSL: 0, DMSL: 0n } as const

/** @param namespace Identify, CNS 00h. */
export function copyLimits(namespace: DataView): CopyLimits {
  const { MSSRL, MCL, MSRC } = IdentifyNamespace.view(namespace)
  return {
    ranges: Math.min(countOf(MSRC), MOST_SOURCES),
    rangeBlocks: MSSRL || MOST_SOURCE_BLOCKS,
    blocks: MCL || Infinity,
  }
}

/** WZDS of DLFEAT: whether Write Zeroes may deallocate blocks of this namespace. */
export function zeroesDeallocate(namespace: DataView): boolean {
  return IdentifyNamespace.DLFEAT.WZDS.of(IdentifyNamespace.view(namespace).DLFEAT) === 1
}
