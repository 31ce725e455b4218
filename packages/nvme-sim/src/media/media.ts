/**
 * What holds a namespace's bytes. Offsets and lengths are whole logical blocks and inside the capacity: the
 * controller has checked them. A method that throws makes the command fail with a media error, never the simulation.
 */
export interface Media {
  readonly capacityBytes: number
  /** Writes are refused with Namespace is Write Protected. */
  readonly readOnly?: boolean
  /** Fills all of `into` with what is stored from `offsetBytes`; what was never written reads as zero. */
  read(offsetBytes: number, into: Uint8Array): void
  write(offsetBytes: number, from: Uint8Array): void
  /** Returns when everything written is where it survives a loss of power. */
  flush(): void
  close(): void
}
