import { maxTransferBytes } from '@gpunvme/nvme-spec'
import { commandWireBytes, completionWireBytes, lineRate, requestWireBytes, wireBytes } from '@gpunvme/nvme-spec/pcie'
import type { CostModel } from '@gpunvme/nvme-spec/transport'
import { profileOf, type ProfileName } from '../profiles/index.js'
import type { DriveProfile } from '../profiles/profile.js'
import { show } from '../options.js'
import { meanLatency } from './latency.js'

/**
 * Returns the cost of reads on a simulated drive without simulating them: that of the busiest station or, at low queue
 * depths, latency divided by depth. Within 2.5 % of the simulator; at depths where one case passes into the other,
 * queueing adds up to 8 %.
 * @throws RangeError or TypeError for an unknown or invalid profile.
 */
export function costModel(profile: ProfileName | DriveProfile): CostModel {
  const drive = profileOf(profile)
  const { thermal, commandSlots } = drive
  const limitBytes = maxTransferBytes(drive.identify.MDTS ?? 0, drive.CAP.MPSMIN ?? 0) ?? Infinity
  return {
    readNs(lengthBytes, queueDepth) {
      if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1 || lengthBytes > limitBytes)
        throw new RangeError(`read: expected up to ${limitBytes} whole bytes (MDTS), got ${show(lengthBytes)}`)
      if (!Number.isSafeInteger(queueDepth) || queueDepth < 1)
        throw new RangeError(`queue depth: expected a whole number of 1 or more, got ${show(queueDepth)}`)
      const { busiestNs, latencyNs } = readCosts(drive, lengthBytes)
      return Math.max(busiestNs, latencyNs / Math.min(queueDepth, commandSlots))
    },
    ...(thermal === undefined ? {} : { throttle: thermal }),
  }
}

/** Returns the time of a read at the station that it keeps busy longest, and its latency when alone. */
function readCosts(drive: DriveProfile, lengthBytes: number): { busiestNs: number; latencyNs: number } {
  const { commandNs, controllerNs, readNs, mediaUnits, readBytesPerSecond, readSetupNs = 0 } = drive
  const mediaNs = meanLatency(readNs)
  const pathNs = readSetupNs + (lengthBytes / readBytesPerSecond) * 1e9
  const { upstreamNs, downstreamNs, dataNs, aroundNs } = linkCosts(drive, lengthBytes)
  const busiestNs = Math.max(commandNs, mediaNs / mediaUnits, pathNs, upstreamNs, downstreamNs)
  const insideNs = commandNs + (controllerNs ? meanLatency(controllerNs) : 0) + mediaNs
  return { busiestNs, latencyNs: aroundNs + insideNs + Math.max(pathNs, dataNs) }
}

/**
 * Returns the time of a read on each direction of the link, of its data alone, and of doorbell, entry and completion.
 */
function linkCosts({ link }: DriveProfile, lengthBytes: number) {
  if (link === undefined) return { upstreamNs: 0, downstreamNs: 0, dataNs: 0, aroundNs: 0 }
  const nsPerByte = 1e9 / lineRate(link)
  const { upstreamBytes, downstreamBytes } = commandWireBytes('read', lengthBytes, link)
  const entryBytes = requestWireBytes(64, link) + completionWireBytes(64, link)
  const aroundBytes = wireBytes(4, link) + entryBytes + wireBytes(16, link)
  return {
    upstreamNs: upstreamBytes * nsPerByte,
    downstreamNs: downstreamBytes * nsPerByte,
    dataNs: wireBytes(lengthBytes, link) * nsPerByte,
    // Doorbell, request, entry and completion each cross the link once.
    aroundNs: aroundBytes * nsPerByte + 4 * link.propagationNs,
  }
}
