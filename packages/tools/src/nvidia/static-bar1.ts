import type { StaticBar1 } from './driver-state.js'
import { isAtLeast, isDriverVersion } from './version.js'
import { unknown } from '../machine/known.js'

/**
 * Values and default of RMForceStaticBar1, by version. Read in nvrm_registry.h and kern_bus.c of
 * NVIDIA/open-gpu-kernel-modules at each tag from 515.43.04 to 595.45.04; later versions are assumed to behave like the
 * last.
 */
const RULES = [
  { since: '580.65.06', values: [0, 1, 2], usual: 2 },
  { since: '575.51.02', values: [0, 1, 2], usual: 0 },
  { since: '565.57.01', values: [0, 1, 2, 3], usual: 3 },
] as const

const STATES = ['off', 'on', 'auto', 'p2p-only'] as const

/** Returns whether `version` has the key. */
export function hasStaticBar1(version: string): boolean {
  return ruleOf(version) !== undefined
}

/** @param registry keys of the running module. */
export function staticBar1(version: string, registry: Readonly<Record<string, number>>): StaticBar1 {
  if (!isDriverVersion(version))
    return { state: unknown(`no rule for the version '${version}'`), reason: 'the version is unknown' }
  const rule = ruleOf(version)
  if (rule === undefined) return { state: 'none', reason: `${version} does not support it (565.57.01 and later do)` }
  const key = registry['RMForceStaticBar1']
  const ignored = key !== undefined && !(rule.values as readonly number[]).includes(key)
  const state = STATES[key === undefined || ignored ? rule.usual : key]!
  const usual = `the default since ${rule.since}`
  if (ignored) return { state, reason: `${version} ignores RMForceStaticBar1=${key}; ${usual}` }
  return { state, reason: key === undefined ? usual : `set by RMForceStaticBar1=${key}` }
}

function ruleOf(version: string) {
  return RULES.find(({ since }) => isAtLeast(version, since))
}
