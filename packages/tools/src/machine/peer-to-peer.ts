import { isKnown, unknown } from './known.js'
import { lanesOf } from './lanes.js'
import type { Machine } from './machine.js'
import type { PciFunction } from './pci-function.js'

/** Where two functions meet, from the nearest to the farthest. */
export type Meeting = 'same-switch' | 'same-host-bridge' | 'same-socket' | 'across-sockets' | 'unknown'

/** Whether transfers are expected to pass, and why. Only a probe proves it. */
export interface Verdict {
  readonly passes: 'likely' | 'never' | 'unknown'
  readonly reason: string
}

export interface Way {
  readonly a: PciFunction
  readonly b: PciFunction
  readonly meeting: Meeting
  /** The bridge above both. */
  readonly common: PciFunction | undefined
  /** Functions from `a` up to the meeting point, exclusive, and from `b`. */
  readonly rising: readonly PciFunction[]
  readonly falling: readonly PciFunction[]
}

export interface Judgement {
  readonly writes: Verdict
  readonly reads: Verdict
  readonly notes: readonly string[]
}

/**
 * Root buses whose first function makes Linux assume that the root complex passes P2P between root ports, and those
 * where it does so only below one host bridge (Linux drivers/pci/p2pdma.c, pci_p2pdma_whitelist).
 */
const PASSING = new Set([0x2030, 0x2031, 0x2032, 0x2033, 0x2020, 0x09a2])
const PASSING_WITHIN = new Set([0x3c00, 0x3c01, 0x2f00, 0x2f01])

const AMD = 0x1022
const INTEL = 0x8086

/** Zen: Linux assumes support (cpu_supports_p2pdma). */
const ZEN_FAMILY = 0x17

/** The root complex of AM4 and of Zen 2 and 3 servers. */
const MATISSE = 0x1480

/** Judges transfers between two functions. */
export function judge(machine: Machine, way: Way): Judgement {
  const both = (verdict: Verdict): Judgement => ({ writes: verdict, reads: verdict, notes: [] })
  const gone = [way.a, way.b].find(({ isResponding }) => !isResponding)
  if (gone !== undefined)
    return both({ passes: 'never', reason: `${gone.address} does not respond: it is off the bus` })
  if (machine.virtualisation.hypervisor !== undefined)
    return both({ passes: 'unknown', reason: 'it depends on the host, which is not visible from a virtual machine' })
  if (way.common === undefined) return { ...throughRoot(machine, way), notes: chipsetNotes(machine, way) }
  const redirect = redirectOf(way)
  if (!isKnown(redirect))
    return both({ passes: 'unknown', reason: `ACS of the switch is unknown; ${redirect.unknown}` })
  const at = way.common.address
  if (redirect === undefined)
    return both({ passes: 'likely', reason: `they meet in the switch at ${at}, whose ports do not redirect (ACS)` })
  const detour = `ACS redirect at ${redirect.address} routes all traffic through the root complex`
  return { ...throughRoot(machine, way), notes: [detour] }
}

/** Returns the first port below the common switch that redirects requests upwards. */
function redirectOf({ rising, falling }: Way): PciFunction | undefined | { readonly unknown: string } {
  const ports = [rising.at(-1), falling.at(-1)].flatMap((port) => port ?? [])
  for (const port of ports) {
    if (!isKnown(port.acs)) return unknown(port.acs.unknown)
    if (port.acs?.enabled.some((bit) => bit === 'RR' || bit === 'EC')) return port
  }
  return undefined
}

function throughRoot(machine: Machine, way: Way): Pick<Judgement, 'writes' | 'reads'> {
  const { a, b, meeting } = way
  const behindVmd = [a, b].find(({ address }) => !address.startsWith('0000:') && address.length > 12)
  if (behindVmd !== undefined) {
    const reason = `${behindVmd.address} is behind VMD, whose P2P support is unknown`
    return { writes: { passes: 'unknown', reason }, reads: { passes: 'unknown', reason } }
  }
  const across = meeting === 'across-sockets' ? '; slowly between sockets' : ''
  const { vendor, family = 0 } = machine.cpu
  if (vendor === 'AMD' && family >= ZEN_FAMILY) {
    const reason = `Linux assumes that AMD processors since Zen pass P2P between root ports${across}`
    const doubtful = 'on AM4 desktops, peer reads were observed to return all ones'
    const reads: Verdict = isDesktopMatisse(machine)
      ? { passes: 'unknown', reason: doubtful }
      : { passes: 'likely', reason }
    return { writes: { passes: 'likely', reason }, reads }
  }
  const verdict: Verdict = isPassing(machine, way)
    ? { passes: 'likely', reason: `Linux lists this root complex as passing P2P between root ports${across}` }
    : {
        passes: 'unknown',
        reason: 'Linux does not list this root complex as passing P2P between root ports',
      }
  return { writes: verdict, reads: verdict }
}

function isDesktopMatisse({ functions, cpu }: Machine): boolean {
  const first = functions.find(({ address }) => address === '0000:00:00.0')
  return first?.vendorId === AMD && first.deviceId === MATISSE && cpu.sockets === 1 && cpu.threads <= 32
}

function isPassing(machine: Machine, { a, b, meeting }: Way): boolean {
  const first = [a, b].map(({ hostBridge }) => firstBelow(machine, hostBridge))
  return first.every((found) => {
    if (found?.vendorId !== INTEL) return false
    return PASSING.has(found.deviceId) || (meeting === 'same-host-bridge' && PASSING_WITHIN.has(found.deviceId))
  })
}

/** The first function of a root bus counts if it is function 00.0 or a root port. */
function firstBelow({ functions }: Machine, hostBridge: string): PciFunction | undefined {
  const first = functions.find((found) => found.hostBridge === hostBridge && found.parent === undefined)
  return first?.address.endsWith(':00.0') || first?.kind === 'root-port' ? first : undefined
}

/** Functions behind a chipset share its link to the CPU. */
function chipsetNotes(machine: Machine, { a, b }: Way): string[] {
  return [a, b].flatMap(({ address }) => {
    const { of, uplink } = lanesOf(machine, address)
    if (of !== 'chipset') return []
    return uplink === undefined
      ? ["the chipset's link to the CPU (DMI) is shared and not visible: it may be slower"]
      : [`${uplink} is the chipset's link to the CPU, shared with disks, USB and network`]
  })
}
