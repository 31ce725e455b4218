import { nodeJs } from '../machine-files/node-js.js'
import { OF_ANOTHER_PROCESS, type Tree } from './tree.js'

/** A device node or file that a process has open. */
export interface OpenFile {
  /** Its path according to the kernel: /dev/nvme0n1. */
  readonly path: string
  /** 'open in process 4242 (qemu-system-x86)'. */
  readonly use: string
}

/** Lists every process but this one, which has the drive open if it drives it. */
export async function processes(tree: Tree): Promise<string[]> {
  return (await tree.list('proc', [])).filter((name) => /^\d+$/.test(name) && Number(name) !== nodeJs.process.pid)
}

/**
 * Returns the paths accepted by `concerns` that other processes have open. Skips processes that may not be inspected: a
 * user other than root can only take a drive that root made accessible.
 * @param numbers nodes by their number (b259:0, c240:0), since a container may have them under another name or have
 *   deleted that. Only looked up below a directory dev, in any root: for other files, stat(2) may never return, for
 *   example with a dead server.
 */
export async function openFiles(
  tree: Tree,
  concerns: (path: string) => boolean,
  numbers: ReadonlyMap<string, string> = new Map(),
): Promise<OpenFile[]> {
  const found: OpenFile[] = []
  for (const pid of await processes(tree)) {
    const folder = `proc/${pid}/fd`
    const links = await Promise.all(
      (await tree.list(folder, OF_ANOTHER_PROCESS)).map(async (fd) => ({
        fd,
        path: await tree.link(`${folder}/${fd}`, OF_ANOTHER_PROCESS),
      })),
    )
    const paths = new Set<string>()
    for (const { fd, path } of links) {
      if (path === undefined) continue
      const number = numbers.size > 0 && path.includes('/dev/') ? await tree.deviceNumber(`${folder}/${fd}`) : undefined
      const node = concerns(path) ? path : numbers.get(number ?? '')
      if (node !== undefined) paths.add(node)
    }
    if (paths.size === 0) continue
    const name = await tree.text(`proc/${pid}/comm`, OF_ANOTHER_PROCESS)
    const use = `open in process ${pid}${name === undefined ? '' : ` (${name})`}`
    for (const each of Array.from(paths, (path) => ({ path, use }))) found.push(each)
  }
  return found
}
