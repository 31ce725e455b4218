import type { StaticBar1 } from './driver-state.js'
import { isAtLeast, isDriverVersion } from './version.js'
import { unknown } from '../machine/known.js'

/**
 * What RMForceStaticBar1 may be, and is when it is not given, by version. Read in nvrm_registry.h and kern_bus.c of
 * NVIDIA/open-gpu-kernel-modules at each tag from 515.43.04 to 595.45.04; later versions are taken to go on like the last.
 */
const RULES = [
  { since: '580.65.06', values: [0, 1, 2], usual: 2 },
  { since: '575.51.02', values: [0, 1, 2], usual: 0 },
  { since: '565.57.01', values: [0, 1, 2, 3], usual: 3 },
] as const

const STATES = ['off', 'on', 'auto', 'p2p-only'] as const

/** Whether `version` has the key at all. */
export function hasStaticBar1(version: string): boolean {
  return ruleOf(version) !== undefined
}

/** @param registry the keys of the module that runs. */
export function staticBar1(version: string, registry: Readonly<Record<string, number>>): StaticBar1 {
  if (!isDriverVersion(version))
    return { state: unknown(`no rule for the version '${version}'`), because: 'the version is not one that is known' }
  const rule = ruleOf(version)
  if (rule === undefined) return { state: 'none', because: `${version} does not have it: 565.57.01 is the first` }
  const key = registry['RMForceStaticBar1']
  const ignored = key !== undefined && !(rule.values as readonly number[]).includes(key)
  const state = STATES[key === undefined || ignored ? rule.usual : key]!
  const usual = `it is so from ${rule.since} on when no key says otherwise`
  if (ignored) return { state, because: `RMForceStaticBar1=${key} means nothing to ${version}; ${usual}` }
  return { state, because: key === undefined ? usual : `RMForceStaticBar1=${key} says so` }
}

function ruleOf(version: string) {
  return RULES.find(({ since }) => isAtLeast(version, since))
}
