import {
  countOf,
  GetFeatures,
  HostBehavior,
  HostBehaviorSupport,
  NamespaceWriteProtectionConfig,
  NumberOfQueues,
  SetFeatures,
  STATUS,
  SupportedCapabilitiesDw0,
  Timestamp,
  TimestampData,
  zeroBased,
  type StatusCode,
} from '@gpunvme/nvme-spec'
import { receiveData, sendData } from '../admin/admin-command.js'
import type { Ended, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { hex } from '../controller/diagnostics.js'
import type { Namespace } from '../nvm/namespace.js'
import { BROADCAST_NSID } from '../nvm/namespaces.js'
import type { DwordFeature } from './feature.js'
import { flush } from './flush.js'
import { dwordFeatures } from './table.js'

const { SEL } = GetFeatures

/** Implementation of Set and Get Features for one feature, after the common checks. */
interface Handler {
  readonly scope: DwordFeature['scope']
  readonly isSaveable: boolean
  set(command: ServedCommand, device: Device, cdw11: number, isSaved: boolean): Ended
  /** `select` is CURRENT, DEFAULT or SAVED. */
  get(command: ServedCommand, device: Device, cdw11: number, select: number): Ended
}

/** Set Features (Base 2.3 §5.2.26). */
export function setFeatures(command: ServedCommand, device: Device): Result {
  const { FID, SV, CDW11 } = SetFeatures.view(command.data)
  const handler = handlers.get(FID)
  if (handler === undefined) return STATUS.INVALID_FIELD_IN_COMMAND
  if (SV === 1 && !handler.isSaveable) return STATUS.FEATURE_IDENTIFIER_NOT_SAVEABLE
  return setScopeFault(command.sqe.NSID, handler, device) ?? handler.set(command, device, CDW11, SV === 1)
}

/** Get Features (Base 2.3 §5.2.11). */
export function getFeatures(command: ServedCommand, device: Device): Result {
  const { FID, SEL: select, CDW11 } = GetFeatures.view(command.data)
  const handler = handlers.get(FID)
  if (handler === undefined || select > SEL.SUPPORTED) return STATUS.INVALID_FIELD_IN_COMMAND
  const missing = dwordFeatures.get(FID)?.missing?.(CDW11, device, false)
  if (missing) return missing
  if (select === SEL.SUPPORTED) {
    const { isSaveable, scope } = handler
    command.dw0 = SupportedCapabilitiesDw0.encode({
      SAVEABLE: isSaveable ? 1 : 0,
      NS_SPECIFIC: scope === 'namespace' ? 1 : 0,
      CHANGEABLE: 1,
    })
    return STATUS.SUCCESS
  }
  return getScopeFault(command.sqe.NSID, handler, device) ?? handler.get(command, device, CDW11, select)
}

/** Returns the identifiers of all features, and their scopes. */
export function supportedFeatures(device: Device): readonly (readonly [fid: number, scope: DwordFeature['scope']])[] {
  return [...handlers]
    .filter(([fid]) => dwordFeatures.get(fid)?.missing?.(0, device, false) === undefined)
    .map(([fid, { scope }]) => [fid, scope])
}

const numberOfQueues: Handler = {
  scope: 'controller',
  isSaveable: false,
  set(command, device, cdw11) {
    const { NSQR, NCQR } = NumberOfQueues.CDW11.decode(cdw11)
    if (NSQR === 0xffff || NCQR === 0xffff) return STATUS.INVALID_FIELD_IN_COMMAND
    // Existing queues may have higher numbers than are granted now.
    if (device.queues.hasIoQueues()) return STATUS.COMMAND_SEQUENCE_ERROR
    const { features, profile } = device
    if (!features.areQueuesAllocated) {
      device.grantedSqs = Math.min(countOf(NSQR), profile.ioQueuePairs)
      device.grantedCqs = Math.min(countOf(NCQR), profile.ioQueuePairs)
      features.areQueuesAllocated = true
    } else
      device.diagnostics.report(
        'ignored-setting',
        'host set Number of Queues again: the allocation does not change until a reset',
      )
    command.dw0 = queuesDw0(device.grantedSqs, device.grantedCqs)
    return STATUS.SUCCESS
  },
  get(command, { grantedSqs, grantedCqs, profile: { ioQueuePairs } }, _, select) {
    command.dw0 = select === SEL.CURRENT ? queuesDw0(grantedSqs, grantedCqs) : queuesDw0(ioQueuePairs, ioQueuePairs)
    return STATUS.SUCCESS
  },
}

const timestamp: Handler = {
  scope: 'controller',
  isSaveable: false,
  set(command, device) {
    const bytes = receiveData(command, device, TimestampData.bytes)
    if (!(bytes instanceof Uint8Array)) return bytes
    device.features.time.set(TimestampData.view(new DataView(bytes.buffer)).TSTMP)
    return STATUS.SUCCESS
  },
  get(command, device, _, select) {
    const data = select === SEL.CURRENT ? device.features.time.read() : TimestampData.create().data
    return sendData(command, device, new Uint8Array(data.buffer))
  },
}

const hostBehavior: Handler = {
  scope: 'controller',
  isSaveable: false,
  set(command, device) {
    const bytes = receiveData(command, device, HostBehavior.bytes)
    if (!(bytes instanceof Uint8Array)) return bytes
    const given = HostBehavior.view(new DataView(bytes.buffer))
    const { ACRE, ETDAS, LBAFEE, HDISNS } = given
    // All other values of these bytes are reserved.
    if (Math.max(ACRE, ETDAS, LBAFEE, HDISNS) > 1) return STATUS.INVALID_FIELD_IN_COMMAND
    // Formats 0h and 1h need no bit: theirs stay zero (Base 2.3 Figure 426).
    const own = device.features.hostBehavior
    const { CDF2E, CDF3E, CDF4E } = HostBehavior.CDFE
    own.ACRE = ACRE
    own.ETDAS = ETDAS
    own.LBAFEE = LBAFEE
    own.HDISNS = HDISNS
    own.CDFE = given.CDFE & ((1 << CDF2E.lsb) | (1 << CDF3E.lsb) | (1 << CDF4E.lsb))
    return STATUS.SUCCESS
  },
  get(command, device, _, select) {
    const bytes = new Uint8Array(HostBehavior.bytes)
    if (select === SEL.CURRENT) bytes.set(new Uint8Array(device.features.hostBehavior.data.buffer))
    return sendData(command, device, bytes)
  },
}

const writeProtection: Handler = {
  scope: 'namespace',
  isSaveable: false,
  set(command, device, cdw11) {
    const { WPS } = NamespaceWriteProtectionConfig.CDW11
    const state = WPS.of(cdw11)
    // Identify reports only these two states (NWPC).
    if (state > WPS.WRITE_PROTECT) return command.invalidField(44)
    for (const namespace of targetsOf(command.sqe.NSID, device)) {
      const isProtected = state === WPS.WRITE_PROTECT
      if (namespace.isWriteProtected === isProtected) continue
      if (isProtected) flush(namespace, device)
      namespace.isWriteProtected = isProtected
      device.namespaceChanged(namespace.nsid)
    }
    return STATUS.SUCCESS
  },
  get(command, { namespaces }, _, select) {
    const isProtected = select === SEL.CURRENT && namespaces.get(command.sqe.NSID)?.isWriteProtected === true
    command.dw0 = NamespaceWriteProtectionConfig.CDW11.encode({ WPS: isProtected ? 1 : 0 })
    return STATUS.SUCCESS
  },
}

function dwordHandler(feature: DwordFeature): Handler {
  const { fid, word, scope, isSaveable, instanceOf, missing, refuse, shown, changed } = feature
  const instance = (cdw11: number, nsid: number) => (scope === 'namespace' ? nsid : (instanceOf?.(cdw11) ?? 0))
  return {
    scope,
    isSaveable,
    set({ sqe: { NSID } }, device, cdw11, isSaved) {
      const { features } = device
      const { reserved = 0 } = word.decode(cdw11)
      if (reserved !== 0)
        device.diagnostics.report('reserved-bits', `host set reserved bits of ${word.name}: ${hex(reserved)}`)
      const value = (cdw11 & ~reserved) >>> 0
      const fault = missing?.(value, device, true) ?? refuse?.(value, device, NSID)
      if (fault) return fault
      if (scope === 'namespace') {
        for (const { nsid } of targetsOf(NSID, device)) features.set(fid, nsid, value, isSaved)
      } else features.set(fid, instance(value, NSID), value, isSaved)
      changed?.(device)
      return STATUS.SUCCESS
    },
    get(command, { features }, cdw11, select) {
      const which = instance(cdw11, command.sqe.NSID)
      const value =
        select === SEL.CURRENT
          ? features.get(fid, which)
          : select === SEL.SAVED
            ? features.getSaved(fid, which)
            : features.getDefault(fid, which)
      command.dw0 = shown?.(value) ?? value
      return STATUS.SUCCESS
    },
  }
}

const handlers: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  ...[...dwordFeatures.values()].map((each) => [each.fid, dwordHandler(each)] as const),
  [NumberOfQueues.fid, numberOfQueues],
  [Timestamp.fid, timestamp],
  [HostBehaviorSupport.fid, hostBehavior],
  [NamespaceWriteProtectionConfig.fid, writeProtection],
])

/** Checks the NSID of Set Features (Base 2.3 §4.4). */
function setScopeFault(nsid: number, { scope }: Handler, device: Device): StatusCode | undefined {
  if (nsid === BROADCAST_NSID) return undefined
  if (scope === 'namespace') return namespaceFault(nsid, device)
  if (nsid === 0) return undefined
  return device.namespaces.isValid(nsid) ? STATUS.FEATURE_NOT_NAMESPACE_SPECIFIC : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

/** Checks the NSID of Get Features (Base 2.3 §4.4). */
function getScopeFault(nsid: number, { scope }: Handler, device: Device): StatusCode | undefined {
  if (scope === 'controller') {
    const isKnown = nsid === 0 || nsid === BROADCAST_NSID || device.namespaces.isValid(nsid)
    return isKnown ? undefined : STATUS.INVALID_NAMESPACE_OR_FORMAT
  }
  return nsid === BROADCAST_NSID ? STATUS.INVALID_NAMESPACE_OR_FORMAT : namespaceFault(nsid, device)
}

function namespaceFault(nsid: number, { namespaces }: Device): StatusCode | undefined {
  if (namespaces.get(nsid) !== undefined) return undefined
  return namespaces.isValid(nsid) ? STATUS.INVALID_FIELD_IN_COMMAND : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

/** The namespace, or all attached ones. */
function targetsOf(nsid: number, { namespaces }: Device): readonly Namespace[] {
  return nsid === BROADCAST_NSID ? namespaces.active : [namespaces.get(nsid)!]
}

function queuesDw0(sqs: number, cqs: number): number {
  return NumberOfQueues.DW0.encode({ NSQA: zeroBased(sqs), NCQA: zeroBased(cqs) })
}
