import { OF_ANOTHER_PROCESS, type Tree } from './tree.js'

/** A node or file that a process has open. */
export interface OpenFile {
  /** As the kernel knows it: /dev/nvme0n1. */
  readonly path: string
  /** 'open in process 4242 (qemu-system-x86)'. */
  readonly use: string
}

/** Every process but this one, which has the drive open when it drives it. */
export async function processes(tree: Tree): Promise<string[]> {
  return (await tree.list('proc', [])).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
}

/**
 * What other processes have open, of the paths that `concerns` us. Processes that we may not look at are passed over:
 * to whom that happens is not root, and takes a drive over only where somebody gave it away.
 */
export async function openFiles(tree: Tree, concerns: (path: string) => boolean): Promise<OpenFile[]> {
  const found: OpenFile[] = []
  for (const pid of await processes(tree)) {
    const folder = `proc/${pid}/fd`
    const links = await Promise.all(
      (await tree.list(folder, OF_ANOTHER_PROCESS)).map((fd) => tree.link(`${folder}/${fd}`, OF_ANOTHER_PROCESS)),
    )
    const paths = new Set(links.filter((path): path is string => path !== undefined && concerns(path)))
    if (paths.size === 0) continue
    const name = await tree.text(`proc/${pid}/comm`, OF_ANOTHER_PROCESS)
    const use = `open in process ${pid}${name === undefined ? '' : ` (${name})`}`
    found.push(...Array.from(paths, (path) => ({ path, use })))
  }
  return found
}
