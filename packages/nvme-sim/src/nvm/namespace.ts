import { IdentifyNamespace, zeroBased } from '@gpunvme/nvme-spec'
import { deallocate, type Media } from '../media/media.js'
import { RamMedia } from '../media/ram.js'
import { COPY_LIMITS } from './copy-limits.js'
import { blocksIn, lbaFormats, type LbaFormat } from './lba-format.js'
import { LbaRanges } from './lba-ranges.js'

/** Options of a namespace of the simulated drive. All are optional. */
export interface NamespaceOptions {
  /** Namespace identifier, unique. Default: 1. */
  readonly nsid?: number
  /** Default: 512. */
  readonly blockBytes?: LbaFormat['blockBytes']
  /** Bytes of metadata per logical block, without protection information. Default: 0. */
  readonly metadataBytes?: LbaFormat['metadataBytes']
  /** Transfers metadata after the data of each block. Default: in a separate buffer, by MPTR. */
  readonly extendedLba?: boolean
  /** Default: 1 GiB if `media` is not given either. A remainder smaller than a block is not used. */
  readonly capacityBytes?: number
  /**
   * Default: memory, allocated where it was written. Closed with the simulation. The host cannot delete a namespace
   * whose media was given.
   */
  readonly media?: Media
  /** The namespace exists but is not attached to the controller: its NSID is allocated and inactive. */
  readonly attached?: false
  /** IEEE Extended Unique Identifier, 8 bytes, big endian. Default: not reported. */
  readonly eui64?: Uint8Array
  /** Namespace Globally Unique Identifier, 16 bytes, big endian. Default: not reported. */
  readonly nguid?: Uint8Array
}

const DEFAULT_BYTES = 1024 ** 3
const NONE = new Uint8Array(0)

/** Identify data common to all namespaces. */
const CAPABILITIES = {
  NLBAF: zeroBased(lbaFormats.length),
  MC: { MTELBAS: 1, MTSBS: 1 },
  ...COPY_LIMITS,
} as const

/** Identify Namespace for NSID FFFFFFFFh: capabilities of namespaces that can be created (NVM 1.2 §4.1.5.1). */
export function namespaceCapabilities(): DataView {
  return IdentifyNamespace.create({ ...CAPABILITIES, LBAF: formatsWhere(() => true) }).data
}

function formatsWhere(isAvailable: (format: LbaFormat) => boolean) {
  return Array.from({ length: 64 }, (_, index) => {
    const format = lbaFormats[index]
    if (format === undefined || !isAvailable(format)) return { MS: format?.metadataBytes ?? 0 }
    return { MS: format.metadataBytes, LBADS: format.blockBytes === 512 ? 9 : 12 }
  })
}

/** A namespace: logical blocks on media, in one of the formats of `lbaFormats`. */
export class Namespace {
  readonly nsid: number
  readonly capacityBytes: number
  readonly media: Media
  /** The media was given, and is not the simulation's own memory: the host cannot delete it. */
  readonly isMediaGiven: boolean
  readonly eui64: Uint8Array
  readonly nguid: Uint8Array
  /** Number of earlier namespaces with this NSID; identifiers depend on it. */
  readonly generation: number
  /** Whether it may be attached to several controllers, although there is only one (NMIC.SHRNS). */
  readonly isShared: boolean
  /** The host has set write protection (Namespace Write Protection Config). */
  isWriteProtected = false
  /** Attached to the controller: its NSID is active. */
  isAttached: boolean
  /** Blocks marked by Write Uncorrectable and not written since. */
  readonly unreadable = new LbaRanges()

  blockBytes = 512
  metadataBytes = 0
  /** Metadata follow the data of each block in a transfer. */
  isExtended = false
  /** Number of blocks that the host may use: NSZE. A fault may have reduced it. */
  blocks = 0
  /** Number of blocks that fit the format: on the media, metadata begin after the data of all of them. */
  formattedBlocks = 0
  /** No metadata, and media that move bytes: Read and Write need no second copy. */
  isPlain = true
  private formatIndex = 0

  /** @throws RangeError for a size that holds no block or exceeds the media, and for an unsupported format. */
  constructor(options: NamespaceOptions, generation = 0, isShared = false) {
    const { nsid = 1, blockBytes = 512, metadataBytes = 0, capacityBytes, media, eui64 = NONE, nguid = NONE } = options
    const bytes = capacityBytes ?? media?.capacityBytes ?? DEFAULT_BYTES
    // Untyped callers may pass any size; addresses would be wrong silently.
    const index = lbaFormats.findIndex((each) => each.blockBytes === blockBytes && each.metadataBytes === metadataBytes)
    if (index < 0) {
      throw new RangeError(
        `namespace ${nsid}: expected blocks of 512 or 4096 bytes, got ${String(blockBytes)}, ` +
          `with 0, 8, 16 or 64 bytes of metadata, got ${String(metadataBytes)}`,
      )
    }
    const blockAndMetadata = blockBytes + metadataBytes
    if (bytes < blockAndMetadata || bytes > (media?.capacityBytes ?? bytes)) {
      throw new RangeError(
        `namespace ${nsid}: expected a capacity from ${blockAndMetadata} to ${media?.capacityBytes ?? '2^53 - 1'} bytes, got ${bytes}`,
      )
    }
    this.nsid = nsid
    this.capacityBytes = bytes
    this.media = media ?? new RamMedia(bytes)
    this.isMediaGiven = media !== undefined
    this.eui64 = eui64
    this.nguid = nguid
    this.generation = generation
    this.isShared = isShared
    this.isAttached = options.attached ?? true
    this.setFormat(index, options.extendedLba ?? false)
  }

  /** Whether its data may be changed: neither the host nor the media forbids it. */
  get takesChanges(): boolean {
    return !this.isWriteProtected && this.media.readOnly !== true
  }

  /**
   * Changes the block format and deallocates all blocks, for Format NVM. The format must fit. A later power loss must
   * not restore data of the old format.
   */
  format(index: number, isExtended: boolean): void {
    deallocate(this.media, 0, this.capacityBytes)
    this.media.flush()
    this.unreadable.clear()
    this.setFormat(index, isExtended)
  }

  /** Whether the namespace has this format. */
  hasFormat(index: number, isExtended: boolean): boolean {
    return this.formatIndex === index && this.isExtended === (isExtended && this.metadataBytes > 0)
  }

  /** Returns the 4096 bytes of Identify Namespace (NVM 1.2 §4.1.5.1), for CNS 00h and CNS 11h. */
  identify(): DataView {
    const { blocks, media, capacityBytes, eui64, nguid } = this
    const { ZEROES, NOT_REPORTED } = IdentifyNamespace.DLFEAT.DRB
    return IdentifyNamespace.create({
      NSZE: blocks,
      NCAP: blocks,
      // Without thin provisioning it may always equal NCAP (NVM 1.2 §2.1.1).
      NUSE: blocks,
      ...CAPABILITIES,
      FLBAS: { FIDXL: this.formatIndex, MTELBA: this.isExtended ? 1 : 0 },
      NMIC: { SHRNS: this.isShared ? 1 : 0 },
      // Nothing is reported for media that move no bytes.
      DLFEAT: { DRB: media.movesData === false ? NOT_REPORTED : ZEROES, WZDS: 1 },
      NSATTR: { CWP: this.takesChanges ? 0 : 1 },
      NVMCAP: BigInt(capacityBytes),
      ...(nguid.length > 0 && { NGUID: nguid }),
      ...(eui64.length > 0 && { EUI64: eui64 }),
      // A format of which no block fits is not available: its LBADS is 0 (NVM 1.2 §4.1.5.1).
      LBAF: formatsWhere((format) => blocksIn(capacityBytes, format) > 0),
    }).data
  }

  private setFormat(index: number, isExtended: boolean): void {
    const format = lbaFormats[index]!
    this.formatIndex = index
    this.blockBytes = format.blockBytes
    this.metadataBytes = format.metadataBytes
    this.isExtended = isExtended && format.metadataBytes > 0
    this.formattedBlocks = blocksIn(this.capacityBytes, format)
    this.blocks = this.formattedBlocks
    this.isPlain = format.metadataBytes === 0 && this.media.movesData !== false
  }
}
