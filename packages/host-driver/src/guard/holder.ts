/** A use of a drive on this machine. */
export interface Holder {
  /** Block device or partition (nvme0n1p2), or PCI address if the function itself is in use. */
  readonly device: string
  /** How it is used: 'mounted on /home', 'swap', "held by dm-0 (LUKS 'cryptroot'), mounted on /". */
  readonly use: string
}
