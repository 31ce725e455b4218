import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { NamespaceShape } from './scenario.js'

/** An LBA format. */
export interface BlockFormat {
  readonly blockBytes: 512 | 4096
  readonly metadataBytes: 0 | 8 | 16 | 64
  /** Whether metadata follow the data of each block. */
  readonly isExtended: boolean
}

/** Expected state of an allocated namespace. */
export interface Space extends BlockFormat {
  readonly nsid: number
  readonly capacityBytes: number
  /** NSZE. */
  readonly blocks: number
  readonly isAttached: boolean
}

/** NSID in orders that stands for the namespace that the host has created. */
export const CREATED = 0

const METADATA_BYTES = [0, 8, 16, 64] as const

/** Returns the simulator's LBA format with an index: 512- and 4096-byte blocks alternate, and metadata increase. */
export function formatOf(index: number, isExtended: boolean): BlockFormat {
  const metadataBytes = METADATA_BYTES[index >> 1]!
  return { blockBytes: index % 2 === 0 ? 512 : 4096, metadataBytes, isExtended: isExtended && metadataBytes > 0 }
}

/** Returns the bytes per block of a transfer: the data, and the metadata if they follow the data. */
export function transferBytes({ blockBytes, metadataBytes, isExtended }: BlockFormat): number {
  return blockBytes + (isExtended ? metadataBytes : 0)
}

/** Expected state of all namespaces. */
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

  /** Returns an allocated namespace. `CREATED` stands for the namespace that the host has created. */
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

  /** Applies a fault that changes a namespace; returns its NSID. Returns undefined for other faults. */
  applyFault(action: FaultAction): number | undefined {
    if (!('nsid' in action)) return undefined
    const space = this.byNsid.get(action.nsid)
    if (space === undefined) return undefined
    if (action.kind === 'resize-namespace') this.set({ ...space, blocks: action.blocks })
    else this.set({ ...space, isAttached: action.kind === 'attach-namespace' })
    return action.nsid
  }
}
