/**
 * Where a declaration comes from. A reference without a revision does not compile: section numbers move between
 * revisions, and a number that cannot be looked up is no evidence.
 */
export type SpecRef = `${'Base 2.1' | 'NVM 1.2' | 'PCIe 1.2'} §${string}` | `gpunvme ${string}`
