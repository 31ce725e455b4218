import { whereItIs } from '../../command-line/advised-command.js'
import { checkCuda } from '../checks/cuda.js'
import { checkDrives, isSystemDrive } from '../checks/drives.js'
import { checkIommu } from '../checks/iommu.js'
import { checkKernel } from '../checks/kernel.js'
import { checkLinks } from '../checks/links.js'
import { checkNvidia } from '../checks/nvidia.js'
import { checkPaths } from '../checks/paths.js'
import { checkSoftware } from '../checks/software.js'
import { checkSystem } from '../checks/system.js'
import { checkTransports } from '../checks/transports.js'
import { checkWindows } from '../checks/windows.js'
import type { Facts } from '../facts.js'
import { GROUPS, hands, type Finding, type Group, type Step } from '../finding.js'
import { judge, reachOf, type Pair, type Reach } from './judge.js'

/** Result of an examination. */
export interface Diagnosis {
  readonly facts: Facts
  /** In the order of the groups. */
  readonly findings: readonly Finding[]
  /** Best first. */
  readonly pairs: readonly Pair[]
  readonly reach: Reach
  /** Whether drives were left out of the judgement, because the command line names others. */
  readonly isPartial: boolean
}

const CHECKS: readonly ((facts: Facts) => Finding[])[] = [
  checkSystem,
  checkLinks,
  checkPaths,
  checkWindows,
  checkIommu,
  checkKernel,
  checkNvidia,
  checkCuda,
  checkDrives,
  checkTransports,
  checkSoftware,
]

export interface ExamineOptions {
  /** Addresses of the GPUs and drives to examine; empty for all. */
  readonly only?: readonly string[]
  /** Findings from other sources. */
  readonly more?: readonly Finding[]
}

/** Judges facts; reads nothing. */
export function examine(facts: Facts, { only = [], more = [] }: ExamineOptions = {}): Diagnosis {
  const order = Object.keys(GROUPS) as Group[]
  const { drives } = facts.machine
  // GPUs without their own memory are not targets.
  const gpus = facts.machine.gpus.filter(({ isIntegrated }) => !isIntegrated)
  const gpuAddresses = chosen(gpus, only)
  const driveAddresses = chosen(drives, only)
  const shown = new Set([...gpuAddresses, ...driveAddresses])
  const system = drives.filter(isSystemDrive).map(({ address }) => address)
  // Other free drives do not change the answer for the named one.
  const asked = { ...facts, machine: { ...facts.machine, drives: drives.filter(({ address }) => shown.has(address)) } }
  const findings = [...CHECKS.flatMap((check) => check(asked)), ...more]
    .map((each) => ({ ...each, steps: each.steps.map((step) => placed(facts, step)) }))
    .filter(({ subjects }) => subjects.every((address) => shown.has(address)))
    .filter((each) => !isBesideThePoint(each, system))
    .sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group))
  const pairs = judge(findings, driveAddresses, gpuAddresses)
  const isPartial = driveAddresses.length < drives.length
  return { facts, findings, pairs, reach: reachOf(pairs, findings), isPartial }
}

/** A command for the machine whose files were read becomes text: it must not run on this machine. */
export function placed({ machine: { root } }: Facts, step: Step): Step {
  if (step.kind !== 'command') return step
  const action = whereItIs(root, step.action)
  return typeof action !== 'string' && action.isElsewhere === true ? hands(action) : step
}

/** Whether a note is about the link of a system drive, which cannot be bound. */
function isBesideThePoint({ severity, subjects, group }: Finding, system: readonly string[]): boolean {
  return severity === 'note' && group === 'links' && subjects.some((address) => system.includes(address))
}

/** Returns the named devices; all if none of the kind is named. */
function chosen(all: readonly { readonly address: string }[], only: readonly string[]): string[] {
  const addresses = all.map(({ address }) => address)
  const asked = addresses.filter((address) => only.includes(address))
  return asked.length > 0 ? asked : addresses
}
