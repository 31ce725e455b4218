import { isKnown } from '../../machine/known.js'
import { lanesOf, pathBetween, type Path } from '../../machine/index.js'
import { kernelParameter } from '../advice.js'
import { formatRate } from '../../terminal/units.js'
import type { Facts } from '../facts.js'
import { finding, hands, read, type Draft, type Finding } from '../finding.js'
import { shapeText } from '../../machine/views/names.js'

/**
 * Checks the path between each drive and each GPU, and whether reads and writes pass there: tiers 2 and 3, and
 * doorbells rung by the GPU.
 */
export function checkPaths({ machine }: Facts): Finding[] {
  const { gpus, drives, functions } = machine
  const isListed = ({ address }: { readonly address: string }) =>
    functions.some((each) => each.address === address && each.isResponding)
  const listed = drives.filter(isListed)
  return [
    ...listed.flatMap(({ address }) => lanes(machine, address)),
    ...gpus
      .filter((gpu) => gpu.vendor === 'NVIDIA' && isListed(gpu))
      .flatMap((gpu) => listed.flatMap((drive) => between(machine, pathBetween(machine, drive.address, gpu.address)))),
  ].map((draft) => finding('links', draft))
}

function lanes(machine: Facts['machine'], address: string): Draft[] {
  const { of: whose, evidence } = lanesOf(machine, address)
  const about = { subjects: [address], evidence: [read('', evidence)] }
  if (whose === 'unknown') return []
  if (whose === 'cpu')
    return [{ ...about, id: 'drive-on-cpu', severity: 'ok', title: `Drive ${address} is on CPU lanes` }]
  return [
    {
      ...about,
      id: 'drive-on-chipset',
      severity: 'note',
      title: `Drive ${address} is on the chipset, whose link it shares with other devices`,
      steps: [
        hands('for full speed, use an M.2 slot with CPU lanes (see the board manual; often the one next to the GPU)'),
      ],
    },
  ]
}

function between(machine: Facts['machine'], path: Path): Draft[] {
  const { from, to, notes } = path
  const subjects = [from, to]
  const cause = notes.length === 0 ? {} : { cause: notes.map(sentence).join(' ') }
  return [...meeting(path), ...passing(path), ...detours(machine, path)].map((draft) => ({
    subjects,
    ...cause,
    ...draft,
  }))
}

/** Ports of a switch that redirect traffic between neighbours to the root complex (ACS). */
function detours(machine: Facts['machine'], { from, to, notes }: Path): Draft[] {
  const ports = notes.flatMap((note) => /^ACS redirect at (\S+)/.exec(note)?.[1] ?? [])
  return ports.map((port) => ({
    id: 'acs-redirect',
    severity: 'note',
    title: `${from} and ${to} are below one switch, but ACS redirect at ${port} separates them`,
    cause:
      'Traffic between them goes through the root complex: slower, if it works at all. Without the redirect, an IOMMU cannot isolate the two.',
    evidence: [read(`${port} ACS control`, 'RR')],
    steps: kernelParameter(machine, { add: `pci=disable_acs_redir=${port}` }),
  }))
}

function passing(path: Path): Draft[] {
  const { from, to, writes: w, reads: r } = path
  if (w.passes !== 'unknown' || r.passes !== 'unknown' || w.reason !== r.reason)
    return [...writes(path), ...reads(path)]
  return [
    {
      id: 'peers-untold',
      severity: 'note',
      title: `Peer-to-peer access between ${from} and ${to} is unknown until it is tested`,
      cause: sentence(w.reason),
      evidence: [read('', w.reason)],
    },
  ]
}

const MEETINGS: Readonly<Record<Path['meeting'], string>> = {
  'same-switch': 'below one switch',
  'same-host-bridge': 'at the same host bridge',
  'same-socket': 'in one processor',
  'across-sockets': 'across processors',
  unknown: 'at an unknown place',
}

function meeting({ from, to, meeting: where, meetAt, slowest }: Path): Draft[] {
  const carries = isKnown(slowest)
    ? `: at most ${formatRate(slowest.payloadBytesPerSecond, 1e9)}, by the ${shapeText(slowest)} of ${slowest.address}`
    : ''
  const evidence = [read('/sys/devices', meetAt === undefined ? 'two host bridges' : `they meet at ${meetAt}`)]
  const title = `${from} and ${to} meet ${MEETINGS[where]}${carries}`
  if (where !== 'across-sockets') return [{ id: 'path', severity: 'ok', title, evidence }]
  return [
    {
      id: 'path-across-sockets',
      severity: 'note',
      title: `${from} and ${to} are on different CPUs: traffic between them is slow`,
      evidence,
      steps: [hands('use slots of the same CPU (see the board manual)')],
    },
  ]
}

/** Writes: doorbells rung by a GPU, and drive data written to GPU memory. */
function writes({ from, to, writes: { passes, reason } }: Path): Draft[] {
  const evidence = [read('', reason)]
  if (passes === 'likely')
    return [
      {
        id: 'writes-pass',
        severity: 'ok',
        title: `Writes between ${from} and ${to} are expected to arrive`,
        evidence,
        opens: ['tier1-cuda', 'tier2-dma-buf', 'tier2-static-bar1'],
      },
    ]
  const isNever = passes === 'never'
  return [
    {
      id: isNever ? 'writes-stopped' : 'writes-untold',
      severity: 'note',
      title: `Writes between ${from} and ${to} ${isNever ? 'do not arrive' : 'may be dropped (unknown)'}`,
      cause: sentence(reason),
      evidence,
      closes: isNever ? ['tier1-cuda', 'tier2-dma-buf', 'tier2-static-bar1'] : [],
    },
  ]
}

/** Reads by a drive from GPU memory. A GPU never reads a drive's registers. */
function reads({ from, to, reads: { passes, reason } }: Path): Draft[] {
  const evidence = [read('', reason)]
  if (passes === 'likely')
    return [
      {
        id: 'reads-pass',
        severity: 'ok',
        title: `Reads between ${from} and ${to} are expected to be answered`,
        evidence,
        opens: ['tier3'],
      },
    ]
  const isNever = passes === 'never'
  return [
    {
      id: isNever ? 'reads-stopped' : 'reads-untold',
      severity: 'note',
      title: `Reads between ${from} and ${to} ${isNever ? 'are not answered' : 'may not be answered'} (tier 3)`,
      cause: sentence(reason),
      evidence,
      closes: isNever ? ['tier3'] : [],
    },
  ]
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
