import type { ThermalThrottle } from '@gpunvme/nvme-spec/transport'

/** What becomes of passes once the drive is hot. */
export interface SustainedPass {
  /** How long passes go on at full speed, on a drive that was cold. */
  readonly afterNs: number
  /** What one takes on average after that. */
  readonly passNs: number
}

/** What a pass asks of the drive, and of everything beside it. */
export interface PassLoad {
  readonly readBytes: number
  /** Of a drive that is not too hot. */
  readonly driveNs: number
  readonly otherNs: number
}

/**
 * What a thermal throttle makes of passes that follow each other without end: heat comes with the bytes of each pass and
 * goes at its own pace. Undefined where it goes as fast as it comes.
 */
export function sustainedPass(
  { factor, limitBytes, recoveredBytes, coolingBytesPerSecond }: ThermalThrottle,
  { readBytes, driveNs, otherNs }: PassLoad,
): SustainedPass | undefined {
  const coolPassNs = Math.max(driveNs, otherNs)
  const hotPassNs = Math.max(driveNs * factor, otherNs)
  if (readBytes === 0 || coolPassNs === 0) return undefined
  const coolingPerNs = coolingBytesPerSecond / 1e9
  const heatingPerNs = readBytes / coolPassNs - coolingPerNs
  if (heatingPerNs <= 0) return undefined
  const afterNs = limitBytes / heatingPerNs
  const recoveringPerNs = coolingPerNs - readBytes / hotPassNs
  // Even slowed down it brings as much heat as goes: it stays slow.
  if (recoveringPerNs <= 0) return { afterNs, passNs: hotPassNs }
  // Between the limit and the heat at which it is its old self again, and back.
  const swingBytes = limitBytes - recoveredBytes
  const [heatingNs, recoveringNs] = [swingBytes / heatingPerNs, swingBytes / recoveringPerNs]
  const passes = heatingNs / coolPassNs + recoveringNs / hotPassNs
  return { afterNs, passNs: (heatingNs + recoveringNs) / passes }
}
