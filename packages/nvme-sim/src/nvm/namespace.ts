import { IdentifyNamespace, zeroBased } from '@gpunvme/nvme-spec'
import { deallocate, type Media } from '../media/media.js'
import { RamMedia } from '../media/ram.js'
import { COPY_LIMITS } from './copy-limits.js'
import { blocksIn, lbaFormats, type LbaFormat } from './lba-format.js'
import { LbaRanges } from './lba-ranges.js'

/** A namespace of the simulated drive; every part has a default. */
export interface NamespaceOptions {
  /** 1 when not given; each namespace its own. */
  readonly nsid?: number
  /** 512 when not given. */
  readonly blockBytes?: LbaFormat['blockBytes']
  /** Bytes of metadata for each logical block, without protection information; 0 when not given. */
  readonly metadataBytes?: LbaFormat['metadataBytes']
  /** Metadata is transferred behind the data of its block; in a buffer of its own, by MPTR, when not given. */
  readonly extendedLba?: boolean
  /** 1 GiB when neither this nor `media` is given; what does not fill a block is left out. */
  readonly capacityBytes?: number
  /**
   * Memory that exists where it was written, when not given. Closed with the simulation. The host cannot delete a
   * namespace whose media was given.
   */
  readonly media?: Media
  /** The namespace exists and is not attached to the controller: its NSID is allocated and inactive. */
  readonly attached?: false
  /** IEEE Extended Unique Identifier, 8 bytes, big endian; not reported when not given. */
  readonly eui64?: Uint8Array
  /** Namespace Globally Unique Identifier, 16 bytes, big endian; not reported when not given. */
  readonly nguid?: Uint8Array
}

const DEFAULT_BYTES = 1024 ** 3
const NONE = new Uint8Array(0)

/** What Identify says alike of every namespace. */
const CAPABILITIES = {
  NLBAF: zeroBased(lbaFormats.length),
  MC: { MTELBAS: 1, MTSBS: 1 },
  ...COPY_LIMITS,
} as const

/** Identify Namespace of NSID FFFFFFFFh: what a namespace may be made with (NVM 1.2 §4.1.5.1). */
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

/** A namespace: logical blocks on a media, in one of the formats of `lbaFormats`. */
export class Namespace {
  readonly nsid: number
  readonly capacityBytes: number
  readonly media: Media
  /** The media was given, and is not memory of the simulation's own: the host cannot have it deleted. */
  readonly isMediaGiven: boolean
  readonly eui64: Uint8Array
  readonly nguid: Uint8Array
  /** Which of the namespaces that have had this NSID it is: 0 is the first. Their identifiers differ. */
  readonly generation: number
  /** Whether it may be attached to several controllers, of which there is one here (NMIC.SHRNS). */
  readonly isShared: boolean
  /** The host has asked for write protection (Namespace Write Protection Config). */
  isWriteProtected = false
  /** Attached to the controller: its NSID is active. */
  isAttached: boolean
  /** Blocks that Write Uncorrectable has marked and nothing was written to since. */
  readonly unreadable = new LbaRanges()

  blockBytes = 512
  metadataBytes = 0
  /** Metadata is transferred behind the data of each block. */
  isExtended = false
  /** How many blocks the host may use: NSZE. A fault may have made them fewer than there were. */
  blocks = 0
  /** How many blocks the format has room for: on the media, metadata begins behind the data of all of them. */
  formattedBlocks = 0
  /** No metadata, and media that move bytes: what a Read and a Write can do without a second copy. */
  isPlain = true
  private formatIndex = 0

  /** @throws RangeError for a size that holds no block, or that the media has not, and for a format there is not. */
  constructor(options: NamespaceOptions, generation = 0, isShared = false) {
    const { nsid = 1, blockBytes = 512, metadataBytes = 0, capacityBytes, media, eui64 = NONE, nguid = NONE } = options
    const bytes = capacityBytes ?? media?.capacityBytes ?? DEFAULT_BYTES
    // A caller without types may ask for any size; addresses would go wrong without a word.
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

  /** Whether its data may be changed: neither the host nor the media is against it. */
  get takesChanges(): boolean {
    return !this.isWriteProtected && this.media.readOnly !== true
  }

  /** Format NVM: blocks of another make, all of them deallocated. The format must be one that fits. */
  format(index: number, isExtended: boolean): void {
    deallocate(this.media, 0, this.capacityBytes)
    this.unreadable.clear()
    this.setFormat(index, isExtended)
  }

  /** Whether this is the format that the namespace has. */
  hasFormat(index: number, isExtended: boolean): boolean {
    return this.formatIndex === index && this.isExtended === (isExtended && this.metadataBytes > 0)
  }

  /** The 4096 bytes of Identify Namespace (NVM 1.2 §4.1.5.1), of CNS 00h and of CNS 11h. */
  identify(): DataView {
    const { blocks, media, capacityBytes, eui64, nguid } = this
    const { ZEROES, NOT_REPORTED } = IdentifyNamespace.DLFEAT.DRB
    return IdentifyNamespace.create({
      NSZE: blocks,
      NCAP: blocks,
      // Without thin provisioning it may always be NCAP (NVM 1.2 §2.1.1).
      NUSE: blocks,
      ...CAPABILITIES,
      FLBAS: { FIDXL: this.formatIndex, MTELBA: this.isExtended ? 1 : 0 },
      NMIC: { SHRNS: this.isShared ? 1 : 0 },
      // Of media that move no bytes nothing is promised.
      DLFEAT: { DRB: media.movesData === false ? NOT_REPORTED : ZEROES, WZDS: 1 },
      NSATTR: { CWP: this.takesChanges ? 0 : 1 },
      NVMCAP: BigInt(capacityBytes),
      ...(nguid.length > 0 && { NGUID: nguid }),
      ...(eui64.length > 0 && { EUI64: eui64 }),
      // A format of which not one block fits is not available now: its LBADS is 0 (NVM 1.2 §4.1.5.1).
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
