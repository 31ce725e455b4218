import { formatTable } from '../../terminal/table.js'
import { formatRate } from '../../terminal/units.js'
import { isKnown } from '../known.js'
import { lanesOf, type Lanes } from '../lanes.js'
import type { Machine } from '../machine.js'
import type { Meeting, Path } from '../path.js'
import type { Verdict } from '../peer-to-peer.js'
import { cardsOf, driveWays, gpuPaths, type DriveWay } from '../reach.js'
import { functionAt } from '../tree.js'
import { hanging, labelOf, shapeText, shortAddress } from './names.js'

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
 * Describes the expected peer-to-peer traffic between GPUs, and between GPUs and SSDs, in lines of at most `columns`.
 * @param about address of the only GPU or SSD to describe.
 */
export function describeReach(machine: Machine, columns: number, about?: string): string[] {
  const cards = cardsOf(machine)
  const isOf = (...ends: readonly string[]) => about === undefined || ends.includes(about)
  const ways = driveWays(machine).filter(({ gpu, drive }) => isOf(gpu, drive))
  const pairs = gpuPaths(machine).filter(({ from, to }) => isOf(from, to))
  return [
    ...(ways.length + pairs.length === 0 ? [] : iommuLines(machine, columns)),
    ...(pairs.length === 0
      ? []
      : [
          'Between GPUs',
          ...cards.flatMap(({ address }, index) => hanging(`  ${letter(index)}  `, gpuText(machine, address), columns)),
          ...(about === undefined ? ['', ...gpuTable(machine)] : []),
          ...gpuGroups(machine, pairs, columns),
          '',
        ]),
    ...(ways.length === 0
      ? [missingPeer(machine)]
      : ['Between GPU and SSD', ...hanging('  ', WAYS, columns), ...describeWays(machine, ways, columns)]),
  ]
}

function missingPeer(machine: Machine): string {
  if (cardsOf(machine).length > 0) return 'No NVMe SSD found.'
  const graphics = machine.gpus.length > 0 ? ', only integrated graphics' : ''
  return machine.drives.length === 0 ? `No GPU${graphics} and no NVMe SSD found.` : `No GPU found${graphics}.`
}

function gpuText(machine: Machine, address: string): string {
  const found = functionAt(machine, address)
  return `${shortAddress(address)} ${found === undefined ? '' : labelOf(machine, found).replace(/^GPU /, '')}`
}

function iommuLines({ iommu }: Machine, columns: number): string[] {
  if (iommu.mode !== 'translated' && iommu.mode !== 'mixed') return []
  const text = "The IOMMU translates addresses: accesses outside the sender's mappings are blocked."
  return [...hanging('', text, columns), '']
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

/** Pairs with the same result are listed together. */
function gpuGroups(machine: Machine, paths: readonly Path[], columns: number): string[] {
  const cards = cardsOf(machine).map(({ address }) => address)
  const groups = new Map<string, { path: Path; pairs: string[] }>()
  for (const path of paths) {
    const [from, to] = [cards.indexOf(path.from), cards.indexOf(path.to)]
    if (from > to) continue
    const key = JSON.stringify([path.meeting, limitText(path, false), path.writes, path.reads, path.notes])
    const group = groups.get(key) ?? { path, pairs: [] }
    group.pairs.push(`${letter(from)}-${letter(to)}`)
    groups.set(key, group)
  }
  return [...groups.values()].flatMap(({ path, pairs }) => [
    '',
    ...hanging('  ', `GPUs ${pairs.join(', ')}`, columns),
    ...rows(
      [
        ['meet', `${MEETINGS[path.meeting][0]}: ${MEETINGS[path.meeting][1]}`],
        ['slowest', limitText(path, pairs.length === 1)],
        ...verdictRows('P2P writes', path.writes, 'P2P reads', path.reads),
        ...path.notes.map((note): Row => ['note', note]),
      ],
      columns,
    ),
  ])
}

function describeWays(machine: Machine, ways: readonly DriveWay[], columns: number): string[] {
  const told = new Map<string, { way: DriveWay; drives: string[] }>()
  for (const way of ways) {
    const { gpu, path, doorbells, data, fetches } = way
    const key = JSON.stringify([
      gpu,
      meetingText(machine, path),
      limitText(path, true),
      doorbells,
      data,
      fetches,
      path.notes,
    ])
    const group = told.get(key) ?? { way, drives: [] }
    group.drives.push(driveName(machine, way.drive))
    told.set(key, group)
  }
  return [...told.values()].flatMap(({ way, drives }) => [
    '',
    ...hanging('  ', `${gpuText(machine, way.gpu)} <-> ${drives.join(', ')}`, columns),
    ...rows(
      [
        ['meet', meetingText(machine, way.path)],
        ['slowest', limitText(way.path, true)],
        ...wayRows(way),
        ['tiers', way.tiers.map(({ tier, passes }) => `${tier === 1 ? '1 (cuda)' : tier} ${passes}`).join(', ')],
        ...way.path.notes.map((note): Row => ['note', note]),
      ],
      columns,
    ),
  ])
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

/** Kinds of traffic with the same result share a row. */
function wayRows({ doorbells, data, fetches }: DriveWay): Row[] {
  const named = { doorbells, data, queues: fetches }
  const texts = new Map<string, string[]>()
  for (const [name, verdict] of Object.entries(named))
    texts.set(verdictText(verdict), [...(texts.get(verdictText(verdict)) ?? []), name])
  return [...texts].map(([text, names]): Row => {
    return names.length === 3 ? ['P2P', text] : [names.join(', '), text]
  })
}

type Row = readonly [label: string, text: string]

function rows(all: readonly Row[], columns: number): string[] {
  return all.flatMap(([label, text]) => hanging(`    ${label.padEnd(LABEL_COLUMNS)}`, text, columns))
}

function verdictRows(writes: string, a: Verdict, reads: string, b: Verdict): Row[] {
  if (verdictText(a) === verdictText(b)) return [['P2P', verdictText(a)]]
  return [
    [writes, verdictText(a)],
    [reads, verdictText(b)],
  ]
}

function verdictText({ passes, reason }: Verdict): string {
  return `${passes}: ${reason}`
}

/** @param withPlace whether to include the place of the link, which may differ between otherwise equal pairs. */
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
