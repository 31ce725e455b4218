/** The DMI identity of a desktop computer. */
export const desktop = (vendor: string, name: string, bios: string) => ({ vendor, name, bios, chassis: 3 })

/** A root file system on the second partition of a drive, and the EFI system partition on its first. */
export const rootOn = (name: string) => [
  { source: `${name}p2`, where: '/', type: 'ext4' },
  { source: `${name}p1`, where: '/boot/efi', type: 'vfat' },
]
