import { cut } from '../../terminal/table.js'
import { plural } from '../../terminal/units.js'
import { lanesOf } from '../lanes.js'
import type { Machine } from '../machine.js'
import type { PciFunction } from '../pci-function.js'
import { hasLinkAbove, treeOf, type Branch } from '../tree.js'
import { linkText } from './link-text.js'
import { labelOf, shortAddress } from './names.js'

/** Width of 'Gen1 x16 of Gen4 x16'. */
const LINK_COLUMNS = 20

export interface TreeOptions {
  /** Whether to print all functions, including those without a shared link. Default: false. */
  readonly all?: boolean
  /** Address of the only function to print, with the bridges above it. */
  readonly only?: string
  /** Maximum length of lines; Infinity for no limit. */
  readonly columns: number
}

/** Draws the functions of a machine as a tree, with the link of each at the end of its line. */
export function drawTree(machine: Machine, { all = false, only, columns }: TreeOptions): string[] {
  const lines: string[] = []
  let hidden = 0
  for (const { hostBridge, branches } of treeOf(machine)) {
    const shown =
      only === undefined
        ? branches.filter((branch) => all || isWorthIt(machine, branch))
        : branches.flatMap((branch) => pathTo(only, branch) ?? [])
    if (only === undefined) hidden += branches.length - shown.length
    if (shown.length === 0) continue
    lines.push(`host bridge ${hostBridge}${nodeText(shown)}`)
    for (const line of drawBranches(machine, shown, '', columns)) lines.push(line)
  }
  if (hidden === 0) return lines
  const rest = `Not shown: ${plural(hidden, 'function')} without devices below; --all shows everything.`
  return lines.length === 0 ? [rest] : [...lines, '', rest]
}

/** Returns a branch without what does not lead to a function; undefined if nothing in it does. */
function pathTo(address: string, { found, behind }: Branch): Branch | undefined {
  if (found.address === address) return { found, behind: [] }
  const below = behind.flatMap((branch) => pathTo(address, branch) ?? [])
  return below.length === 0 ? undefined : { found, behind: below }
}

/** On the bus of the host bridge: bridges with devices below, and functions that compute or store. */
function isWorthIt({ gpus, drives }: Machine, { found, behind }: Branch): boolean {
  return behind.length > 0 || [...gpus, ...drives].some(({ address }) => address === found.address)
}

function nodeText([first]: readonly Branch[]): string {
  const node = first?.found.numaNode
  return node === undefined ? '' : `, NUMA node ${node}`
}

function drawBranches(machine: Machine, branches: readonly Branch[], indent: string, columns: number): string[] {
  return branches.flatMap(({ found, behind }, index) => {
    const isLast = index === branches.length - 1
    const text = `${indent}${isLast ? '└─' : '├─'} ${shortAddress(found.address)}  ${labelOf(machine, found)}${hints(machine, found)}`
    return [
      withLink(text, hasLinkAbove(found) ? (linkText(machine, found) ?? '') : '', columns),
      ...drawBranches(machine, behind, `${indent}${isLast ? '   ' : '│  '}`, columns),
    ]
  })
}

/** Owner of a root port's lanes, and whether a switch's port redirects. */
function hints(machine: Machine, found: PciFunction): string {
  if (found.kind === 'root-port') {
    const below = machine.functions.find(({ parent }) => parent === found.address)
    const { of } = lanesOf(machine, below?.address ?? found.address)
    const isChipset = of === 'chipset' && lanesOf(machine, below!.address).uplink === undefined
    if (isChipset) return ' of the chipset'
    return of === 'unknown' ? '' : ' of the CPU'
  }
  if (found.kind !== 'switch-downstream' || !('enabled' in (found.acs ?? {}))) return ''
  const { acs } = found
  return acs !== undefined && 'enabled' in acs && acs.enabled.includes('RR') ? ', ACS redirects' : ''
}

function withLink(text: string, link: string, columns: number): string {
  if (link === '') return cut(text, columns)
  if (columns === Infinity) return `${text}  ${link}`
  const room = columns - LINK_COLUMNS - 2
  return `${cut(text, room).padEnd(room)}  ${link}`
}
