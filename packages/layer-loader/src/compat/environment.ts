/** The predecessor's environment variables, read once and validated. Unset variables are absent. */
export interface OriginalEnvironment {
  /** GPUNVME_PCI_BDF: PCI address of the drive, for example '0000:0b:00.0'. */
  readonly pciBdf?: string
  /** GPUNVME_GGUF_LBA: logical block where the GGUF begins. */
  readonly ggufLba?: number
  /** GPUNVME_MAX_VRAM_LAYERS: maximum number of layers kept in GPU memory. */
  readonly maxVramLayers?: number
  /** GPUNVME_MAX_RAM_LAYERS: maximum number of further layers kept in host memory. */
  readonly maxRamLayers?: number
}

/**
 * Reads the predecessor's environment variables, as fallbacks for values that a program does not pass itself.
 * @throws RangeError for an invalid value, naming the variable.
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

/** Reads only GPUNVME_PCI_BDF. @throws RangeError for an invalid PCI address. */
export function originalDrive(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const text = textOf(environment, 'GPUNVME_PCI_BDF')
  return text === undefined ? undefined : wholeAddress('GPUNVME_PCI_BDF', text)
}

/**
 * Validates a PCI address and adds the domain if it is missing. @throws RangeError for an invalid address, naming its
 * source `name`.
 */
export function wholeAddress(name: string, text: string): string {
  if (!/^(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$/i.test(text)) {
    throw new RangeError(`${name}: expected a PCI address such as 0000:0b:00.0, got ${JSON.stringify(text)}`)
  }
  return /^[^:]+:[^:]+:/.test(text) ? text : `0000:${text}`
}

/** Treats an empty variable as unset, as shells do. */
function textOf(environment: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const text = environment[name]?.trim()
  return text === '' ? undefined : text
}

function countOf(environment: Readonly<Record<string, string | undefined>>, name: string): number | undefined {
  const text = textOf(environment, name)
  if (text === undefined) return undefined
  const count = /^(?:\d+|0x[0-9a-f]+)$/i.test(text) ? Number(text) : NaN
  if (Number.isSafeInteger(count)) return count
  throw new RangeError(`${name}: expected an integer of at least 0, got ${JSON.stringify(text)}`)
}

/**
 * Converts limits in layers to a budget in bytes for `planResidence`.
 * @param longestLayerBytes length of the longest layer in memory.
 * @param slots number of slots in each place, in addition to the layers that stay there.
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
