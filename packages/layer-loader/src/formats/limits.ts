/** Limits for untrusted files, checked before memory is allocated. */
export interface FormatLimits {
  /**
   * Maximum bytes of a GGUF before its data section. On a disk, only this limit ends the reading of a hostile count.
   */
  readonly maxGgufHeaderBytes: number
  /** Maximum bytes of a safetensors JSON header. The reference implementation has the same limit. */
  readonly maxSafetensorsHeaderBytes: number
  /** Maximum bytes of a model.safetensors.index.json. The longest known has 60 million. */
  readonly maxIndexBytes: number
  /** Maximum bytes of an entry of a safetensors header. The reader's window is twice as long. */
  readonly maxEntryBytes: number
  readonly maxTensors: number
  /** Maximum files of a model. Each stays open as long as the model. */
  readonly maxParts: number
  readonly maxMetadataEntries: number
  /** Maximum bytes of kept metadata: keys, strings, and 16 for each array item. */
  readonly maxMetadataBytes: number
  /** Maximum items of a kept metadata array. A longer array is summarised, not rejected. */
  readonly maxArrayItems: number
  /** Maximum nesting of arrays in GGUF metadata, or of values in an index; 1 is a plain array. */
  readonly maxNestingDepth: number
  /** Maximum bytes of a metadata key or safetensors tensor name. GGUF limits its tensor names to 63. */
  readonly maxKeyBytes: number
}

/** Generous for published models: the largest known index has 0.5 million tensors. */
export const DEFAULT_LIMITS: FormatLimits = {
  maxGgufHeaderBytes: 1024 * 1024 * 1024,
  maxSafetensorsHeaderBytes: 100_000_000,
  maxIndexBytes: 256 * 1024 * 1024,
  maxEntryBytes: 8 * 1024 * 1024,
  maxTensors: 1_000_000,
  maxParts: 1000,
  maxMetadataEntries: 100_000,
  maxMetadataBytes: 64 * 1024 * 1024,
  maxArrayItems: 1024,
  maxNestingDepth: 8,
  maxKeyBytes: 65_535,
}

/** Resolved options of reading one file. */
export interface ReadOptions {
  readonly limits: FormatLimits
  readonly headerOnly: boolean
  readonly signal: AbortSignal | undefined
}

/** @throws RangeError for an invalid limit. */
export function readOptionsOf(options: {
  readonly limits?: Partial<FormatLimits>
  readonly headerOnly?: boolean
  readonly signal?: AbortSignal
}): ReadOptions {
  const { limits, headerOnly = false, signal } = options
  return { limits: resolveLimits(limits), headerOnly, signal }
}

/** @throws RangeError for a limit that is not an integer of at least 0. */
export function resolveLimits(limits: Partial<FormatLimits> = {}): FormatLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`limits.${name}: expected an integer of at least 0, got ${value}`)
    }
  }
  return { ...DEFAULT_LIMITS, ...limits }
}
