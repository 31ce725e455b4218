import { beforeAll, describe, expect, test } from 'vitest'
import { runGuest, type GuestRun } from './guest.js'
import { kernelFaults } from './kernel-log.js'
import { BOUNCED, DEVICES, IMAGES, IOMMUS, scenarios, SLEEP } from './kmod-cases.js'
import { judgeKmod, type Guest } from './kmod-judge.js'
import { buildCheck, installedKernel, newestKernel } from './kmod-kernels.js'
import { parts } from './modes.js'
import { ModuleFolder } from './modules.js'

// The module of kmod/ in Linux guests, asked by a program of its own. What the driver does by it is guest.vm.ts's.

const OURS = ['nvme', 'virtio_pci', '9pnet_virtio', '9p']

const made = parts()
const installed = typeof made === 'string' ? made : installedKernel(made)
const newest = typeof made === 'string' ? made : newestKernel()

const GUESTS: readonly (Guest & { readonly kernel: typeof installed; readonly name: string })[] = [
  { name: 'Linux 6.1', kernel: installed, iommu: 'off', isNewest: false },
  { name: 'Linux 6.1', kernel: installed, iommu: 'passthrough', isNewest: false },
  { name: 'Linux 6.1', kernel: installed, iommu: 'on', isNewest: false },
  { name: 'Linux 7.2', kernel: newest, iommu: 'off', isNewest: true },
  { name: 'Linux 7.2', kernel: newest, iommu: 'on', isNewest: true },
]

for (const { kernel, name, iommu, isNewest } of GUESTS) {
  const title = `the module gpunvme in ${name} with ${IOMMUS[iommu].title}`
  if (typeof kernel === 'string') {
    test(title, ({ skip }) => skip(kernel))
    continue
  }

  describe(title, () => {
    let guest: GuestRun

    beforeAll(async () => {
      guest = await runGuest({
        parts: kernel.parts,
        modules: [...new ModuleFolder(kernel.parts.modules).inOrder(OURS), ...kernel.ours],
        scenarios: scenarios(buildCheck()),
        images: IMAGES,
        // First, so that it stands before all that it translates for.
        devices: [...(iommu === 'off' ? [] : ['-device', 'intel-iommu,intremap=on']), ...DEVICES],
        // KFENCE guards a sample of the kernel's allocations: a misuse of one is a fault in the log.
        append: `${IOMMUS[iommu].append} kfence.sample_interval=1`,
        memoryMiB: 1024,
        deadlineMs: 900_000,
      })
      process.stdout.write(`${title}: ${(guest.totalMs / 1000).toFixed(1)} s\n`)
      if (!guest.finished) process.stdout.write(`it ended before it was done: ${guest.console.slice(-4000)}\n`)
    })

    test('it starts with the kernel that was asked for', () => {
      expect(guest.release, guest.console).toBe(kernel.parts.release)
    })

    judgeKmod({ iommu, isNewest }, (turn) => {
      const run = guest.scenarios.get(turn)
      expect(run?.end, run?.end === undefined ? guest.console : run.end.stderr).toMatchObject({ code: 0, signal: null })
      return run!
    })

    test('the kernel finds no fault in anything that was done, from the first case to the last', () => {
      const said = [...guest.kernel, ...[...guest.scenarios.values()].flatMap((run) => run.kernel)]
      expect(kernelFaults(said)).toEqual([])
      expect(guest.finished, guest.console).toBe(true)
    })
  })
}

for (const [name, kernel] of [
  ['Linux 6.1', installed],
  ['Linux 7.2', newest],
] as const) {
  const title = `in ${name} suspend ends DMA first and notifies the owner, which works again afterwards`
  test(title, { timeout: 600_000 }, async ({ skip }) => {
    if (typeof kernel === 'string') return skip(kernel)
    const { console } = await runGuest({
      parts: kernel.parts,
      modules: [...new ModuleFolder(kernel.parts.modules).inOrder(OURS), ...kernel.ours],
      scenarios: scenarios(buildCheck(), SLEEP),
      images: IMAGES,
      devices: DEVICES,
      memoryMiB: 1024,
      deadlineMs: 300_000,
    })
    const found = /gpunvme sleep: (\{.*\})/.exec(console)?.[1] ?? 'null'
    expect(JSON.parse(found), console.slice(-4000)).toEqual({
      rehearse: 'OK',
      sleep: 'OK',
      told: true,
      events: 4,
      powerState: 0,
      busMaster: 0,
      works: true,
    })
    expect(kernelFaults(console.split('\n'))).toEqual([])
  })
}

test(
  'in Linux 6.1 with bounce buffers, memory of a process is refused without a warning, and queues work',
  {
    timeout: 600_000,
  },
  async ({ skip }) => {
    if (typeof installed === 'string') return skip(installed)
    const { scenarios: runs, console } = await runGuest({
      parts: installed.parts,
      modules: [...new ModuleFolder(installed.parts.modules).inOrder(OURS), ...installed.ours],
      scenarios: scenarios(buildCheck(), BOUNCED),
      images: IMAGES,
      devices: DEVICES,
      append: 'swiotlb=force',
      memoryMiB: 1024,
      deadlineMs: 300_000,
    })
    const run = runs.get('bounced')
    expect(run?.lines.at(-1), run?.end?.stderr ?? console).toEqual({
      pinOwn: 'EOPNOTSUPP',
      pinQueue: 'EFAULT',
      pinMuch: 'EOPNOTSUPP',
      done: true,
      serial: 'KM0001',
      release: 'OK',
      warned: false,
    })
    expect(kernelFaults(run!.kernel)).toEqual([])
  },
)
