import { expect, test } from 'vitest'
import { howToRelease } from './release.js'

const or = '; or choose another drive'

// Texts of the guard of host-driver (holders.test.ts).
test.each([
  ['mounted on /data', `umount /data${or}`],
  ['mounted on /mnt/two words', `umount '/mnt/two words'${or}`],
  ['mounted on /models in the mount namespace of process 20', `nsenter --mount --target 20 umount /models${or}`],
  ['swap', `swapoff /dev/nvme1n1p1${or}`],
  ["held by dm-0 (LUKS 'crypt')", `cryptsetup close crypt${or}`],
  [
    "held by dm-0 (LUKS 'crypt'), held by dm-1 (LVM 'vg-data'), mounted on /data",
    `umount /data; lvchange --activate n /dev/dm-1; cryptsetup close crypt${or}`,
  ],
  ["held by dm-2 (LVM 'vg-swap'), swap", `swapoff /dev/dm-2; lvchange --activate n /dev/dm-2${or}`],
  ["held by md127 (raid1 'host:models'), mounted on /models", `umount /models; mdadm --stop /dev/md127${or}`],
  ['held by loop3', `losetup --detach /dev/loop3${or}`],
  ['open in process 4242 (qemu-system-x86)', `kill 4242${or}`],
  ['part of a ZFS pool (imported: tank)', `detach the other uses listed${or}`],
])('howToRelease a drive %s', (use, advice) => {
  expect(howToRelease([{ device: 'nvme1n1p1', use }])).toBe(advice)
})

test('howToRelease lists each command once for several holders', () => {
  const holders = [
    { device: 'nvme0n1p1', use: 'mounted on /data' },
    { device: 'ng0n1', use: 'open in process 7 (fio)' },
    { device: 'nvme0', use: 'open in process 7 (fio)' },
  ]
  expect(howToRelease(holders)).toBe(`umount /data; kill 7${or}`)
})

test.each(['/', '/usr', '/boot', '/boot/efi', '/var'])(
  'howToRelease suggests another drive instead of unmounting %s',
  (where) => {
    const holders = [{ device: 'nvme0n1p1', use: `held by dm-0 (LUKS 'root'), mounted on ${where}` }]
    expect(howToRelease(holders)).toBe('another drive: this machine runs from this one')
  },
)
