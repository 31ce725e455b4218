import type { Root } from './root.js'

const PLACES = ['usr/share/hwdata/pci.ids', 'usr/share/misc/pci.ids', 'usr/share/pci.ids']

/** Names of vendors and devices, from the list that distributions ship. */
export interface PciNames {
  readonly vendor: (vendorId: number) => string | undefined
  readonly device: (vendorId: number, deviceId: number) => string | undefined
}

/** Reads the list of PCI IDs, https://pci-ids.ucw.cz: vendors at the start of a line, devices after a tab. */
export async function readPciNames(root: Root): Promise<PciNames> {
  let text: string | undefined
  for (const place of PLACES) text ??= await root.text(place)
  const vendors = new Map<string, string>()
  const devices = new Map<string, string>()
  let vendor = ''
  for (const line of (text ?? '').split('\n')) {
    // Classes follow the vendors and differ only by the C.
    if (line.startsWith('C ')) break
    const [, tab, id = '', name = ''] = /^(\t?)([0-9a-f]{4}) {2}(.+)$/.exec(line) ?? []
    if (id === '') continue
    if (tab === '') {
      vendor = id
      vendors.set(id, name)
    } else devices.set(vendor + id, name)
  }
  return {
    vendor: (vendorId) => vendors.get(hex(vendorId)),
    device: (vendorId, deviceId) => devices.get(hex(vendorId) + hex(deviceId)),
  }
}

function hex(id: number): string {
  return id.toString(16).padStart(4, '0')
}
