import { IdentifyNamespace, zeroBased } from '@gpunvme/nvme-spec'
import type { Media } from '../media/media.js'
import { RamMedia } from '../media/ram.js'

export interface NamespaceOptions {
  /** 1 when not given; each namespace its own. */
  readonly nsid?: number
  /** 512 when not given. */
  readonly blockBytes?: 512 | 4096
  /** 1 GiB when neither this nor `media` is given; what does not fill a block is left out. */
  readonly capacityBytes?: number
  /** Memory that exists where it was written, when not given. Closed with the simulation. */
  readonly media?: Media
}

const DEFAULT_BYTES = 1024 ** 3

/** A namespace: logical blocks on a media. */
export class Namespace {
  readonly nsid: number
  readonly blockBytes: number
  readonly blocks: number
  readonly media: Media

  /** @throws RangeError for a size that holds no block, or that the media has not. */
  constructor({ nsid = 1, blockBytes = 512, capacityBytes, media }: NamespaceOptions) {
    const bytes = capacityBytes ?? media?.capacityBytes ?? DEFAULT_BYTES
    if (!Number.isInteger(nsid) || nsid < 1 || nsid > 0xffff_fffe) {
      throw new RangeError(`namespace: expected an NSID from 1 to FFFFFFFEh, got ${nsid}`)
    }
    // A caller without types may ask for any size; addresses would go wrong without a word.
    if (!([512, 4096] as number[]).includes(blockBytes)) {
      throw new RangeError(`namespace ${nsid}: expected blocks of 512 or 4096 bytes, got ${String(blockBytes)}`)
    }
    if (!Number.isSafeInteger(bytes) || bytes < blockBytes || bytes > (media?.capacityBytes ?? bytes)) {
      throw new RangeError(
        `namespace ${nsid}: expected a capacity from ${blockBytes} to ${media?.capacityBytes ?? '2^53 - 1'} bytes, got ${bytes}`,
      )
    }
    this.nsid = nsid
    this.blockBytes = blockBytes
    this.blocks = Math.floor(bytes / blockBytes)
    this.media = media ?? new RamMedia(this.blocks * blockBytes)
  }

  /** The 4096 bytes of Identify Namespace (NVM 1.2 §4.1.5.1). */
  identify(): DataView {
    const { blocks, blockBytes, media } = this
    const formats = new Uint32Array(64)
    formats[0] = Math.log2(blockBytes) << 16 // LBADS
    return IdentifyNamespace.create({
      NSZE: blocks,
      NCAP: blocks,
      NUSE: blocks,
      NLBAF: zeroBased(1),
      DLFEAT: 1, // what was never written reads as zero
      NSATTR: media.readOnly === true ? 1 : 0, // currently write protected
      NVMCAP: BigInt(blocks) * BigInt(blockBytes),
      LBAF: formats,
    }).data
  }
}

/** Namespaces of one controller, by NSID. */
export class Namespaces {
  /** In increasing order of NSID. */
  readonly active: readonly Namespace[]
  /** The largest valid NSID. */
  readonly NN: number
  private readonly byNsid: ReadonlyMap<number, Namespace>

  /** @throws RangeError when two have the same NSID. */
  constructor(options: readonly NamespaceOptions[]) {
    this.active = options.map((each) => new Namespace(each)).sort((a, b) => a.nsid - b.nsid)
    this.byNsid = new Map(this.active.map((each) => [each.nsid, each]))
    this.NN = this.active.at(-1)?.nsid ?? 0
    if (this.byNsid.size < options.length) throw new RangeError('namespaces: two of them have the same NSID')
  }

  get(nsid: number): Namespace | undefined {
    return this.byNsid.get(nsid)
  }

  /** Whether an NSID is valid, active or not (Base 2.1 §3.2.1). */
  isValid(nsid: number): boolean {
    return nsid >= 1 && nsid <= this.NN
  }
}
