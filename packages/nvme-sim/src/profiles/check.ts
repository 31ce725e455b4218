import { CAP, IdentifyController } from '@gpunvme/nvme-spec'
import { checkLink } from '@gpunvme/nvme-spec/pcie'
import { nanoseconds, timingFields } from '../model/drive-timing.js'
import type { LinkProfile } from '../model/link.js'
import {
  bytes,
  checkOptions,
  flag,
  listOf,
  number,
  oneOf,
  optional,
  record,
  text,
  whole,
  type Fields,
} from '../options.js'
import type { DriveProfile } from './profile.js'
import type { PublishedPoint, Workload } from './published.js'

const finite = number(Number.isFinite, 'a number')

/** `checkLink` checks sizes and width. */
const linkFields: Fields<LinkProfile> = {
  gen: oneOf([1, 2, 3, 4, 5]),
  width: finite,
  mps: finite,
  headerBytes: optional(oneOf([12, 16])),
  rcb: optional(finite),
  maxReadRequestBytes: finite,
  propagationNs: nanoseconds,
}

const workloadFields: Fields<Workload> = {
  operation: oneOf(['read', 'write']),
  blockBytes: bytes(1),
  depth: whole(1, 65_536),
  hostCommandNs: optional(nanoseconds),
  commands: optional(whole(1, Number.MAX_SAFE_INTEGER)),
  isHot: optional(flag),
}

const pointFields: Fields<PublishedPoint> = {
  metric: text,
  publishedValue: finite,
  unit: oneOf(['MiB/s', 'MB/s', 'commands/s', 'µs mean', 'ms', 's until hot']),
  use: oneOf(['fitted', 'held-back']),
  source: text,
  workload: record(workloadFields),
  note: optional(text),
}

const profileFields: Fields<DriveProfile> = {
  name: text,
  source: text,
  points: optional(listOf(record(pointFields))),
  // The declarations name the rejected field.
  CAP: { ...record({}), inside: (value: DriveProfile['CAP']) => void CAP.encode(value) },
  VS: whole(0, 0xffff_ffff, '32 bits'),
  identify: { ...record({}), inside: (value: DriveProfile['identify']) => void IdentifyController.create(value) },
  // Each has an MSI-X vector beside that of the Admin queue, of 2048 (PCIe's Table Size).
  ioQueuePairs: whole(1, 2047),
  commandSlots: whole(1, 65_536),
  enableNs: nanoseconds,
  resetNs: nanoseconds,
  shutdownNs: nanoseconds,
  link: optional(record(linkFields, checkLink)),
  ...timingFields,
}

const changeFields = Object.fromEntries(
  Object.entries(profileFields).map(([name, field]) => [name, optional(field)]),
) as Fields<DriveProfile>

/** @throws RangeError or TypeError, with its name, for an invalid figure. */
export function checkProfile(profile: unknown): asserts profile is DriveProfile {
  checkOptions('profile', profile, profileFields)
}

/** @throws RangeError or TypeError as `checkProfile`. */
export function checkChanges(changes: unknown): asserts changes is Partial<DriveProfile> {
  checkOptions('deriveProfile changes', changes, changeFields)
}
