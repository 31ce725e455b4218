import type { LoaderOptions } from './options.js'

/** Options of `openExpertCache`. */
export interface ExpertCacheOptions extends Omit<LoaderOptions, 'slots' | 'slotBytes' | 'memoryBytes'> {
  /** Memory for experts, in bytes. It is divided into slots of the largest expert, at most one for each expert. */
  readonly cacheBytes: number
}

/** Totals of an expert cache. Each request is a hit, a miss or a shared read. */
export interface ExpertCacheStatistics {
  /** Requests for an expert that was in memory. */
  readonly hits: number
  /** Requests that started a read. */
  readonly misses: number
  /** Requests that joined a read of another request or of a hint. */
  readonly sharedReads: number
  /** Reads that hints started. */
  readonly prefetches: number
  /** Experts removed from memory to make room. */
  readonly evictions: number
  /** Bytes of completed reads; more than the experts if blocks and check units extend further. */
  readonly bytesRead: number
  /** Bytes of experts in memory now. */
  readonly heldBytes: number
}
