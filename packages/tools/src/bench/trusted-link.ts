import type { Link } from '@gpunvme/nvme-spec/pcie'

/** Drives that another program makes up: their link is a number in a register, and nothing goes over it. */
const EMULATED = /^QEMU /

/** The link that limits a drive; undefined where it is unknown, or is none. @param model as Identify has it. */
export function trustedLink(model: string, link: Link | undefined): Link | undefined {
  return EMULATED.test(model) ? undefined : link
}
