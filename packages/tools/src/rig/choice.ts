/** An option that was considered but not used, with the reason. */
export interface Rejected {
  readonly option: string
  readonly reason: string
  /** Machine-readable reason, where one exists. */
  readonly code?: string
}

/** A decision of `openRig`. */
export interface Choice {
  readonly subject: 'gpu' | 'engine' | 'tier' | 'verification' | 'layers' | 'cost'
  /** PCI address or transport of the drive that the decision is about; absent if it is about all of them. */
  readonly drive?: string
  readonly chosen: string
  readonly reason: string
  readonly rejected: readonly Rejected[]
}
