import { formatRate } from '../../terminal/units.js'
import { isKnown } from '../known.js'
import { lanesOf } from '../lanes.js'
import type { Machine } from '../machine.js'
import { pathBetween, type Path } from '../path.js'
import { functionAt } from '../tree.js'
import { hanging, labelOf, shapeText, shortAddress } from './names.js'

/** Returns a path for each pair of discrete GPU and drive. */
export function gpuDrivePaths(machine: Machine): Path[] {
  const cards = machine.gpus.filter(({ isIntegrated }) => !isIntegrated)
  return cards.flatMap((gpu) => machine.drives.map((drive) => pathBetween(machine, gpu.address, drive.address)))
}

const LABEL_COLUMNS = 12

/** Paths that differ only in the drive are printed once. */
export function describePaths(machine: Machine, paths: readonly Path[], columns: number): string[] {
  const told = new Map<string, string[]>()
  for (const path of paths) {
    const body = describePath(machine, path, columns).join('\n')
    const key = `${path.from}\n${body}`
    told.set(key, [...(told.get(key) ?? []), path.to])
  }
  return Array.from(told, ([key, drives]) => {
    const [gpu = '', ...body] = key.split('\n')
    const names = drives.map((address) => driveName(machine, address))
    const title = `${shortAddress(gpu)} ${nameOf(machine, gpu)} <-> ${names.join(', ')}`
    return ['', ...hanging('  ', title, columns), ...body]
  }).flat()
}

function describePath(machine: Machine, path: Path, columns: number): string[] {
  const { slowest, writes, reads, notes } = path
  const limit = isKnown(slowest)
    ? `${shapeText(slowest)} at ${shortAddress(slowest.address)}: ${formatRate(slowest.payloadBytesPerSecond, 1e9)} of payload at MPS ${slowest.maxPayloadBytes}`
    : `unknown: ${slowest.unknown}`
  const isSame = writes.passes === reads.passes && writes.reason === reads.reason
  const rows: [string, string][] = [
    ['meet', meetingText(machine, path)],
    ['slowest', limit],
    ...(isSame
      ? [['P2P', `${writes.passes}: ${writes.reason}`] as [string, string]]
      : [
          ['P2P writes', `${writes.passes}: ${writes.reason}`] as [string, string],
          ['P2P reads', `${reads.passes}: ${reads.reason}`] as [string, string],
        ]),
    ...notes.map((note): [string, string] => ['', note]),
  ]
  return rows.flatMap(([label, text]) => hanging(`    ${label.padEnd(LABEL_COLUMNS)}`, text, columns))
}

function meetingText(machine: Machine, { from, to, meeting, meetAt = '' }: Path): string {
  const lanes = [from, to].map((address) => lanesOf(machine, address))
  const [a, b] = lanes.map(({ of }) => of)
  const whose =
    a === 'cpu' && b === 'cpu'
      ? ', both on lanes of the CPU'
      : a === 'chipset' && b === 'chipset'
        ? ', both behind the chipset'
        : b === 'chipset'
          ? ', the SSD behind the chipset'
          : a === 'chipset'
            ? ', the GPU behind the chipset'
            : ''
  if (meeting === 'same-switch')
    return `in the switch at ${shortAddress(meetAt)}${a === 'chipset' ? ', the chipset' : ''}`
  if (meeting === 'same-host-bridge') return `in host bridge ${meetAt}${whose}`
  if (meeting === 'same-socket') return `in the CPU, between its host bridges${whose}`
  if (meeting === 'across-sockets') {
    const [here, there] = [from, to].map((address) => functionAt(machine, address)?.numaNode)
    return `across sockets: NUMA nodes ${here} and ${there}`
  }
  return `between two host bridges of unknown sockets${whose}`
}

function driveName({ drives }: Machine, address: string): string {
  const name = drives.find((drive) => drive.address === address)?.name
  return name === undefined ? `SSD ${shortAddress(address)}` : `${name} (${shortAddress(address)})`
}

function nameOf(machine: Machine, address: string): string {
  const found = functionAt(machine, address)
  return found === undefined ? '' : labelOf(machine, found).replace(/^GPU /, '')
}
