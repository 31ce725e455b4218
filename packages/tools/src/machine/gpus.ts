import { isKnown, unknown, type Known } from './known.js'
import type { Gpu, GpuWindow } from './machine.js'
import type { PciFunction } from './pci-function.js'
import type { Root } from './root.js'

/** Base class 03h: display controllers, 3D controllers among them. */
const DISPLAY = 0x03

/** Vendors of GPUs for computing; a server's management controller has a display too. */
const VENDORS = new Map<number, Gpu['vendor']>([
  [0x10de, 'NVIDIA'],
  [0x1002, 'AMD'],
  [0x8086, 'Intel'],
])

export function readGpus(root: Root, functions: readonly PciFunction[]): Promise<Gpu[]> {
  const gpus = functions.flatMap((found) => {
    const vendor = VENDORS.get(found.vendorId)
    return found.classCode >>> 16 === DISPLAY && vendor !== undefined ? [{ found, vendor }] : []
  })
  return Promise.all(
    gpus.map(async ({ found, vendor }) => ({
      address: found.address,
      vendor,
      // Intel's fixed address of integrated graphics.
      isIntegrated: vendor === 'Intel' && found.address === '0000:00:02.0',
      model: await modelOf(root, found),
      memoryBytes: await memoryOf(root, found, vendor),
      window: windowOf(found, vendor),
    })),
  )
}

async function modelOf(root: Root, { address, deviceName }: PciFunction): Promise<Known<string>> {
  const information = await root.text(`proc/driver/nvidia/gpus/${address}/information`)
  const [, model] = /^Model:\s*(.+)$/m.exec(information ?? '') ?? []
  // 'GA102 [GeForce RTX 3090]': the chip, and in brackets its product name.
  const sold = /\[(.+)\]/.exec(deviceName ?? '')?.[1] ?? deviceName
  return model ?? sold ?? unknown('neither its driver nor the list of PCI IDs has its name')
}

async function memoryOf(root: Root, { address }: PciFunction, vendor: Gpu['vendor']): Promise<Known<number>> {
  if (vendor === 'NVIDIA') return unknown('only its driver reports it, through CUDA or nvidia-smi')
  const path = `sys/bus/pci/devices/${address}/mem_info_vram_total`
  return (await root.number(path)) ?? root.why(path)
}

function windowOf({ bars, resizableBars }: PciFunction, vendor: Gpu['vendor']): Known<GpuWindow> {
  const memory = bars.filter(({ space }) => space === 'memory')
  const prefetchable = memory.filter(({ isPrefetchable }) => isPrefetchable)
  const largest = prefetchable.toSorted((a, b) => b.sizeBytes - a.sizeBytes)[0]
  const window = vendor === 'NVIDIA' ? memory[1] : largest
  if (window === undefined) return unknown('its window has no address: firmware found no space for it')
  const sizesBytes = isKnown(resizableBars)
    ? resizableBars.find(({ bar }) => bar === window.bar)?.sizesBytes
    : resizableBars
  return { bar: window.bar, sizeBytes: window.sizeBytes, address: window.address, sizesBytes }
}
