import type { Tree } from './tree.js'

/** Prefixes of the uuid that users of device mapper set, before a colon or dash. */
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

/** Describes a holder by its kernel name and, if device mapper or md says so, its kind: dm-0 (LUKS 'cryptroot'). */
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

/** Returns an array's name from udev's link, since sysfs does not have it. */
async function arrayName(tree: Tree, name: string): Promise<string | undefined> {
  for (const called of await tree.list('dev/md')) {
    if ((await tree.deviceName(`/dev/md/${called}`)) === name) return called
  }
  return undefined
}
