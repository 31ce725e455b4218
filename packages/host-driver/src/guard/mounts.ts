import { processes } from './processes.js'
import { OF_ANOTHER_PROCESS, type Tree } from './tree.js'

/** One line of a mountinfo. */
export interface Mount {
  /** Device number; for btrfs, overlay and network file systems not that of any device. */
  readonly number: string
  readonly type: string
  /** Kernel names of the devices in the mount's source: several for bcachefs, none without a device. */
  readonly devices: readonly string[]
  /** Mount point, for example /home, with its mount namespace if that is not the one of this process. */
  readonly where: string
}

/** Lists the mounts in every mount namespace with a process that may be inspected. */
export async function findMounts(tree: Tree): Promise<Mount[]> {
  const own = await tree.link('proc/self/ns/mnt')
  const mounts = await parse(tree, 'proc/self/mountinfo', await tree.required('proc/self/mountinfo'), '')
  if (mounts.length === 0) tree.blind('proc/self/mountinfo', 'lists no mounts, and /proc itself is one')
  const seen = new Set([own])
  for (const pid of await processes(tree)) {
    const namespace = await tree.link(`proc/${pid}/ns/mnt`, OF_ANOTHER_PROCESS)
    if (namespace === undefined || seen.has(namespace)) continue
    seen.add(namespace)
    const path = `proc/${pid}/mountinfo`
    const text = await tree.text(path, OF_ANOTHER_PROCESS)
    if (text === undefined) continue
    const known = new Set(mounts.map(({ number, where }) => `${number} ${where}`))
    const others = await parse(tree, path, text, ` in the mount namespace of process ${pid}`)
    for (const each of others.filter(({ number, target }) => !known.has(`${number} ${target}`))) mounts.push(each)
  }
  return mounts
}

/** See proc_pid_mountinfo(5): the device number is the third field; a dash precedes the type and the source. */
async function parse(tree: Tree, path: string, text: string, suffix: string): Promise<(Mount & { target: string })[]> {
  const lines = text.split('\n').filter((line) => line !== '')
  return Promise.all(
    lines.map(async (line) => {
      const fields = /^\d+ \d+ (\d+:\d+) \S+ (\S+) \S+ (?:\S+ )*?- (\S+) (\S*) /.exec(line)
      if (fields === null) return tree.blind(path, `unexpected line: ${line}`)
      const [, number, target, type, source] = fields.map(unescaped) as [string, string, string, string, string]
      const nodes = source.split(':').filter((node) => node.startsWith('/dev/'))
      const devices = await Promise.all(nodes.map((node) => tree.deviceName(node)))
      return { number, type, devices, target, where: `${target}${suffix}` }
    }),
  )
}

/** Spaces, tabs, newlines, backslashes and more are written as three octal digits in the tables of /proc. */
export function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)))
}
