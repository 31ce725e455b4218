import type { Action } from '../command-line/next-step.js'
import type { Route } from './route.js'

/**
 * `blocker`: only the simulator works until it is solved. `problem`: closes routes, or costs speed or safety.
 * `unknown`: could not be checked. `note`: worth knowing. `ok`: as expected.
 */
export type Severity = 'blocker' | 'problem' | 'unknown' | 'note' | 'ok'

/** Subjects of findings, in the order of the report. */
export const GROUPS = {
  system: 'System',
  links: 'Board and links',
  windows: 'GPU memory windows',
  iommu: 'IOMMU and peer-to-peer',
  kernel: 'Kernel and memory',
  nvidia: "NVIDIA's driver",
  cuda: 'CUDA',
  drives: 'Drives',
  software: 'Our native code',
} as const

export type Group = keyof typeof GROUPS

/** Result of one check: what was found, the evidence, and steps for the user. */
export interface Finding {
  /** Stable across releases: 'drive-in-use'. */
  readonly id: string
  readonly group: Group
  readonly severity: Severity
  /** PCI addresses of the devices concerned; empty for the whole machine. */
  readonly subjects: readonly string[]
  /** One line. */
  readonly title: string
  /** Reason why it matters, in one or two sentences. */
  readonly cause?: string
  readonly evidence: readonly Evidence[]
  /** Steps for the user, in order; empty if nothing helps. */
  readonly steps: readonly Step[]
  /** Routes that it closes; for an unknown, routes that depend on it. */
  readonly closes: readonly Route[]
  /** Routes that require it. */
  readonly opens: readonly Route[]
}

/** Value that was read. */
export interface Evidence {
  /** File, command or call: '/proc/driver/nvidia/version'. */
  readonly source: string
  readonly value: string
}

/**
 * `command`: a command, with `sudo` where it requires root. `firmware`: a firmware setting. `hands`: another action.
 * `instead`: does not solve the finding, but is an alternative.
 */
export interface Step {
  readonly kind: 'command' | 'firmware' | 'hands' | 'instead'
  readonly action: Action
}

/** Finding of a check; omitted fields are empty. */
export type Draft = Pick<Finding, 'id' | 'severity' | 'title'> & Partial<Omit<Finding, 'group'>>

/** Returns a finding of a group, with empty values for omitted fields. */
export function finding(group: Group, draft: Draft): Finding {
  return { group, subjects: [], evidence: [], steps: [], closes: [], opens: [], ...draft }
}

/** Whether a step solves it. */
export function isSolvable({ steps }: Pick<Finding, 'steps'>): boolean {
  return steps.some(({ kind }) => kind !== 'instead')
}

export const command = (action: Action): Step => ({ kind: 'command', action })
export const firmware = (action: Action): Step => ({ kind: 'firmware', action })
export const hands = (action: Action): Step => ({ kind: 'hands', action })
export const instead = (action: Action): Step => ({ kind: 'instead', action })

/** Returns evidence: a value and its source. */
export function read(source: string, value: string | number | boolean): Evidence {
  return { source, value: String(value) }
}
