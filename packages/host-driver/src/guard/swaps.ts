import { unescaped } from './mounts.js'
import type { DeviceUse } from './pools.js'
import type { Tree } from './tree.js'

/** Lists devices used as swap; swap files are on a mount. A kernel without swap has no such table. */
export async function swapDevices(tree: Tree): Promise<DeviceUse[]> {
  const [header, ...lines] = ((await tree.text('proc/swaps')) ?? 'Filename').split('\n')
  if (!header?.startsWith('Filename')) tree.blind('proc/swaps', `unexpected first line: ${header}`)
  const nodes = lines.flatMap((line) => {
    const node = unescaped(line.split(/\s/)[0] ?? '')
    return node.startsWith('/dev/') ? [node] : []
  })
  return Promise.all(nodes.map(async (node) => ({ device: await tree.deviceName(node), use: 'swap' })))
}
