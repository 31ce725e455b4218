/** Format of a namespace's logical blocks. */
export interface LbaFormat {
  readonly blockBytes: 512 | 4096
  /** Metadata bytes per block, without protection information. */
  readonly metadataBytes: 0 | 8 | 16 | 64
}

/** The formats of every namespace; the index is the Format Index. Those without metadata are first. */
export const lbaFormats: readonly LbaFormat[] = ([0, 8, 16, 64] as const).flatMap((metadataBytes) =>
  ([512, 4096] as const).map((blockBytes) => ({ blockBytes, metadataBytes })),
)

/** Returns how many logical blocks of a format fit into `capacityBytes`, with their metadata. */
export function blocksIn(capacityBytes: number, { blockBytes, metadataBytes }: LbaFormat): number {
  return Math.floor(capacityBytes / (blockBytes + metadataBytes))
}
