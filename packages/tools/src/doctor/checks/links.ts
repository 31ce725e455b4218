import { isKnown, valueOf } from '../../machine/known.js'
import type { LinkShape, PciFunction } from '../../machine/pci-function.js'
import { functionAt } from '../../machine/index.js'
import { kernelParameter } from '../advice.js'
import { sysfs, type Facts } from '../facts.js'
import { command, finding, hands, read, type Draft, type Finding } from '../finding.js'
import { shapeText } from '../../machine/views/names.js'
import { payloadLimit } from '@gpunvme/nvme-spec/pcie'
import { formatRate } from '../../terminal/units.js'

/**
 * Checks the link of each GPU and drive to the port above it: its maximum, its current state and its recorded errors.
 */
export function checkLinks(facts: Facts): Finding[] {
  const { gpus, drives } = facts.machine
  const ends = [
    ...gpus.map(({ address }) => ({ address, kind: 'GPU' as const })),
    ...drives.map(({ address }) => ({ address, kind: 'drive' as const })),
  ]
  return ends
    .flatMap(({ address, kind }) => {
      const end = functionAt(facts.machine, address)
      return end === undefined ? [] : checkEnd(facts, end, kind)
    })
    .map((draft) => finding('links', draft))
}

type Kind = 'GPU' | 'drive'

function checkEnd(facts: Facts, end: PciFunction, kind: Kind): Draft[] {
  const subjects = [end.address]
  if (!end.isResponding) return [{ ...gone(end, kind), subjects }]
  const port = end.parent === undefined ? undefined : functionAt(facts.machine, end.parent)
  return [...linkShape(end, port, kind), ...payload(facts, end, port, kind), ...errors(end, kind)].map((draft) => ({
    ...draft,
    subjects,
  }))
}

function gone({ address, power }: PciFunction, kind: Kind): Draft {
  return {
    id: 'off-the-bus',
    severity: 'blocker',
    title: `The ${kind} at ${address} does not answer: its configuration space reads all ones`,
    cause: 'It is in D3cold, has lost power, or has left the bus, as drives may after a failed read by a GPU.',
    evidence: [
      read(sysfs(address, 'config'), '0xffffffff'),
      read(sysfs(address, 'power_state'), power.state ?? 'unknown'),
    ],
    steps: [
      command(`echo on | sudo tee ${sysfs(address, 'power/control')}`),
      hands('if that does not help: power off, wait ten seconds, power on'),
    ],
    closes: kind === 'drive' ? ['memory'] : ['tier1'],
  }
}

function linkShape(end: PciFunction, port: PciFunction | undefined, kind: Kind): Draft[] {
  const { address } = end
  const title = `${kind === 'GPU' ? 'GPU' : 'Drive'} ${address}`
  if (!isKnown(end.link))
    return [
      {
        id: 'link-unknown',
        severity: 'unknown',
        title: `${title}: link speed and width unknown`,
        evidence: [read(sysfs(address, 'config'), end.link.unknown)],
      },
    ]
  if (end.link === undefined) return []
  const { max } = end.link
  const portLink = port === undefined ? undefined : valueOf(port.link)
  const possible = portLink === undefined ? max : narrower(max, portLink.max)
  const mps = valueOf(end.packets)?.maxPayloadBytes ?? 128
  const limits = limitsOf(end, portLink?.max, kind)
  if (!isKnown(end.link.now))
    return [
      ...limits,
      {
        id: 'link-now-unknown',
        severity: 'unknown',
        title: `${title}: current link unknown`,
        evidence: [read(sysfs(address, 'current_link_speed'), end.link.now.unknown)],
      },
    ]
  const { now } = end.link
  const evidence = [
    read(sysfs(address, 'current_link_width'), now.lanes),
    read(sysfs(address, 'current_link_speed'), `Gen${now.gen}`),
  ]
  if (now.lanes < possible.lanes) return [...limits, { ...narrow(title, now, possible, mps), evidence }]
  if (now.gen < possible.gen) return [...limits, { ...slow(end, title, now, possible, kind, mps), evidence }]
  const rate = limitOf(now, mps)
  const carries = rate === undefined ? '' : `, at most ${rate} of payload`
  return [...limits, { id: 'link', severity: 'ok', title: `${title}: link ${shapeText(now)}${carries}`, evidence }]
}

/** The slot is the lower limit: not a fault, but a limit of the rate. */
function limitsOf(end: PciFunction, port: LinkShape | undefined, kind: Kind): Draft[] {
  if (!isKnown(end.link) || end.link === undefined || port === undefined) return []
  const { max } = end.link
  const possible = narrower(max, port)
  if (possible.gen === max.gen && possible.lanes === max.lanes) return []
  return [
    {
      id: 'slot-limits',
      severity: 'note',
      title: `${kind === 'GPU' ? 'GPU' : 'Drive'} ${end.address} supports ${shapeText(max)}, its slot ${shapeText(possible)}`,
      evidence: [read(sysfs(end.parent!, 'max_link_speed'), shapeText(port))],
    },
  ]
}

function narrow(title: string, now: LinkShape, possible: LinkShape, mps: number): Draft {
  return {
    id: 'link-narrow',
    severity: 'problem',
    title: `${title}: link has ${now.lanes} of ${possible.lanes} lanes`,
    cause: `${costOf(now, possible, mps)}Lanes do not change with load: check contacts, risers, and slots that share lanes.`,
    steps: [
      hands(
        'power off and reseat it; otherwise try another slot, and check the board manual for slots that share lanes',
      ),
    ],
  }
}

function slow(end: PciFunction, title: string, now: LinkShape, possible: LinkShape, kind: Kind, mps: number): Draft {
  const aspm = valueOf(end.aspm)?.enabled ?? []
  const sleeps = end.power.runtimeStatus === 'suspended' || (end.power.state ?? 'D0') !== 'D0'
  const isIdle = kind === 'GPU' || aspm.length > 0 || sleeps
  const what = `${title}: link is at Gen${now.gen} of Gen${possible.gen}`
  if (isIdle)
    return {
      id: 'link-slow-idle',
      severity: 'note',
      title: `${what}, which is normal while idle`,
      cause:
        kind === 'GPU'
          ? 'Idle GPUs lower their link speed. Check again under load.'
          : 'Power saving lowers it while idle. Check again while the drive is read.',
    }
  return {
    id: 'link-slow',
    severity: 'problem',
    title: what,
    cause: `${costOf(now, possible, mps)}No power saving is active on this link, so it was trained at this speed.`,
    steps: [hands('power off and reseat it; check firmware settings for the speed of the slot')],
  }
}

function costOf(now: LinkShape, possible: LinkShape, mps: number): string {
  const [has, could] = [limitOf(now, mps), limitOf(possible, mps)]
  return has === undefined || could === undefined ? '' : `It carries at most ${has} instead of ${could}. `
}

function payload({ machine }: Facts, end: PciFunction, port: PciFunction | undefined, kind: Kind): Draft[] {
  const [own, above] = [valueOf(end.packets), port === undefined ? undefined : valueOf(port.packets)]
  if (own === undefined || above === undefined) return []
  const name = `${kind === 'GPU' ? 'GPU' : 'Drive'} ${end.address}`
  const evidence = [
    read(`${end.address} DevCtl.MPS`, `${own.maxPayloadBytes} of ${own.maxPayloadSupportedBytes}`),
    read(`${port!.address} DevCtl.MPS`, `${above.maxPayloadBytes} of ${above.maxPayloadSupportedBytes}`),
  ]
  const possible = Math.min(own.maxPayloadSupportedBytes, above.maxPayloadSupportedBytes)
  const repair = kernelParameter(machine, { add: 'pci=pcie_bus_safe' })
  if (own.maxPayloadBytes !== above.maxPayloadBytes)
    return [
      {
        id: 'payload-mismatch',
        severity: own.maxPayloadBytes > above.maxPayloadBytes ? 'problem' : 'note',
        title: `${name} sends packets of up to ${own.maxPayloadBytes} bytes, its port ${above.maxPayloadBytes}`,
        cause:
          own.maxPayloadBytes > above.maxPayloadBytes
            ? 'The port treats larger packets than configured as errors, and the transfer fails.'
            : 'That works, but limits packets in one direction.',
        evidence,
        steps: repair,
      },
    ]
  if (own.maxPayloadBytes < possible)
    return [
      {
        id: 'payload-small',
        severity: 'note',
        title: `${name}: packets carry ${own.maxPayloadBytes} bytes, both ends support ${possible}`,
        evidence,
        steps: repair,
      },
    ]
  return [
    { id: 'payload', severity: 'ok', title: `${name}: packets of up to ${own.maxPayloadBytes} bytes`, evidence },
    ...(own.maxReadRequestBytes < 512
      ? [
          {
            id: 'read-request-small',
            severity: 'note' as const,
            title: `${name} requests at most ${own.maxReadRequestBytes} bytes per read`,
            evidence: [read(`${end.address} DevCtl.MRRS`, own.maxReadRequestBytes)],
          },
        ]
      : []),
  ]
}

function errors(end: PciFunction, kind: Kind): Draft[] {
  const held = valueOf(end.errors)
  if (held === undefined) return []
  const { correctable, uncorrectable } = held
  const name = `${kind === 'GPU' ? 'GPU' : 'Drive'} ${end.address}`
  const found: Draft[] = []
  if (uncorrectable.length > 0) {
    const isTimeout = kind === 'GPU' && uncorrectable.includes('CTS')
    found.push({
      id: 'link-errors',
      severity: 'problem',
      title: `${name} has recorded PCIe errors: ${uncorrectable.join(', ')}`,
      cause: isTimeout
        ? "A GPU's completion time-out indicates a failed read from another device: this board may drop such reads, and the drive may leave the bus."
        : 'They persist until cleared, and may be old. New ones mean a bad contact, a riser, or a failing device.',
      evidence: [read(`${end.address} AER UESta`, uncorrectable.join(', '))],
      steps: [command(`sudo dmesg | grep -i -e aer -e ${end.address}`)],
    })
  }
  if (correctable.length > 0)
    found.push({
      id: 'link-corrected',
      severity: 'note',
      title: `${name} has recorded corrected PCIe errors: ${correctable.join(', ')}`,
      evidence: [read(`${end.address} AER CESta`, correctable.join(', '))],
    })
  return found
}

/** Returns the shape that both ends of a link support. */
function narrower(a: LinkShape, b: LinkShape): LinkShape {
  return { gen: Math.min(a.gen, b.gen), lanes: Math.min(a.lanes, b.lanes) }
}

/**
 * Returns the payload limit at an MPS: '7.20 GB/s'; undefined for a link that the calculation does not support, such as
 * Gen6.
 */
function limitOf({ gen, lanes }: LinkShape, mps: number): string | undefined {
  const known = GENERATIONS.find((each) => each === gen)
  if (known === undefined || ![1, 2, 4, 8, 16].includes(lanes)) return undefined
  return formatRate(payloadLimit({ gen: known, width: lanes, mps }), 1e9)
}

const GENERATIONS = [1, 2, 3, 4, 5] as const
