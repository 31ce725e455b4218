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

/** The presets, by name. They are frozen; `deriveProfile` makes others of them. */
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

/** Parts of a profile; CAP and identify are merged field by field. */
export type ProfileChanges = Partial<DriveProfile>

/**
 * A profile with some of its figures changed: `deriveProfile('sn740', { readBytesPerSecond: Infinity })`. What was
 * published about a drive is not about a changed one: it has no points unless the changes bring some, it is named
 * 'sn740 (changed)' unless they name it, and its source says what was changed. It is frozen.
 * @throws RangeError or TypeError, with its name, for a figure that no drive could have.
 */
export function deriveProfile(base: ProfileName | DriveProfile, changes: ProfileChanges): DriveProfile {
  const profile = profileOf(base)
  checkChanges(changes)
  const { name, source } = profile
  const changed = {
    ...profile,
    name: name.endsWith(CHANGED) ? name : name + CHANGED,
    source: `${name}, changed in ${Object.keys(changes).join(', ') || 'nothing'}. Of ${name} this is said: ${source}`,
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
 * The preset of that name; a profile is its own.
 * @throws RangeError for a name that no preset has; RangeError or TypeError for a profile that no drive could have.
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
