import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { NamespaceShape } from './scenario.js'

/** Format of blocks, by the simulator's LBA format index (FLBAS). */
export interface BlockFormat {
  readonly blockBytes: 512 | 4096
  readonly metadataBytes: 0 | 8 | 16 | 64
  /** Metadata follow the data of each block. */
  readonly isExtended: boolean
}

/** The host's expectation of an allocated namespace. */
export interface Space extends BlockFormat {
  readonly nsid: number
  readonly capacityBytes: number
  /** NSZE. */
  readonly blocks: number
  readonly isAttached: boolean
}

/** NSID of orders for the namespace that the host created. */
export const CREATED = 0

const METADATA_BYTES = [0, 8, 16, 64] as const

/** Returns the format of an LBA format index: blocks of 512 and 4096 bytes, by growing metadata. */
export function formatOf(index: number, isExtended: boolean): BlockFormat {
  const metadataBytes = METADATA_BYTES[index >> 1]!
  return { blockBytes: index % 2 === 0 ? 512 : 4096, metadataBytes, isExtended: isExtended && metadataBytes > 0 }
}

/** Bytes that one block takes in a transfer: its data, and its metadata if they follow them. */
export function transferBytes({ blockBytes, metadataBytes, isExtended }: BlockFormat): number {
  return blockBytes + (isExtended ? metadataBytes : 0)
}

/** The namespaces as the host expects them. */
export class Spaces {
  /** NSID of the namespace that the host has created. */
  created: number | undefined
  /** NSID of a namespace that the host is attaching or detaching: commands may find it in either state. */
  changing: number | undefined
  private readonly byNsid = new Map<number, Space>()

  constructor(shapes: readonly NamespaceShape[]) {
    for (const { nsid, blockBytes, blocks, metadataBytes = 0, isExtended = false } of shapes) {
      const capacityBytes = blocks * (blockBytes + metadataBytes)
      this.set({ nsid, blockBytes, metadataBytes, isExtended, blocks, capacityBytes, isAttached: true })
    }
  }

  /** Returns an allocated namespace; `CREATED` is the one that the host has created. */
  get(nsid: number): Space | undefined {
    return this.byNsid.get(nsid === CREATED ? (this.created ?? CREATED) : nsid)
  }

  /** All allocated namespaces, in increasing order of NSID. */
  get all(): readonly Space[] {
    return [...this.byNsid.values()].sort((a, b) => a.nsid - b.nsid)
  }

  /** Returns the states in which a command may find a namespace. */
  statesOf(nsid: number): readonly (Space | undefined)[] {
    const space = this.byNsid.get(nsid)
    return space && nsid === this.changing ? [space, { ...space, isAttached: !space.isAttached }] : [space]
  }

  set(space: Space): void {
    this.byNsid.set(space.nsid, space)
  }

  delete(nsid: number): void {
    this.byNsid.delete(nsid)
    if (this.created === nsid) this.created = undefined
  }

  /** A fault has changed a namespace as another host might. Returns its NSID; undefined for any other fault. */
  applyFault(action: FaultAction): number | undefined {
    if (!('nsid' in action)) return undefined
    const space = this.byNsid.get(action.nsid)
    if (space === undefined) return undefined
    if (action.kind === 'resize-namespace') this.set({ ...space, blocks: action.blocks })
    else this.set({ ...space, isAttached: action.kind === 'attach-namespace' })
    return action.nsid
  }
}
