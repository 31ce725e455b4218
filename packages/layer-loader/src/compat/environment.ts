/** What the original's users set in their environment, read once and checked. What was not set is absent. */
export interface OriginalEnvironment {
  /** GPUNVME_PCI_BDF: the drive, as '0000:0b:00.0'. */
  readonly pciBdf?: string
  /** GPUNVME_GGUF_LBA: where on it the GGUF begins, in logical blocks. */
  readonly ggufLba?: number
  /** GPUNVME_MAX_VRAM_LAYERS: how many layers may stay in GPU memory. */
  readonly maxVramLayers?: number
  /** GPUNVME_MAX_RAM_LAYERS: how many more may stay in host memory. */
  readonly maxRamLayers?: number
}

/**
 * Reads the variables that the original is steered by: fallbacks for what a program does not say itself.
 * @throws RangeError for a value that cannot be meant, naming the variable.
 */
export function readOriginalEnvironment(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): OriginalEnvironment {
  const pciBdf = originalDrive(environment)
  const ggufLba = countOf(environment, 'GPUNVME_GGUF_LBA')
  const maxVramLayers = countOf(environment, 'GPUNVME_MAX_VRAM_LAYERS')
  const maxRamLayers = countOf(environment, 'GPUNVME_MAX_RAM_LAYERS')
  return {
    ...(pciBdf !== undefined && { pciBdf }),
    ...(ggufLba !== undefined && { ggufLba }),
    ...(maxVramLayers !== undefined && { maxVramLayers }),
    ...(maxRamLayers !== undefined && { maxRamLayers }),
  }
}

/** The drive alone: nothing else of the environment is looked at. @throws RangeError for what is no PCI address. */
export function originalDrive(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const text = textOf(environment, 'GPUNVME_PCI_BDF')
  return text === undefined ? undefined : wholeAddress('GPUNVME_PCI_BDF', text)
}

/** A PCI address with its domain. @throws RangeError for what is none, by the name of what it was given as. */
export function wholeAddress(name: string, text: string): string {
  if (!/^(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$/i.test(text)) {
    throw new RangeError(`${name}: expected a PCI address such as 0000:0b:00.0, got ${JSON.stringify(text)}`)
  }
  return /^[^:]+:[^:]+:/.test(text) ? text : `0000:${text}`
}

/** An empty variable counts as one that was not set, as it does for shells. */
function textOf(environment: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const text = environment[name]?.trim()
  return text === '' ? undefined : text
}

function countOf(environment: Readonly<Record<string, string | undefined>>, name: string): number | undefined {
  const text = textOf(environment, name)
  if (text === undefined) return undefined
  const count = /^(?:\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : NaN
  if (Number.isSafeInteger(count)) return count
  throw new RangeError(`${name}: expected a whole number of at least 0, got ${JSON.stringify(text)}`)
}

/**
 * The budget that limits in layers amount to, for `planResidence`.
 * @param longestLayerBytes memory that the longest layer takes.
 * @param slots how many layers on their way each place has room for, beside those that stay.
 */
export function budgetOf(
  { maxVramLayers = 0, maxRamLayers = 0 }: OriginalEnvironment,
  longestLayerBytes: number,
  slots: { readonly vram: number; readonly ram: number },
): { readonly vramBytes: number; readonly ramBytes: number } {
  return {
    vramBytes: (maxVramLayers + slots.vram) * longestLayerBytes,
    ramBytes: (maxRamLayers + slots.ram) * longestLayerBytes,
  }
}
