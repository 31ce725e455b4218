import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { NS_PER_MS } from '../wait.js'

/**
 * Controllers whose CSTS must not be read for a while after CC.EN was cleared, by Vendor ID and Device ID. From Linux's
 * NVME_QUIRK_DELAY_BEFORE_CHK_RDY (drivers/nvme/host/pci.c), whose delay was found by trial.
 */
const SLOW_TO_DISABLE: readonly (readonly [vid: number, did: number, name: string])[] = [
  [0x144d, 0xa821, 'Samsung PM1725'],
  [0x144d, 0xa822, 'Samsung PM1725a'],
  [0x1bb1, 0x0100, 'Seagate Nytro'],
  [0x1c58, 0x0003, 'HGST SN100'],
  [0x1c58, 0x0023, 'WDC SN200'],
  [0x1c5f, 0x0540, 'Memblaze PBlaze4'],
]
const SLOW_TO_DISABLE_NS = 2_300 * NS_PER_MS

/** Returns how long CSTS must not be read after CC.EN was cleared, in nanoseconds; 0 for most controllers. */
export function delayBeforeReadyCheckNs(config: ConfigSpace | undefined): number {
  if (config === undefined) return 0
  const [vid, did] = [PciHeader.VID, PciHeader.DID].map(({ offset }) => config.read(offset, 2))
  return SLOW_TO_DISABLE.some(([vendor, device]) => vendor === vid && device === did) ? SLOW_TO_DISABLE_NS : 0
}
