import type { Tree } from './tree.js'

/** What device mapper's users write before the colon or dash of its uuid. */
const users: readonly (readonly [prefix: string, name: string])[] = [
  ['LVM-', 'LVM'],
  ['CRYPT-LUKS', 'LUKS'],
  ['CRYPT-VERITY', 'dm-verity'],
  ['CRYPT-INTEGRITY', 'dm-integrity'],
  ['CRYPT-TCRYPT', 'VeraCrypt'],
  ['CRYPT-BITLK', 'BitLocker'],
  ['CRYPT-', 'dm-crypt'],
  ['mpath-', 'multipath'],
  ['DMRAID-', 'dmraid'],
  ['VDO-', 'VDO'],
  ['stratis-', 'Stratis'],
]

/** A holder by its kernel name and, where device mapper or md says so, what it is: dm-0 (LUKS 'cryptroot'). */
export async function describeHolder(tree: Tree, name: string): Promise<string> {
  const path = `sys/block/${name}`
  const level = await tree.text(`${path}/md/level`)
  if (level !== undefined) {
    const called = await arrayName(tree, name)
    return `${name} (${called === undefined ? level : `${level} '${called}'`})`
  }
  const label = await tree.text(`${path}/dm/name`)
  if (label === undefined) return name
  const uuid = (await tree.text(`${path}/dm/uuid`)) ?? ''
  // A partition on top of a map: part2-mpath-3600...
  const owner = users.find(([prefix]) => uuid.replace(/^part\d+-/, '').startsWith(prefix))?.[1] ?? 'device mapper'
  return `${name} (${owner} '${label}')`
}

/** By the link that udev makes for it: sysfs has no name of an array. */
async function arrayName(tree: Tree, name: string): Promise<string | undefined> {
  for (const called of await tree.list('dev/md')) {
    if ((await tree.deviceName(`/dev/md/${called}`)) === name) return called
  }
  return undefined
}
