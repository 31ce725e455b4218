import { loadHardwareHost } from '@gpunvme/cuda-native/host'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { OpenedTransport } from './opened-transport.js'
import { pciLink } from './pci-link.js'

/** A drive on this machine's bus. */
export interface HardwareOptions {
  /** PCI address: '0000:0b:00.0'. */
  readonly address: string
}

/** Opens a drive that is bound to user space by `gpunvme bind`, or `bindDriver` in programs. */
export async function openHardware(
  name: 'sysfs' | 'vfio' | 'kmod',
  { address }: HardwareOptions,
): Promise<OpenedTransport> {
  const transport = await OPEN[name](address)
  return {
    name,
    transport,
    time: 'wall',
    link: pciLink(transport.config),
    serial: undefined,
    hostError: () => undefined,
    close: () => transport.close(),
  }
}

/** Loaded on demand: most commands open no hardware. */
const OPEN: Readonly<Record<'sysfs' | 'vfio' | 'kmod', (address: string) => Promise<Transport>>> = {
  async sysfs(bdf) {
    const { openSysfs } = await import('@gpunvme/host-driver/sysfs')
    return openSysfs({ host: loadHardwareHost(), bdf })
  },
  async vfio(bdf) {
    const { openVfio } = await import('@gpunvme/host-driver/vfio')
    return openVfio({ host: loadHardwareHost(), bdf })
  },
  async kmod(device) {
    const { openKmod } = await import('@gpunvme/host-driver/kmod')
    return openKmod({ host: loadHardwareHost(), device })
  },
}
