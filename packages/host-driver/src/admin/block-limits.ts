import {
  CNS,
  countOf,
  CSI,
  IdentifyController,
  IdentifyNamespace,
  IdentifyNvmController,
  STATUS,
} from '@gpunvme/nvme-spec'
import { CommandError } from '../commands/errors.js'
import type { AdminReads } from './admin-commands.js'
import { identify } from './identify.js'

/** undefined: the command is not supported. Infinity: there is no stated limit. */
type Limit = number | undefined

/** Limits of each command of the NVM Command Set, except Read and Write. */
export interface BlockCommandLimits {
  /** Whether Compare is supported; its data is limited like that of every transfer. */
  readonly compare: boolean
  /** Maximum number of bytes of one Verify. */
  readonly verifyBytes: Limit
  /** Maximum number of bytes of one Write Zeroes. */
  readonly writeZeroesBytes: Limit
  /** Maximum number of bytes of one Write Zeroes with Deallocate. */
  readonly writeZeroesDeallocateBytes: Limit
  /** Limits of one Dataset Management. */
  readonly deallocate: { readonly ranges: number; readonly rangeBlocks: number; readonly blocks: number } | undefined
  /** Whether Copy with ranges of Descriptor Format 0h is supported; its limits are those of the namespace. */
  readonly copy: boolean
}

/** Limits of a Copy within a namespace, in logical blocks (NVM 1.2 §4.1.5.1, Figure 114). */
export interface CopyLimits {
  readonly ranges: number
  readonly rangeBlocks: number
  readonly blocks: number
}

/** Maximum number of blocks of a source range (NLB), and of a range of Dataset Management (LLB). */
const MAX_SOURCE_BLOCKS = 65_536
const MAX_RANGE_BLOCKS = 2 ** 32 - 1
/**
 * Maximum number of ranges of Dataset Management (NR). A Copy takes as many as fit a page of data: 128 of format 0h.
 */
const MAX_RANGES = 256
const MAX_SOURCES = 128

/** Reads the controller's limits of each command of the NVM Command Set. @param mpsmin CAP.MPSMIN */
export async function readBlockCommandLimits(admin: AdminReads, mpsmin: number): Promise<BlockCommandLimits> {
  const nvm = await identify(admin, CNS.COMMAND_SET_CONTROLLER, { csi: CSI.NVM }).catch((error: unknown) => {
    const { sct, sc } = STATUS.INVALID_FIELD_IN_COMMAND
    // Controllers before revision 2.0 do not have this page.
    if (error instanceof CommandError && error.sct === sct && error.sc === sc) return undefined
    throw error
  })
  return blockCommandLimits(admin.identity.raw, nvm, mpsmin)
}

/**
 * Returns the limits of a controller.
 * @param controller Identify, CNS 01h.
 * @param nvm Identify, CNS 06h of the NVM Command Set; undefined if the controller has no such page, as before revision
 *   2.0.
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
  // A stated limit means that the command is supported, whatever ONCS says (NVM 1.2 §4.1.5.4, Figure 120). If ONCS has
  // its bit as well, the limit is only recommended; it is kept nevertheless.
  const bytes = (supported: number, exponent: number): Limit => {
    if (exponent !== 0) return 2 ** (12 + mpsmin + exponent)
    return supported === 1 ? Infinity : undefined
  }
  const writeZeroesBytes = bytes(ONCS.NVMWZSV.of(raw), WZSL)
  const largerWithDeallocate = ONCS.MAXWZD.of(raw) === 1 && WZDSL !== 0
  // Ranges beyond these limits may be ignored silently (NVM 1.0 §3.2.3.1), so they are kept.
  const deallocates = ONCS.NVMDSMSV.of(raw) === 1 || (DMRL !== 0 && DMRSL !== 0 && DMSL !== 0n)
  return {
    compare: ONCS.NVMCMPS.of(raw) === 1,
    verifyBytes: bytes(ONCS.NVMVFYS.of(raw), VSL),
    writeZeroesBytes,
    writeZeroesDeallocateBytes: largerWithDeallocate ? bytes(1, WZDSL) : writeZeroesBytes,
    deallocate: deallocates
      ? {
          ranges: DMRL || MAX_RANGES,
          rangeBlocks: DMRSL || MAX_RANGE_BLOCKS,
          blocks: DMSL === 0n ? Infinity : Number(DMSL),
        }
      : undefined,
    copy: ONCS.NVMCPYS.of(raw) === 1 && IdentifyController.CDFS.CDF0S.of(CDFS) === 1,
  }
}

const NONE = { VSL: 0, WZSL: 0, WZDSL: 0, DMRL: 0, DMRSL: 0, DMSL: 0n } as const

/** Returns the limits of Copy. @param namespace Identify, CNS 00h. */
export function copyLimits(namespace: DataView): CopyLimits {
  const { MSSRL, MCL, MSRC } = IdentifyNamespace.view(namespace)
  return {
    ranges: Math.min(countOf(MSRC), MAX_SOURCES),
    rangeBlocks: MSSRL || MAX_SOURCE_BLOCKS,
    blocks: MCL || Infinity,
  }
}

/** Returns whether Write Zeroes may deallocate blocks of this namespace: WZDS of DLFEAT. */
export function zeroesDeallocate(namespace: DataView): boolean {
  return IdentifyNamespace.DLFEAT.WZDS.of(IdentifyNamespace.view(namespace).DLFEAT) === 1
}
