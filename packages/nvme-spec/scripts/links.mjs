// Helpers for the tables of docs/reference/spec-map.md.

/** Matches a source that a doc comment cites. */
export const cited =
  /(?:Base 2\.[123]|NVM 1\.2|PCIe 1\.2|ZNS 1\.1|TCP 1\.0|RDMA 1\.0) (?:§[\d.]*\d|Figures? \d+(?: and \d+)?)|(?:libnvme|Linux) \d+\.\d+ [\w/.]+(?: \w+)?|vfio-user \d+\.\d+\.\d+ \w+/

/** Returns a link from docs/reference to a file of the package. */
export function link(/** @type {string} */ file) {
  return `[${file}](../../packages/nvme-spec/${file})`
}
