import { nodeJs } from '../machine-files/node-js.js'
import type { Holder } from './holder.js'
import { openFiles } from './processes.js'
import { OF_ANOTHER_PROCESS, type Tree } from './tree.js'

/**
 * Lists the drivers of a function in user space: processes that have its IOMMU group, its VFIO, UIO or gpunvme device,
 * or its registers (such as resource0) open. A bound driver whose device is not open holds nothing.
 */
export async function userSpaceDriver(tree: Tree): Promise<Holder[]> {
  const path = `sys/bus/pci/devices/${tree.bdf}`
  const group = nodeJs.path.basename((await tree.link(`${path}/iommu_group`)) ?? '')
  const nodes = new Map<string, string>()
  const numbers = new Map<string, string>()
  // By number too: a container may have it under another name.
  const concern = async (node: string, what: string, folder: string) => {
    nodes.set(node, what)
    const number = await tree.text(`${folder}/dev`)
    if (number !== undefined) numbers.set(`c${number}`, node)
  }
  for (const name of group === '' ? [] : [group, `noiommu-${group}`])
    await concern(`/dev/vfio/${name}`, `IOMMU group ${group}`, `sys/class/vfio/${name}`)
  for (const [kind, below] of [
    ['vfio-dev', '/dev/vfio/devices'],
    ['uio', '/dev'],
    ['misc', '/dev'],
  ] as const) {
    for (const name of await tree.list(`${path}/${kind}`))
      await concern(`${below}/${name}`, name, `${path}/${kind}/${name}`)
  }
  const registers = registersOf(tree.bdf)
  const files = await openFiles(tree, (file) => nodes.has(file) || registers.test(file), numbers)
  return files.map(({ path: file, use }) => ({
    device: tree.bdf,
    use: `driven from user space: its ${nodes.get(file) ?? nodeJs.path.basename(file)} is ${use}`,
  }))
}

/**
 * Lists the other drivers of a function whose registers this process has just opened: other processes, and other
 * threads of this one, which share its files. If two open them at the same time, each detects the other and is refused.
 */
export async function otherUserSpaceDriver(tree: Tree): Promise<Holder[]> {
  const holders = await userSpaceDriver(tree)
  const folder = 'proc/self/fd'
  const names = await tree.list(folder, OF_ANOTHER_PROCESS)
  const links = await Promise.all(names.map((fd) => tree.link(`${folder}/${fd}`, OF_ANOTHER_PROCESS)))
  const registers = registersOf(tree.bdf)
  if (links.filter((path) => path !== undefined && registers.test(path)).length > 1)
    holders.push({ device: tree.bdf, use: 'driven from user space: another thread of this process has it open' })
  return holders
}

/**
 * Matches the files by which registers are mapped. The kernel reports the path below /sys/devices, through the bridges
 * above the function; a container may have sysfs elsewhere.
 */
function registersOf(bdf: string): RegExp {
  return new RegExp(`/${bdf.replaceAll('.', '\\.')}/resource\\d(_wc)?$`)
}
