import { nodeJs } from '../machine-files/node-js.js'
import type { Holder } from './holders.js'
import { openFiles } from './processes.js'
import { OF_ANOTHER_PROCESS, type Tree } from './tree.js'

/**
 * Who drives the function from user space: a process that has its IOMMU group, its VFIO, UIO or gpunvme device, or its registers
 * (resource0 and the like) open. A driver that is bound and that nobody has open holds nothing.
 */
export async function userSpaceDriver(tree: Tree): Promise<Holder[]> {
  const path = `sys/bus/pci/devices/${tree.bdf}`
  const group = nodeJs.path.basename((await tree.link(`${path}/iommu_group`)) ?? '')
  const nodes = new Map<string, string>()
  const numbers = new Map<string, string>()
  // By number as well: a container may have it under another name.
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
 * Who drives a function of which this process has just opened the registers, once: the others, and other threads of this
 * process, which are threads of the same files. Two that open at the same moment see each other, and both give way.
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
 * Files by which the registers are mapped. The kernel gives the path below /sys/devices, through the bridges that lead to
 * the function; a container may have sysfs elsewhere.
 */
function registersOf(bdf: string): RegExp {
  return new RegExp(`/${bdf.replaceAll('.', '\\.')}/resource\\d(_wc)?$`)
}
