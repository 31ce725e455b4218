import type { ThermalThrottle } from '@gpunvme/nvme-spec/transport'

/** Time of passes once the drive is hot. */
export interface SustainedPass {
  /** Time for which passes run at full speed, starting with a cold drive. */
  readonly afterNs: number
  /** Average time of a pass afterwards. */
  readonly passNs: number
}

/** Load of a pass on the drive and the other resources. */
export interface PassLoad {
  readonly readBytes: number
  /** Busy time of the drive when it is not throttled. */
  readonly driveNs: number
  readonly otherNs: number
}

/**
 * Models a thermal throttle over endless passes: heat grows with the bytes of each pass and decays at its own rate.
 * Undefined if it decays as fast as it grows.
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
  // Even the throttled drive produces as much heat as it loses: it stays slow.
  if (recoveringPerNs <= 0) return { afterNs, passNs: hotPassNs }
  // From the recovery threshold to the limit, and back.
  const swingBytes = limitBytes - recoveredBytes
  const [heatingNs, recoveringNs] = [swingBytes / heatingPerNs, swingBytes / recoveringPerNs]
  const passes = heatingNs / coolPassNs + recoveringNs / hotPassNs
  return { afterNs, passNs: (heatingNs + recoveringNs) / passes }
}
