import { snapshot } from '@gpunvme/host-driver/pci'
import { findCapability, PCI_CAPABILITY, PciExpressCapability } from '@gpunvme/nvme-spec/pci'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'

/**
 * Returns the current link of a function from its PCI Express capability. Undefined without a known payload limit: no
 * capability, all ones, a later generation. A temporarily slower link has the lower speed.
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
