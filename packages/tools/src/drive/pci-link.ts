import { snapshot } from '@gpunvme/host-driver/pci'
import { findCapability, PCI_CAPABILITY, PciExpressCapability } from '@gpunvme/nvme-spec/pci'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'

/**
 * The link that a function has now, by its PCI Express capability. Undefined where no payload limit is known of it: no
 * capability, an answer of ones, a later generation. A link that was slowed down for the time being says the lower speed.
 */
export function pciLink(config: ConfigSpace | undefined): Link | undefined {
  if (config === undefined) return undefined
  const copy = snapshot(config)
  const at = findCapability(copy, PCI_CAPABILITY.PCI_EXPRESS)
  if (at === undefined) return undefined
  const { PXDC, PXLS } = PciExpressCapability
  const status = copy.getUint16(at + PXLS.offset, true)
  const mps = 128 << PXDC.MPS.of(copy.getUint16(at + PXDC.offset, true))
  const [gen, width] = [PXLS.CLS.of(status), PXLS.NLW.of(status)]
  const isKnown = gen >= 1 && gen <= 5 && [1, 2, 4, 8, 16].includes(width) && mps <= 4096
  return isKnown ? { gen: gen as Link['gen'], width, mps } : undefined
}
