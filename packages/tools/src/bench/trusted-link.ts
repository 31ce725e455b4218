import type { Link } from '@gpunvme/nvme-spec/pcie'

/** Emulated drives, whose link is a register value without effect. */
const EMULATED = /^QEMU /

/** Returns the link that limits a drive; undefined if it is unknown or emulated. @param model from Identify. */
export function trustedLink(model: string, link: Link | undefined): Link | undefined {
  return EMULATED.test(model) ? undefined : link
}
