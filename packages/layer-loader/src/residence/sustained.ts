import type { ThermalThrottle } from '@gpunvme/nvme-spec/transport'

/** Time of passes once the drive is hot. */
export interface SustainedPass {
  /** Time for which passes run at full speed, starting with a cold drive. */
  readonly afterNs: number
  /** Average time of a pass afterwards. */
  readonly passNs: number
}

/** Bytes that a pass reads, and its time with a cool and with a throttled drive. */
export interface PassLoad {
  readonly readBytes: number
  readonly coolNs: number
  readonly hotNs: number
}

/**
 * Models a thermal throttle over endless passes: heat grows with the bytes of each pass and decays at its own rate.
 * Undefined if it decays as fast as it grows.
 */
export function sustainedPass(
  { limitBytes, recoveredBytes, coolingBytesPerSecond }: Omit<ThermalThrottle, 'factor'>,
  { readBytes, coolNs, hotNs }: PassLoad,
): SustainedPass | undefined {
  if (readBytes === 0 || coolNs === 0) return undefined
  const coolingPerNs = coolingBytesPerSecond / 1e9
  const heatingPerNs = readBytes / coolNs - coolingPerNs
  if (heatingPerNs <= 0) return undefined
  const afterNs = limitBytes / heatingPerNs
  const recoveringPerNs = coolingPerNs - readBytes / hotNs
  // Even the throttled drive produces as much heat as it loses: it stays slow.
  if (recoveringPerNs <= 0) return { afterNs, passNs: hotNs }
  // From the recovery threshold to the limit, and back.
  const swingBytes = limitBytes - recoveredBytes
  const [heatingNs, recoveringNs] = [swingBytes / heatingPerNs, swingBytes / recoveringPerNs]
  const passes = heatingNs / coolNs + recoveringNs / hotNs
  return { afterNs, passNs: (heatingNs + recoveringNs) / passes }
}
