/** Memory on two GPUs, and copies from the first to the second. */
export interface PeerLane {
  /** Whether data move directly between devices; otherwise the driver copies through host memory. */
  readonly isDirect: boolean
  /** Fills the source with the pattern of `seed`, and the destination with another one. */
  readonly prepare: (seed: number) => Promise<void>
  /** Copies all bytes. */
  readonly copy: () => Promise<void>
  /** Compares all bytes of the destination with the pattern of `seed`, on its GPU. */
  readonly check: (seed: number) => Promise<Checked>
  readonly close: () => void
}

export interface Checked {
  readonly wrongBytes: number
  readonly firstWrongByte: number | undefined
}

/** GPUs opened for copies, by CUDA's numbers. */
export interface PeerRig {
  readonly lane: (from: number, to: number, lengthBytes: number) => PeerLane
}
