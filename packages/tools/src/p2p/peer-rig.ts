/** Memory on two GPUs, and what moves it from the first to the second. */
export interface PeerLane {
  /** Whether bytes go from device to device; otherwise the driver copies over host memory. */
  readonly isDirect: boolean
  /** The source is filled with the pattern of `seed`, and the destination with that of another one. */
  readonly prepare: (seed: number) => Promise<void>
  /** Copies all of it. */
  readonly copy: () => Promise<void>
  /** Compares every byte of the destination with the pattern of `seed`, on the GPU that has it. */
  readonly check: (seed: number) => Promise<Checked>
  readonly close: () => void
}

export interface Checked {
  readonly wrongBytes: number
  readonly firstWrongByte: number | undefined
}

/** GPUs that are open for copies, by CUDA's numbers. */
export interface PeerRig {
  readonly lane: (from: number, to: number, lengthBytes: number) => PeerLane
}
