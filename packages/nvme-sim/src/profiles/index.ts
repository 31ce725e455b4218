import { isRecord, show } from '../options.js'
import { checkChanges, checkProfile } from './check.js'
import { frozenCopy } from './frozen.js'
import { ideal } from './ideal.js'
import { p5800x } from './p5800x.js'
import { pm1753 } from './pm1753.js'
import type { DriveProfile } from './profile.js'
import { samsung980pro } from './980pro.js'
import { samsung990pro } from './990pro.js'
import { sn530 } from './sn530.js'
import { sn740 } from './sn740.js'

/** The presets by name. They are frozen; derive others with `deriveProfile`. */
export const profiles = frozenCopy({
  ideal,
  sn740,
  sn530,
  '980pro': samsung980pro,
  '990pro': samsung990pro,
  p5800x,
  pm1753,
} as const satisfies Record<string, DriveProfile>)

/** The name of a preset. */
export type ProfileName = keyof typeof profiles

/** Changes of a profile; CAP and identify are merged by field. */
export type ProfileChanges = Partial<DriveProfile>

/**
 * Returns a profile with changed figures, frozen: `deriveProfile('sn740', { readBytesPerSecond: Infinity })`. Unless
 * the changes set them, the result has no published points, since those do not apply to a changed drive, is named
 * 'sn740 (changed)', and its source lists the changes.
 * @throws RangeError or TypeError, with its name, for an invalid figure.
 */
export function deriveProfile(base: ProfileName | DriveProfile, changes: ProfileChanges): DriveProfile {
  const profile = profileOf(base)
  checkChanges(changes)
  const { name, source } = profile
  const changed = {
    ...profile,
    name: name.endsWith(CHANGED) ? name : name + CHANGED,
    source: `${name} with changes of: ${Object.keys(changes).join(', ') || 'nothing'}. Source of ${name}: ${source}`,
    points: [],
    ...changes,
    CAP: { ...profile.CAP, ...changes.CAP },
    identify: { ...profile.identify, ...changes.identify },
  }
  checkProfile(changed)
  return frozenCopy(changed)
}

const CHANGED = ' (changed)'

/**
 * Returns the preset of this name; a profile is returned unchanged.
 * @throws RangeError for an unknown name; RangeError or TypeError for an invalid profile.
 */
export function profileOf(profile: ProfileName | DriveProfile): DriveProfile {
  if (typeof profile === 'string') {
    if (Object.hasOwn(profiles, profile)) return profiles[profile]
    throw new RangeError(`profile: expected one of ${Object.keys(profiles).join(', ')}, got ${show(profile)}`)
  }
  if (!isRecord(profile)) throw new TypeError(`profile: expected a preset's name or a profile, got ${show(profile)}`)
  checkProfile(profile)
  return profile
}
