import { configBytes, type Buses, type PlacedBar } from './config-bytes.js'
import type { Described, DescribedFunction, Shape } from './described.js'
import type { TreeWriter } from './tree-writer.js'

/** A function with its bridges, IOMMU group and addresses. */
export interface Placed {
  readonly found: DescribedFunction
  /** Address with domain. */
  readonly address: string
  /** sys/devices/pci0000:00/0000:00:01.1/0000:01:00.0 */
  readonly folder: string
  readonly group: number | undefined
  readonly bars: readonly PlacedBar[]
}

const MIB = 2 ** 20
const SPEEDS = [
  'Unknown',
  '2.5 GT/s PCIe',
  '5.0 GT/s PCIe',
  '8.0 GT/s PCIe',
  '16.0 GT/s PCIe',
  '32.0 GT/s PCIe',
  '64.0 GT/s PCIe',
]

/** Returns all functions of a machine, each bridge before the functions behind it. */
export function placeFunctions(machine: Described): Placed[] {
  const placed: Placed[] = []
  const room = { low: 0xe000_0000, high: 0x7c_0000_0000 }
  const hasGroups = machine.iommu === 'passthrough' || machine.iommu === 'translated'
  let groups = 0
  const add = (given: DescribedFunction, domain: string, above: string, shared: number | undefined, port?: Shape) => {
    const found = { ...given, now: given.now ?? agreed(given.max, port) }
    const address = found.address.length > 7 ? found.address : `${domain}:${found.address}`
    const folder = `${above}/${address}`
    const group = hasGroups ? (shared ?? groups++) : undefined
    placed.push({ found, address, folder, group, bars: placeBars(found, room) })
    // As in Linux, functions that a port does not isolate share its group.
    const isolates = found.type === 'upstream' || (found.acs?.includes('RR') ?? false)
    for (const behind of found.behind ?? []) {
      const inner = behind.address.length > 7 ? behind.address.slice(0, -8) : domain
      const below = inner === domain ? folder : `${folder}/pci${behind.address.slice(0, -5)}`
      add(behind, inner, below, isolates ? undefined : group, found.max)
    }
  }
  for (const [bridge, functions] of Object.entries(machine.pci)) {
    for (const found of functions) add(found, bridge.slice(0, -3), `sys/devices/pci${bridge}`, undefined)
  }
  return placed
}

/** Returns the link that both ends support. */
function agreed(max: Shape | undefined, port: Shape | undefined): Shape | undefined {
  if (max === undefined || port === undefined) return max
  return { gen: Math.min(max.gen, port.gen), lanes: Math.min(max.lanes, port.lanes) }
}

function placeBars({ bars = [] }: DescribedFunction, room: { low: number; high: number }): PlacedBar[] {
  return bars.map((bar) => {
    const sizeBytes = bar.mib * MIB
    const where = bar.is64Bit && bar.isPrefetchable && bar.mib > 16 ? 'high' : 'low'
    const address = Math.ceil(room[where] / sizeBytes) * sizeBytes
    room[where] = address + sizeBytes
    return { ...bar, address }
  })
}

export function writeFunctions(tree: TreeWriter, machine: Described, placed: readonly Placed[]): void {
  for (const one of placed) writeFunction(tree, machine, one, busesOf(one))
  const groups = new Set(placed.map(({ group }) => group))
  for (const group of groups) {
    if (group === undefined) continue
    tree.file(`sys/kernel/iommu_groups/${group}/type`, machine.iommu === 'passthrough' ? 'identity' : 'DMA-FQ')
  }
}

function busesOf({ found, address }: Placed): Buses | undefined {
  if (found.classCode >>> 8 !== 0x0604) return undefined
  const bus = (text: string) => Number.parseInt(text.slice(-7, -5), 16)
  const within = (inner: DescribedFunction): number[] => [bus(inner.address), ...(inner.behind ?? []).flatMap(within)]
  const behind = (found.behind ?? []).flatMap(within)
  const primary = bus(address)
  const secondary = behind.length === 0 ? primary + 1 : Math.min(...behind)
  return { primary, secondary, subordinate: Math.max(secondary, ...behind) }
}

function writeFunction(tree: TreeWriter, machine: Described, placed: Placed, buses: Buses | undefined): void {
  const { found, address, folder, group, bars } = placed
  const put = (name: string, value: string | number | Uint8Array) => tree.file(`${folder}/${name}`, value)
  const hex = (value: number, digits: number) => `0x${value.toString(16).padStart(digits, '0')}`
  tree.link(`sys/bus/pci/devices/${address}`, folder)
  put('vendor', hex(found.vendor, 4))
  put('device', hex(found.device, 4))
  put('subsystem_vendor', hex(found.vendor, 4))
  put('subsystem_device', hex(found.device, 4))
  put('class', hex(found.classCode, 6))
  put('revision', '0xa1')
  put('irq', 0)
  const config = configBytes(found, bars, buses)
  put('config', machine.isRoot === false ? config.subarray(0, 64) : config)
  put('resource', resourceLines(bars))
  put('numa_node', found.node ?? -1)
  put('driver_override', found.driverOverride ?? '(null)')
  put('power_state', found.power?.state ?? 'D0')
  put('power/control', found.power?.control ?? (found.type === 'endpoint' ? 'on' : 'auto'))
  put('power/runtime_status', found.power?.runtime ?? 'active')
  if (found.misc !== undefined) tree.folder(`${folder}/misc/${found.misc}`)
  put('d3cold_allowed', found.power?.d3cold === false ? 0 : 1)
  if (found.max !== undefined) writeLink(put, found.max, found.isGone ? 'down' : (found.now ?? found.max))
  if (found.driver !== undefined) tree.link(`${folder}/driver`, `sys/bus/pci/drivers/${found.driver}`)
  if (found.vramMib !== undefined) put('mem_info_vram_total', found.vramMib * MIB)
  if (group !== undefined) {
    tree.link(`${folder}/iommu_group`, `sys/kernel/iommu_groups/${group}`)
    tree.link(`sys/kernel/iommu_groups/${group}/devices/${address}`, folder)
  }
}

function writeLink(put: (name: string, value: string | number) => void, max: Shape, now: Shape | 'down'): void {
  put('max_link_speed', SPEEDS[max.gen]!)
  put('max_link_width', max.lanes)
  put('current_link_speed', now === 'down' ? 'Unknown' : SPEEDS[now.gen]!)
  put('current_link_width', now === 'down' ? 0 : now.lanes)
}

/** Linux include/linux/ioport.h: IORESOURCE_MEM 200h, _PREFETCH 2000h, _SIZEALIGN 40000h, _MEM_64 100000h. */
function resourceLines(bars: readonly PlacedBar[]): string {
  const none = '0x0000000000000000 0x0000000000000000 0x0000000000000000'
  const hex = (value: number) => `0x${value.toString(16).padStart(16, '0')}`
  const lines = Array.from({ length: 13 }, (_, index) => {
    const bar = bars.find((candidate) => candidate.bar === index)
    if (bar === undefined) return none
    const flags = 0x4_0200 + (bar.isPrefetchable ? 0x2000 : 0) + (bar.is64Bit ? 0x10_0000 : 0)
    return `${hex(bar.address)} ${hex(bar.address + bar.mib * MIB - 1)} ${hex(flags)}`
  })
  return lines.join('\n')
}
