import { profiles, type DriveProfile, type ProfileName } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultPlan } from '@gpunvme/nvme-spec/transport'

type Link = NonNullable<DriveProfile['link']>

/** What the user chooses. */
export interface Settings {
  readonly drive: ProfileName
  readonly gen: Link['gen']
  readonly width: number
  readonly mps: number
  readonly queueDepth: number
  readonly commandBytes: number
  readonly fault: FaultName
  readonly layers: number
  readonly layerBytes: number
}

const status = (sct: number, sc: number): FaultAction => ({ kind: 'status', sct, sc })

/** Faults by name. Each affects one Read in the middle of the run. */
export const faults = {
  none: { label: 'none', action: undefined },
  hang: { label: 'command hangs', action: { kind: 'hang' } },
  lost: { label: 'lost completion', action: { kind: 'drop-completion' } },
  status: { label: 'status: Unrecovered Read Error', action: status(2, 0x81) },
  reset: { label: 'surprise reset', action: { kind: 'surprise-reset' } },
  fatal: { label: 'fatal status (CSTS.CFS)', action: { kind: 'fatal-status' } },
  removed: { label: 'drive removed', action: { kind: 'remove-device' } },
  throttle: { label: 'throttled: 4 times slower', action: { kind: 'throttle', factor: 4, forNs: 20_000_000 } },
} as const satisfies Record<string, { label: string; action: FaultAction | undefined }>

export type FaultName = keyof typeof faults

const READ = 0x02

/** Returns the plan that affects the Read number `nth`, from 1; undefined without a fault. */
export function faultPlan(fault: FaultName, nth: number): FaultPlan | undefined {
  const { action } = faults[fault]
  return action && { rules: [{ match: { opcode: READ, qid: 1, nth }, action }] }
}

/** A preset behind another link. `ideal` has no link of its own. */
export function linkOf({ drive, gen, width, mps }: Pick<Settings, 'drive' | 'gen' | 'width' | 'mps'>): Link {
  const own: DriveProfile['link'] = profiles[drive].link
  return { propagationNs: 150, maxReadRequestBytes: 512, ...own, gen, width, mps }
}
