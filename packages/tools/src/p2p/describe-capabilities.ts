import { functionAt, isKnown, type Machine, type Meeting, type Path, type Verdict } from '../machine/index.js'
import { hanging, labelOf, shapeText, shortAddress } from '../machine/views/names.js'
import { formatTable } from '../terminal/table.js'
import { formatRate } from '../terminal/units.js'
import { cardsOf, driveWays, gpuPaths, type DriveWay } from './capabilities.js'

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

/** Describes the expected peer-to-peer traffic on this machine, in lines of at most `columns`. */
export function describeCapabilities(machine: Machine, columns: number): string[] {
  const cards = cardsOf(machine)
  if (cards.length === 0) return ['No GPU with its own memory found: peer-to-peer access to an SSD is not possible.']
  return [
    'GPUs',
    ...cards.flatMap(({ address }, index) => hanging(`  ${letter(index)}  `, gpuText(machine, address), columns)),
    ...iommuLines(machine, columns),
    ...(cards.length < 2 ? [] : ['', 'Between GPUs', ...gpuTable(machine), ...gpuGroups(machine, columns)]),
    '',
    ...(machine.drives.length === 0
      ? [cards.length === 1 ? 'No second GPU and no NVMe SSD found: there is no peer.' : 'No NVMe SSD found.']
      : [
          'Between GPU and SSD',
          ...hanging('  ', WAYS, columns),
          ...describeWays(machine, driveWays(machine), columns),
        ]),
  ]
}

function gpuText(machine: Machine, address: string): string {
  const found = functionAt(machine, address)
  return `${shortAddress(address)} ${found === undefined ? '' : labelOf(machine, found).replace(/^GPU /, '')}`
}

function iommuLines({ iommu }: Machine, columns: number): string[] {
  if (iommu.mode !== 'translated' && iommu.mode !== 'mixed') return []
  return [
    '',
    ...hanging('', "The IOMMU translates addresses: accesses outside the sender's mappings are blocked.", columns),
  ]
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
function gpuGroups(machine: Machine, columns: number): string[] {
  const cards = cardsOf(machine).map(({ address }) => address)
  const groups = new Map<string, { path: Path; pairs: string[] }>()
  for (const path of gpuPaths(machine)) {
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
        ...path.notes.map((note): Row => ['', note]),
      ],
      columns,
    ),
  ])
}

function describeWays(machine: Machine, ways: readonly DriveWay[], columns: number): string[] {
  const told = new Map<string, { way: DriveWay; drives: string[] }>()
  for (const way of ways) {
    const { gpu, path, doorbells, data, fetches } = way
    const key = JSON.stringify([gpu, limitText(path, true), doorbells, data, fetches, path.notes])
    const group = told.get(key) ?? { way, drives: [] }
    group.drives.push(driveName(machine, way.drive))
    told.set(key, group)
  }
  return [...told.values()].flatMap(({ way, drives }) => [
    '',
    ...hanging('  ', `${gpuText(machine, way.gpu)} <-> ${drives.join(', ')}`, columns),
    ...rows(
      [
        ['slowest', limitText(way.path, true)],
        ...wayRows(way),
        ['tiers', way.tiers.map(({ tier, passes }) => `${tier === 1 ? '1 (cuda)' : tier} ${passes}`).join(', ')],
        ...way.path.notes.map((note): Row => ['', note]),
      ],
      columns,
    ),
  ])
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
