import { formatTable } from '../../terminal/table.js'
import { formatRate } from '../../terminal/units.js'
import { isKnown } from '../known.js'
import { lanesOf, type Lanes } from '../lanes.js'
import type { Machine } from '../machine.js'
import type { Path } from '../path.js'
import type { Meeting, Verdict } from '../peer-to-peer.js'
import { cardsOf, driveWays, gpuPaths, type DriveWay } from '../reach.js'
import { functionAt } from '../tree.js'
import { labelOf, shapeText, shortAddress } from './names.js'

/** Short name and meaning of where two GPUs meet. */
const MEETINGS: Readonly<Record<Meeting, readonly [word: string, meaning: string]>> = {
  'same-switch': ['switch', 'they meet in a PCI Express switch'],
  'same-host-bridge': ['bridge', 'they meet in one host bridge of the CPU'],
  'same-socket': ['socket', 'they meet in the CPU, between its host bridges'],
  'across-sockets': ['across', 'traffic crosses from one CPU to another'],
  unknown: ['?', 'the meeting point is unknown'],
}

const WAYS =
  'doorbells: the GPU writes to the SSD; data: the SSD writes to GPU memory; queues: the SSD reads GPU memory'

/** Number of GPUs per table, so that it fits 80 columns. */
const GPUS_IN_A_ROW = 8
const LABEL_COLUMNS = 17

/**
 * Describes the expected peer-to-peer traffic between GPUs, and between GPUs and SSDs.
 * @param about address of the only GPU or SSD to describe.
 */
export function describeReach(machine: Machine, about?: string): string[] {
  const cards = cardsOf(machine)
  const isOf = (...ends: readonly string[]) => about === undefined || ends.includes(about)
  const ways = driveWays(machine).filter(({ gpu, drive }) => isOf(gpu, drive))
  const pairs = gpuPaths(machine).filter(({ from, to }) => isOf(from, to))
  return [
    ...(ways.length + pairs.length === 0 ? [] : iommuLines(machine)),
    ...(pairs.length === 0
      ? []
      : [
          'Between GPUs',
          ...cards.map(({ address }, index) => `  ${letter(index)}  ${gpuText(machine, address)}`),
          ...(about === undefined ? ['', ...gpuTable(machine)] : []),
          ...describePairs(machine, pairs),
          '',
        ]),
    ...(ways.length === 0
      ? [missingPeer(machine)]
      : ['Between GPU and SSD', `  ${WAYS}`, ...describeWays(machine, ways)]),
  ]
}

function missingPeer(machine: Machine): string {
  if (cardsOf(machine).length > 0) return 'No NVMe SSD found.'
  return machine.drives.length === 0 ? 'No discrete GPU and no NVMe SSD found.' : 'No discrete GPU found.'
}

function gpuText(machine: Machine, address: string): string {
  const found = functionAt(machine, address)
  return `${shortAddress(address)} ${found === undefined ? '' : labelOf(machine, found).replace(/^GPU /, '')}`
}

function iommuLines({ iommu }: Machine): string[] {
  if (iommu.mode !== 'translated' && iommu.mode !== 'mixed') return []
  return ["The IOMMU translates addresses, and blocks those outside the sender's mappings.", '']
}

function gpuTable(machine: Machine): string[] {
  const cards = cardsOf(machine)
  const paths = gpuPaths(machine)
  const word = (from: string, to: string) => {
    const path = paths.find((one) => one.from === from && one.to === to)
    return path === undefined ? '-' : MEETINGS[path.meeting][0]
  }
  const blocks = Array.from({ length: Math.ceil(cards.length / GPUS_IN_A_ROW) }, (_, block) => {
    const across = cards.slice(block * GPUS_IN_A_ROW, (block + 1) * GPUS_IN_A_ROW)
    return formatTable(
      [{ title: 'GPU' }, ...across.map((_, index) => ({ title: letter(block * GPUS_IN_A_ROW + index) }))],
      cards.map(({ address: from }, index) => [letter(index), ...across.map(({ address: to }) => word(from, to))]),
    ).map((line) => `  ${line}`)
  })
  return blocks.flat()
}

function describePairs(machine: Machine, paths: readonly Path[]): string[] {
  const cards = cardsOf(machine).map(({ address }) => address)
  const ends = ({ from, to }: Path) => [cards.indexOf(from), cards.indexOf(to)] as const
  const pairs = paths.filter((path) => ends(path)[0] < ends(path)[1])
  const title = (same: readonly Path[]) => `GPUs ${same.map((path) => ends(path).map(letter).join('-')).join(', ')}`
  const rows = (path: Path, withPlace: boolean): Row[] => [
    ['meeting point', MEETINGS[path.meeting].join(': ')],
    ['slowest link', limitText(path, withPlace)],
    ...verdictRows({ 'P2P writes': path.writes, 'P2P reads': path.reads }),
    ...path.notes.map((note): Row => ['note', note]),
  ]
  return describeAlike(pairs, rows, title)
}

function describeWays(machine: Machine, ways: readonly DriveWay[]): string[] {
  const title = (same: readonly DriveWay[]) => same.map(({ drive }) => driveName(machine, drive)).join(', ')
  const rows = ({ path, doorbells, data, fetches, tiers }: DriveWay, withPlace: boolean): Row[] => [
    ['meeting point', meetingText(machine, path)],
    ['slowest link', limitText(path, withPlace)],
    ...verdictRows({ doorbells, data, queues: fetches }),
    ['tiers', tiers.map(({ tier, passes }) => `${tier === 1 ? '1 (cuda)' : tier} ${passes}`).join(', ')],
    ...path.notes.map((note): Row => ['note', note]),
  ]
  return cardsOf(machine).flatMap(({ address }) => {
    const own = ways.filter(({ gpu }) => gpu === address)
    return describeAlike(own, rows, (same) => `${gpuText(machine, address)} <-> ${title(same)}`)
  })
}

type Row = readonly [label: string, text: string]

/** Describes items with the same rows together, without the place of the slowest link if only that differs. */
function describeAlike<T>(
  items: readonly T[],
  rowsOf: (item: T, withPlace: boolean) => Row[],
  titleOf: (same: readonly T[]) => string,
): string[] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = JSON.stringify(rowsOf(item, false))
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return [...groups.values()].flatMap((same) => {
    const isOnePlace = new Set(same.map((item) => JSON.stringify(rowsOf(item, true)))).size === 1
    const rows = rowsOf(same[0]!, isOnePlace)
    return ['', `  ${titleOf(same)}`, ...rows.map(([label, text]) => `    ${label.padEnd(LABEL_COLUMNS)}${text}`)]
  })
}

function meetingText(machine: Machine, { from, to, meeting, meetAt = '' }: Path): string {
  const [gpu, ssd] = [from, to].map((address) => lanesOf(machine, address).of)
  const whose = gpu === 'cpu' && ssd === 'cpu' ? ', both on lanes of the CPU' : chipsetText(gpu, ssd)
  if (meeting === 'same-switch')
    return `in the switch at ${shortAddress(meetAt)}${gpu === 'chipset' ? ', the chipset' : ''}`
  if (meeting === 'same-host-bridge') return `in host bridge ${meetAt}${whose}`
  if (meeting === 'same-socket') return `in the CPU, between its host bridges${whose}`
  if (meeting === 'across-sockets') {
    const [here, there] = [from, to].map((address) => functionAt(machine, address)?.numaNode)
    return `across sockets: NUMA nodes ${here} and ${there}`
  }
  return `between two host bridges of unknown sockets${whose}`
}

function chipsetText(gpu: Lanes['of'] | undefined, ssd: Lanes['of'] | undefined): string {
  if (gpu !== 'chipset') return ssd === 'chipset' ? ', the SSD behind the chipset' : ''
  return ssd === 'chipset' ? ', both behind the chipset' : ', the GPU behind the chipset'
}

/** Letters, since CUDA numbers GPUs in another order. */
function letter(index: number): string {
  return index < 26 ? String.fromCharCode(0x41 + index) : `G${index}`
}

/** Kinds of traffic with the same result share a row; all of them are P2P. */
function verdictRows(verdicts: Readonly<Record<string, Verdict>>): Row[] {
  const kinds = new Map<string, string[]>()
  for (const [kind, { passes, reason }] of Object.entries(verdicts)) {
    const text = `${passes}: ${reason}`
    kinds.set(text, [...(kinds.get(text) ?? []), kind])
  }
  return [...kinds].map(([text, same]) => [kinds.size === 1 ? 'P2P' : same.join(', '), text])
}

/** @param withPlace whether to name the function at the link's end. */
function limitText({ slowest }: Path, withPlace: boolean): string {
  if (!isKnown(slowest)) return `unknown: ${slowest.unknown}`
  const place = withPlace ? ` at ${shortAddress(slowest.address)}` : ''
  const rate = formatRate(slowest.payloadBytesPerSecond, 1e9)
  return `${shapeText(slowest)}${place}: ${rate} of payload at MPS ${slowest.maxPayloadBytes}`
}

function driveName({ drives }: Machine, address: string): string {
  const name = drives.find((drive) => drive.address === address)?.name
  return name === undefined ? `SSD ${shortAddress(address)}` : `${name} (${shortAddress(address)})`
}
