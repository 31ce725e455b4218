import type { ConfiguredOption } from './driver-state.js'
import { lastOf, registryOf } from './options.js'
import { hasStaticBar1 } from './static-bar1.js'
import { isAtLeast } from './version.js'

/** Goals of module options, by their names on the command line. */
export const GOALS = ['peer-mapping', 'static-bar1', 'resizable-bar', 'bar1-p2p'] as const

export type Goal = (typeof GOALS)[number]

export const GOAL_SUMMARIES: Readonly<Record<Goal, string>> = {
  'peer-mapping': 'register drives without root (PeerMappingOverride)',
  'static-bar1': 'all GPU memory at fixed addresses behind BAR1 (RMForceStaticBar1)',
  'resizable-bar': 'enlarge BAR1 to the memory size (NVreg_EnableResizableBar)',
  'bar1-p2p': 'access between GPUs through BAR1 (RMForceP2PType, RMPcieP2PType, ForceP2P)',
}

/** Sorts after the files of distributions, so that its options win. */
export const OPTIONS_FILE = 'etc/modprobe.d/zz-gpunvme-nvidia.conf'

interface Wanted {
  readonly options: Readonly<Record<string, string>>
  readonly registry: Readonly<Record<string, number>>
}

/**
 * Returns the options for a goal in this version; undefined if it needs none; a sentence if it is impossible. Names and
 * values by nvrm_registry.h and nv-reg.h of NVIDIA/open-gpu-kernel-modules at each tag, 515.43.04 to 595.45.04.
 */
export function wantedFor(goal: Goal, version: string): Wanted | string | undefined {
  switch (goal) {
    case 'peer-mapping':
      return { options: {}, registry: { PeerMappingOverride: 1 } }
    case 'resizable-bar':
      if (!isAtLeast(version, '530.30.02')) return 'NVreg_EnableResizableBar requires 530.30.02 or later'
      return { options: { NVreg_EnableResizableBar: '1' }, registry: {} }
    case 'static-bar1':
      if (!hasStaticBar1(version)) return 'RMForceStaticBar1 requires 565.57.01 or later'
      // 2 means 'if it fits'. 1 makes the GPU unusable if it does not fit.
      return isAtLeast(version, '580.65.06') ? undefined : { options: {}, registry: { RMForceStaticBar1: 2 } }
    case 'bar1-p2p':
      return p2pKeys(version)
  }
}

/** RMForceP2PType=1 selects the mailbox up to 570, and PCIe since 575, where RMPcieP2PType selects the kind. */
function p2pKeys(version: string): Wanted | string {
  if (!hasStaticBar1(version)) return 'connections through BAR1 require 565.57.01 or later on GPUs before Hopper'
  const keys = isAtLeast(version, '575.51.02') ? { RMForceP2PType: 1, RMPcieP2PType: 1 } : { RMForceP2PType: 2 }
  // ForceP2P: reads in bits 1:0, writes in bits 5:4; 1 enables.
  return { options: {}, registry: { ...keys, ForceP2P: 0x11 } }
}

export interface OptionsPlan {
  /** Text of the file; undefined if nothing must be configured. */
  readonly text: string | undefined
  /** Goals that the version reaches without options. */
  readonly given: readonly Goal[]
  readonly problems: readonly string[]
}

/**
 * Plans the options file for these goals. Registry keys of other files are kept, since only the last option of a name
 * counts.
 * @param configured options without those of our own file.
 */
export function planOptions(
  goals: readonly Goal[],
  version: string,
  configured: readonly ConfiguredOption[],
): OptionsPlan {
  const problems: string[] = []
  const given: Goal[] = []
  const options: Record<string, string> = {}
  const theirs = lastOf(configured, 'NVreg_RegistryDwords')
  const before = registryOf(theirs?.value ?? '')
  const ours: Record<string, number> = {}
  for (const goal of goals) {
    const wanted = wantedFor(goal, version)
    if (wanted === undefined) {
      given.push(goal)
      if (before['RMForceStaticBar1'] === 0)
        problems.push(`${theirs!.file} sets RMForceStaticBar1=0; ${version} enables it by default`)
    } else if (typeof wanted === 'string') problems.push(`${goal}: ${wanted}; this is ${version}`)
    else {
      Object.assign(options, wanted.options)
      Object.assign(ours, wanted.registry)
    }
  }
  for (const [key, value] of Object.entries(ours)) {
    const other = before[key]
    if (other !== undefined && other !== value)
      problems.push(`${theirs!.file} sets ${key}=${other}; ${value} is required`)
  }
  for (const name of [...Object.keys(options), ...(Object.keys(ours).length > 0 ? ['NVreg_RegistryDwords'] : [])]) {
    if (lastOf(configured, name)?.file === '/proc/cmdline')
      problems.push(`the kernel command line sets nvidia.${name} and takes precedence: change it there`)
  }
  if (Object.keys(ours).length > 0) options['NVreg_RegistryDwords'] = dwords({ ...before, ...ours })
  if (problems.length > 0 || Object.keys(options).length === 0) return { text: undefined, given, problems }
  return { text: fileText(goals, version, options), given, problems }
}

function dwords(keys: Readonly<Record<string, number>>): string {
  return `"${Object.entries(keys)
    .map(([key, value]) => `${key}=${key === 'ForceP2P' ? `0x${value.toString(16)}` : value}`)
    .join(';')}"`
}

function fileText(goals: readonly Goal[], version: string, options: Readonly<Record<string, string>>): string {
  return [
    `# Written by gpunvme for ${version}: ${goals.join(', ')}.`,
    "# 'gpunvme driver revert options' removes it. What these keys mean differs between",
    '# versions of the driver: after an upgrade, run gpunvme driver plan again.',
    ...Object.entries(options).map(([name, value]) => `options nvidia ${name}=${value}`),
    '',
  ].join('\n')
}
