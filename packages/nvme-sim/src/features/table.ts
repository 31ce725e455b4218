import {
  Arbitration,
  AsynchronousEventConfiguration,
  ErrorRecovery,
  IdentifyNamespace,
  InterruptCoalescing,
  InterruptVectorConfiguration,
  PowerManagement,
  STATUS,
  TemperatureThreshold,
  VolatileWriteCache,
  WriteAtomicityNormal,
  zeroBased,
} from '@gpunvme/nvme-spec'
import type { Device } from '../controller/device.js'
import { applyQueueSettings } from '../queues/settings.js'
import type { DwordFeature } from './feature.js'
import { flush } from './flush.js'

const thresholds = TemperatureThreshold.CDW11
const vectors = InterruptVectorConfiguration.CDW11
const COMPOSITE = 0
/** Threshold Temperature Select of Set Features: all implemented sensors. */
const ALL_SENSORS = 0xf

/** The features whose value is a dword, except Number of Queues, which has rules of its own. */
const features: readonly DwordFeature[] = [
  {
    fid: Arbitration.fid,
    word: Arbitration.CDW11,
    scope: 'controller',
    isSaveable: true,
    default: () => Arbitration.CDW11.encode({ AB: 0, LPW: zeroBased(1), MPW: zeroBased(1), HPW: zeroBased(1) }),
    changed: applyQueueSettings,
  },
  {
    fid: PowerManagement.fid,
    word: PowerManagement.CDW11,
    scope: 'controller',
    isSaveable: false,
    default: () => 0,
    refuse: (cdw11, { profile }) =>
      PowerManagement.CDW11.PS.of(cdw11) > (profile.identify.NPSS ?? 0) ? STATUS.INVALID_FIELD_IN_COMMAND : undefined,
  },
  {
    fid: TemperatureThreshold.fid,
    word: thresholds,
    scope: 'controller',
    isSaveable: true,
    // One over and one under temperature threshold, both for the composite temperature, which is the only sensor.
    instanceOf: (cdw11) => thresholds.THSEL.of(cdw11),
    default: ({ health }, type) => (type === thresholds.THSEL.OVER ? health.warningKelvins : 0),
    missing: (cdw11, _, isSet) => {
      const { TMPSEL, THSEL } = thresholds.decode(cdw11)
      const isHere = TMPSEL === COMPOSITE || (isSet && TMPSEL === ALL_SENSORS)
      return isHere && THSEL <= thresholds.THSEL.UNDER ? undefined : STATUS.INVALID_FIELD_IN_COMMAND
    },
    // No hysteresis, as reported in TMPTHMH of Identify.
    refuse: (cdw11) => (thresholds.TMPTHH.of(cdw11) === 0 ? undefined : STATUS.INVALID_FIELD_IN_COMMAND),
    shown: (value) => thresholds.TMPTH.of(value),
    changed: ({ health }) => health.check(),
  },
  {
    fid: ErrorRecovery.fid,
    word: ErrorRecovery.CDW11,
    scope: 'namespace',
    isSaveable: true,
    default: () => 0,
    refuse: (cdw11, device, nsid) =>
      ErrorRecovery.CDW11.DULBE.of(cdw11) === 1 && !reportsDeallocated(device, nsid)
        ? STATUS.INVALID_FIELD_IN_COMMAND
        : undefined,
  },
  {
    fid: VolatileWriteCache.fid,
    word: VolatileWriteCache.CDW11,
    scope: 'controller',
    isSaveable: true,
    default: () => VolatileWriteCache.CDW11.encode({ WCE: 1 }),
    missing: (_, { profile }) => (profile.identify.VWC === 0 ? STATUS.INVALID_FIELD_IN_COMMAND : undefined),
    // Disabling the cache flushes it.
    changed: (device) => {
      if (!device.features.volatileWriteCache) for (const each of device.namespaces.allocated) flush(each, device)
    },
  },
  {
    fid: InterruptCoalescing.fid,
    word: InterruptCoalescing.CDW11,
    scope: 'controller',
    isSaveable: true,
    default: () => 0,
    changed: applyQueueSettings,
  },
  {
    fid: InterruptVectorConfiguration.fid,
    word: vectors,
    scope: 'controller',
    isSaveable: true,
    instanceOf: (cdw11) => vectors.IV.of(cdw11),
    default: (_, vector) => vectors.encode({ IV: vector }),
    missing: (cdw11, { interrupts }) =>
      vectors.IV.of(cdw11) < interrupts.fired.length ? undefined : STATUS.INVALID_FIELD_IN_COMMAND,
    // The vector must belong to an I/O completion queue (Base 2.3 §5.2.26.2.3).
    refuse: (cdw11, { queues }) =>
      queues.isVectorUsed(vectors.IV.of(cdw11)) ? undefined : STATUS.INVALID_FIELD_IN_COMMAND,
    changed: applyQueueSettings,
  },
  {
    fid: WriteAtomicityNormal.fid,
    word: WriteAtomicityNormal.CDW11,
    scope: 'controller',
    isSaveable: true,
    default: () => 0,
  },
  {
    fid: AsynchronousEventConfiguration.fid,
    word: AsynchronousEventConfiguration.CDW11,
    scope: 'controller',
    isSaveable: true,
    // Nothing is reported by default.
    default: () => 0,
    refuse: (cdw11) =>
      // There are no Endurance Groups (Base 2.3 §5.2.26.1.5).
      AsynchronousEventConfiguration.CDW11.EGEALCN.of(cdw11) === 1 ? STATUS.INVALID_FIELD_IN_COMMAND : undefined,
    changed: (device) => {
      device.events.reconsider()
      // Existing conditions are reported as soon as they are enabled (Base 2.3 §5.2.26.1.5).
      device.health.check()
      device.changedNamespaces.announce(device.events)
    },
  },
]

/** The features whose value is a dword, by identifier. */
export const dwordFeatures: ReadonlyMap<number, DwordFeature> = new Map(features.map((each) => [each.fid, each]))

/** Whether reading deallocated blocks can be an error (NVM 1.2 §4.1.3.2); for NSID FFFFFFFFh, in all namespaces. */
function reportsDeallocated({ namespaces }: Device, nsid: number): boolean {
  const meant = namespaces.get(nsid)
  const all = meant === undefined ? namespaces.active : [meant]
  return all.every((each) => IdentifyNamespace.NSFEAT.DAE.of(IdentifyNamespace.view(each.identify()).NSFEAT) === 1)
}
