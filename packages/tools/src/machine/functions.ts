import { PCI_CONFIG_BYTES, PciHeader } from '@gpunvme/nvme-spec/pci'
import { decodeConfig } from './config-space.js'
import { isKnown, unknown, type Known } from './known.js'
import type { Bar, FunctionKind, Link, LinkShape, PciFunction, Power } from './pci-function.js'
import type { PciNames } from './pci-ids.js'
import type { Root } from './root.js'

const DEVICES = 'sys/bus/pci/devices'
const ADDRESS = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$/
const BRIDGE = 0x0604
const HOST_BRIDGE = 0x0600

/** Reads all PCI functions, by address. Wakes no device: for one in D3cold, only data kept by the kernel are read. */
export async function readFunctions(root: Root, names: PciNames): Promise<PciFunction[]> {
  const addresses = (await root.list(DEVICES)).filter((name) => ADDRESS.test(name))
  return tellSwitches(await Promise.all(addresses.map((address) => readFunction(root, names, address))))
}

/**
 * Identifies switches that appear only as bridges without root: a bridge with a link and with child bridges that have
 * links is an upstream port; the children are its downstream ports.
 */
function tellSwitches(functions: readonly PciFunction[]): PciFunction[] {
  const isBridge = ({ kind, link }: PciFunction) => kind === 'bridge' && isKnown(link) && link !== undefined
  const bridges = functions.filter(isBridge)
  const upstream = new Set(bridges.flatMap(({ parent }) => parent ?? []))
  return functions.map((found): PciFunction => {
    if (!isBridge(found)) return found
    if (upstream.has(found.address)) return { ...found, kind: 'switch-upstream' }
    return found.parent !== undefined && bridges.some(({ address }) => address === found.parent)
      ? { ...found, kind: 'switch-downstream' }
      : found
  })
}

async function readFunction(root: Root, names: PciNames, address: string): Promise<PciFunction> {
  const path = `${DEVICES}/${address}`
  const place = root.resolve(path)
  const power = await readPower(root, path)
  const { bytes, why } = await readConfig(root, path, power)
  const { kind, ...decoded } = decodeConfig(bytes, why)
  const vendorId = (await root.number(`${path}/vendor`)) ?? 0xffff
  const deviceId = (await root.number(`${path}/device`)) ?? 0xffff
  const classCode = (await root.number(`${path}/class`)) ?? 0
  const { hostBridge, parent } = placeInTree(place, address)
  const override = await root.text(`${path}/driver_override`)
  const group = Number(await root.linkName(`${path}/iommu_group`))
  const numaNode = await root.number(`${path}/numa_node`)
  const named = { vendorName: names.vendor(vendorId), deviceName: names.device(vendorId, deviceId) }
  return {
    ...{ address, vendorId, deviceId },
    subsystemVendorId: await root.number(`${path}/subsystem_vendor`),
    subsystemId: await root.number(`${path}/subsystem_device`),
    classCode,
    revision: await root.number(`${path}/revision`),
    ...named,
    driver: await root.linkName(`${path}/driver`),
    driverOverride: override === undefined || override === '(null)' || override === '' ? undefined : override,
    group: Number.isNaN(group) ? undefined : group,
    numaNode: numaNode === undefined || numaNode < 0 ? undefined : numaNode,
    ...{ hostBridge, parent },
    kind: kindOf(kind, classCode, parent, bytes),
    link: await readLink(root, path),
    bars: await readBars(root, path),
    power,
    ...decoded,
  }
}

/** Reading configuration space would wake a device in D3cold, such as a laptop's GPU. */
async function readConfig(
  root: Root,
  path: string,
  { state }: Power,
): Promise<{ readonly bytes: Uint8Array | undefined; readonly why: string }> {
  if (state === 'D3cold') return { bytes: undefined, why: 'it is in D3cold, and reading would wake it' }
  const bytes = await root.bytes(`${path}/config`, 4096)
  return { bytes, why: root.why(`${path}/config`).unknown }
}

/** The bridges above a function are its parent directories: .../pci0000:00/0000:00:01.1/0000:01:00.0. */
function placeInTree(place: string, address: string): { hostBridge: string; parent: string | undefined } {
  const folders = place.split('/')
  const parent = folders.slice(0, -1).findLast((folder) => ADDRESS.test(folder))
  const bridge = folders.findLast((folder) => /^pci[0-9a-f]{4,8}:[0-9a-f]{2}$/.test(folder))
  return { hostBridge: bridge?.slice(3) ?? address.slice(0, address.lastIndexOf(':')), parent }
}

function kindOf(
  known: FunctionKind | undefined,
  classCode: number,
  parent: string | undefined,
  bytes: Uint8Array | undefined,
): FunctionKind {
  if (known !== undefined) return known
  const isBridge = classCode >>> 8 === BRIDGE
  if (isBridge) return parent === undefined && isExpressUnknown(bytes) ? 'root-port' : 'bridge'
  if (classCode >>> 8 === HOST_BRIDGE) return 'host-bridge'
  return parent === undefined ? 'integrated-endpoint' : 'endpoint'
}

/** Returns whether a PCI Express capability may exist but was not visible. */
function isExpressUnknown(bytes: Uint8Array | undefined): boolean {
  return bytes === undefined || bytes.length < PCI_CONFIG_BYTES || PciHeader.view(viewOf(bytes)).VID === 0xffff
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const SPEEDS = ['2.5', '5.0', '8.0', '16.0', '32.0', '64.0']

/** Reads '16.0 GT/s PCIe' and the number of lanes, which the kernel takes from the PCI Express capability. */
async function readLink(root: Root, path: string): Promise<Known<Link | undefined>> {
  if (!(await root.exists(`${path}/max_link_speed`))) return undefined
  const max = await readShape(root, path, 'max')
  const now = await readShape(root, path, 'current')
  // Functions integrated into the root complex have the capability without a link.
  if (max === undefined)
    return now === undefined ? undefined : unknown('the kernel does not report the maximum of its link')
  return { max, now: now ?? unknown('the link is down, or the function is asleep') }
}

async function readShape(root: Root, path: string, which: 'max' | 'current'): Promise<LinkShape | undefined> {
  const speed = await root.text(`${path}/${which}_link_speed`)
  const lanes = await root.number(`${path}/${which}_link_width`)
  const gen = SPEEDS.findIndex((text) => speed?.startsWith(`${text} GT/s`)) + 1
  return gen === 0 || lanes === undefined || lanes < 1 || lanes > 32 ? undefined : { gen, lanes }
}

// Linux include/linux/ioport.h.
const IORESOURCE = { io: 0x100, memory: 0x200, prefetch: 0x2000, wide: 0x10_0000 } as const

/**
 * Reads BARs from sysfs: one line per BAR with first address, last address and flags. An unassigned BAR is all zeros.
 */
async function readBars(root: Root, path: string): Promise<Bar[]> {
  const lines = ((await root.text(`${path}/resource`)) ?? '').split('\n').slice(0, 6)
  return lines.flatMap((line, bar) => {
    const [start = 0, end = 0, flags = 0] = line.split(' ').map(Number)
    if (!(end > start)) return []
    return [
      {
        bar,
        space: (flags & IORESOURCE.io) !== 0 ? ('io' as const) : ('memory' as const),
        is64Bit: (flags & IORESOURCE.wide) !== 0,
        isPrefetchable: (flags & IORESOURCE.prefetch) !== 0,
        address: start,
        sizeBytes: end - start + 1,
      },
    ]
  })
}

async function readPower(root: Root, path: string): Promise<Power> {
  const allowed = await root.number(`${path}/d3cold_allowed`)
  return {
    state: await root.text(`${path}/power_state`),
    control: await root.text(`${path}/power/control`),
    runtimeStatus: await root.text(`${path}/power/runtime_status`),
    isD3coldAllowed: allowed === undefined ? undefined : allowed === 1,
  }
}
