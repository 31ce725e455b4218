import { isKnown, type Known } from './known.js'
import type { Board, Finding, Kernel, Virtualisation } from './machine.js'
import type { Root } from './root.js'

/** Hypervisors by their DMI system vendor or product name. */
const HYPERVISORS: readonly (readonly [words: RegExp, name: string])[] = [
  [/^QEMU/, 'QEMU'],
  [/^Amazon EC2/, 'Amazon EC2'],
  [/^Google/, 'Google Compute Engine'],
  [/^Microsoft Corporation/, 'Hyper-V'],
  [/^VMware/, 'VMware'],
  [/^Xen/, 'Xen'],
  [/^(innotek|Oracle)/, 'VirtualBox'],
  [/^Alibaba Cloud/, 'Alibaba Cloud'],
  [/^OpenStack/, 'OpenStack'],
]

export async function readVirtualisation(
  root: Root,
  board: Board,
  release: Kernel['release'],
): Promise<Virtualisation> {
  return {
    hypervisor: await findHypervisor(root, board, release),
    container: await findContainer(root),
    isSysReadOnly: await isSysReadOnly(root),
  }
}

/** The processor reports a hypervisor (CPUID flag 'hypervisor'); DMI tells which. */
async function findHypervisor(root: Root, board: Board, release: Kernel['release']): Promise<Finding | undefined> {
  if (isKnown(release) && /microsoft/i.test(release)) return { name: 'WSL 2', evidence: `kernel release ${release}` }
  const cpuinfo = await root.text('proc/cpuinfo')
  if (!/^flags\s*:.*\bhypervisor\b/m.test(cpuinfo ?? '')) return undefined
  const named = HYPERVISORS.find(([words]) => words.test(board.systemVendor ?? ''))
  const evidence = "/proc/cpuinfo has the flag 'hypervisor'"
  return named === undefined
    ? { name: 'a hypervisor', evidence }
    : { name: named[1], evidence: `${evidence}; /sys/class/dmi/id/sys_vendor is ${board.systemVendor!}` }
}

async function findContainer(root: Root): Promise<Finding | undefined> {
  const manager = await root.text('run/systemd/container')
  if (manager) return { name: manager, evidence: '/run/systemd/container' }
  if (await root.exists('run/.containerenv')) return { name: 'podman', evidence: '/run/.containerenv' }
  if (await root.exists('.dockerenv')) return { name: 'docker', evidence: '/.dockerenv' }
  const [, name] = /(kubepods|docker|libpod|lxc)/.exec((await root.text('proc/self/cgroup')) ?? '') ?? []
  return name === undefined ? undefined : { name, evidence: '/proc/self/cgroup' }
}

/** From proc_pid_mountinfo(5): the fifth word is the mount point, the sixth its options. */
async function isSysReadOnly(root: Root): Promise<Known<boolean>> {
  const path = 'proc/self/mountinfo'
  const text = await root.text(path)
  if (text === undefined) return root.why(path)
  const mounts = text.split('\n').map((line) => line.split(' '))
  const last = mounts.findLast(([, , , , where]) => where === '/sys')
  return last?.[5]?.split(',').includes('ro') ?? false
}
