import { ideal } from './ideal.js'
import { p5800x } from './p5800x.js'
import { pm1753 } from './pm1753.js'
import type { DriveProfile } from './profile.js'
import { samsung980pro } from './980pro.js'
import { samsung990pro } from './990pro.js'
import { sn530 } from './sn530.js'
import { sn740 } from './sn740.js'

/** The presets, by name. */
export const profiles = {
  ideal,
  sn740,
  sn530,
  '980pro': samsung980pro,
  '990pro': samsung990pro,
  p5800x,
  pm1753,
} as const satisfies Record<string, DriveProfile>

/** The name of a preset. */
export type ProfileName = keyof typeof profiles

/** Parts of a profile; CAP and identify are merged field by field. */
export type ProfileChanges = Partial<DriveProfile>

/**
 * A profile with some of its figures changed: `deriveProfile('sn740', { readBytesPerSecond: Infinity })`. What was
 * published about a drive is not about a changed one: it has no points unless the changes bring some.
 */
export function deriveProfile(base: ProfileName | DriveProfile, changes: ProfileChanges): DriveProfile {
  const profile = profileOf(base)
  return {
    ...profile,
    points: [],
    ...changes,
    CAP: { ...profile.CAP, ...changes.CAP },
    identify: { ...profile.identify, ...changes.identify },
  }
}

/** The preset of that name; a profile is its own. */
export function profileOf(profile: ProfileName | DriveProfile): DriveProfile {
  return typeof profile === 'string' ? profiles[profile] : profile
}
