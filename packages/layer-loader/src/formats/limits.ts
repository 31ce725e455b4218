/** How much a reader accepts from a file that it does not trust. Everything is checked before it is allocated. */
export interface FormatLimits {
  /** Bytes of a GGUF up to its data section: on a disk, nothing else would end the reading of a hostile count. */
  readonly maxGgufHeaderBytes: number
  /** Bytes of a safetensors JSON header. The format's reference implementation has the same limit. */
  readonly maxSafetensorsHeaderBytes: number
  /** Bytes of a model.safetensors.index.json. The longest that is known has 60 million. */
  readonly maxIndexBytes: number
  /** Bytes of one entry of a safetensors header; also sets the reader's window, which is twice as long. */
  readonly maxEntryBytes: number
  readonly maxTensors: number
  /** Files of one model: each is open as long as the model is. */
  readonly maxParts: number
  readonly maxMetadataEntries: number
  /** Bytes of metadata that are kept: keys, strings, and 16 for each array item. */
  readonly maxMetadataBytes: number
  /** Items of a metadata array that is kept. A longer one is skimmed over and summarised, not refused. */
  readonly maxArrayItems: number
  /** Arrays inside arrays in GGUF metadata, or values inside values in an index's; 1 is a plain array. */
  readonly maxNestingDepth: number
  /** Bytes of a metadata key, or of a safetensors tensor name. GGUF's own limit for its tensor names is 63. */
  readonly maxKeyBytes: number
}

/** Generous for any published model (the largest index known has 0.5 million tensors), and finite. */
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

/** @throws RangeError for a limit that is not a whole number of at least 0. */
export function resolveLimits(limits: Partial<FormatLimits> = {}): FormatLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`limits.${name}: expected a whole number of at least 0, got ${value}`)
    }
  }
  return { ...DEFAULT_LIMITS, ...limits }
}
