import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGuest, type Qemu } from './guest.js'
import { kernelFaults } from './kernel-log.js'
import { DEVICES, HOTPLUG, IMAGES, scenarios, turnOf } from './kmod-cases.js'
import { buildCheck, installedKernel } from './kmod-kernels.js'
import { parts } from './modes.js'
import { ModuleFolder } from './modules.js'

// QEMU 7.2 aborted once in msix.c after resets of a hot-plug port; 120 more did not repeat it. Newer ones run this.

const OURS = ['nvme', 'virtio_pci', '9pnet_virtio', '9p']
const made = parts()
const kernel = typeof made === 'string' ? made : installedKernel(made)

/** Debian's newest QEMU, or the installed one from 10.1 on. Text if it cannot be had: why. */
function newerQemu(): Qemu | string {
  const script = join(import.meta.dirname, '../../../../scripts/vfio-user-qemu.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
  if (status === 0) return JSON.parse(stdout) as Qemu
  return `[vm] no QEMU from 10.1 on: ${/Error: (.*)/.exec(stderr)?.[1] ?? stderr.slice(-200)}`
}

test(
  'a newer QEMU survives resets of a hot-plug port with interrupts in use',
  { timeout: 600_000 },
  async ({ skip }) => {
    if (typeof kernel === 'string') return skip(kernel)
    const qemu = newerQemu()
    if (typeof qemu === 'string') return skip(qemu)
    const run = await runGuest({
      parts: kernel.parts,
      qemu,
      modules: [...new ModuleFolder(kernel.parts.modules).inOrder(OURS), ...kernel.ours],
      scenarios: scenarios(buildCheck(), HOTPLUG),
      images: IMAGES,
      devices: DEVICES,
      memoryMiB: 1024,
      deadlineMs: 550_000,
    })
    const of = (name: string) => run.scenarios.get(turnOf(name, 'loose'))?.lines.at(-1)
    expect(run.finished, run.console.slice(-4000)).toBe(true)
    expect(of('bus-resets')).toEqual({ resets: 20 })
    expect(of('removed')).toMatchObject({ told: true, functionGone: true })
    expect(kernelFaults([...run.scenarios.values()].flatMap(({ kernel: lines }) => lines))).toEqual([])
  },
)
