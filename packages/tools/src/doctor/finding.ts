import type { Action } from '../command-line/next-step.js'
import type { Route } from './route.js'

/**
 * `blocker`: nothing but the simulator is to be had, of its subject, until it is solved. `problem`: it stands in the way of
 * some routes, or costs speed or safety. `unknown`: it could not be looked at. `note`: worth knowing. `ok`: as it should be.
 */
export type Severity = 'blocker' | 'problem' | 'unknown' | 'note' | 'ok'

/** What findings are about, in the order of the report. */
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

/** One thing that was found out about a machine: what it is, what says so, and what to do. */
export interface Finding {
  /** Stable across releases: 'drive-in-use'. */
  readonly id: string
  readonly group: Group
  readonly severity: Severity
  /** PCI addresses of what it is about; none is the whole machine. */
  readonly subjects: readonly string[]
  /** One line. */
  readonly title: string
  /** Why that matters, in a sentence or two. */
  readonly cause?: string
  readonly evidence: readonly Evidence[]
  /** What the user can do about it, in this order; none where nothing helps. */
  readonly steps: readonly Step[]
  /** Routes that are closed as long as this is so; of what is unknown, those that hang on it. */
  readonly closes: readonly Route[]
  /** Routes that need this to be so as it is. */
  readonly opens: readonly Route[]
}

/** Something that was read. */
export interface Evidence {
  /** A file, a command or a call: '/proc/driver/nvidia/version'. */
  readonly source: string
  readonly value: string
}

/**
 * `command`: to be typed, as root where `sudo` is in it. `firmware`: a menu of the firmware. `hands`: something that no
 * command does. `instead`: does not help against the finding, but is another way.
 */
export interface Step {
  readonly kind: 'command' | 'firmware' | 'hands' | 'instead'
  readonly action: Action
}

/** What a check has to say; what is left out is empty. */
export type Draft = Pick<Finding, 'id' | 'severity' | 'title'> & Partial<Omit<Finding, 'group'>>

/** A finding of one group, its omissions filled in. */
export function finding(group: Group, draft: Draft): Finding {
  return { group, subjects: [], evidence: [], steps: [], closes: [], opens: [], ...draft }
}

/** Whether somebody can do something about it. */
export function isSolvable({ steps }: Pick<Finding, 'steps'>): boolean {
  return steps.some(({ kind }) => kind !== 'instead')
}

export const command = (action: Action): Step => ({ kind: 'command', action })
export const firmware = (action: Action): Step => ({ kind: 'firmware', action })
export const hands = (action: Action): Step => ({ kind: 'hands', action })
export const instead = (action: Action): Step => ({ kind: 'instead', action })

/** What was read, from where. */
export function read(source: string, value: string | number | boolean): Evidence {
  return { source, value: String(value) }
}
