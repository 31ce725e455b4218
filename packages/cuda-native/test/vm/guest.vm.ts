import { beforeAll, describe, expect, test } from 'vitest'
import { runGuest, type GuestRun } from './guest.js'
import { kernelFaults } from './kernel-log.js'
import { devicesOf, environmentOf, MODES, modulesOf, parts, type Mode } from './modes.js'
import type { Module } from './modules.js'
import type { GuestParts } from './parts.js'
import type { Scenario } from './protocol.js'

// The driver in a Linux guest, by the interfaces of a real kernel, on QEMU's NVMe controller. Each mode is one boot, in
// which the scenarios run one after another; what they print is judged here.

const MIB = 1024 * 1024
const DEADLINE_MS = 240_000

const SCENARIOS: readonly Omit<Scenario, 'environment'>[] = [{ name: 'smoke', script: 'smoke', timeoutMs: 20_000 }]

function prepare(mode: Mode): { parts: GuestParts; modules: Module[] } | string {
  const found = parts()
  if (typeof found === 'string') return found
  const modules = modulesOf(found, mode)
  return typeof modules === 'string' ? modules : { parts: found, modules }
}

function startGuest(mode: Mode, made: Exclude<ReturnType<typeof prepare>, string>): Promise<GuestRun> {
  return runGuest({
    ...made,
    devices: devicesOf(mode),
    images: { fixed: 256 * MIB, loose: 64 * MIB },
    append: `hugepages=96 ${mode.iommu ? 'intel_iommu=on' : ''}`,
    memoryMiB: 1024,
    deadlineMs: DEADLINE_MS,
    scenarios: SCENARIOS.map((scenario) => ({ ...scenario, environment: environmentOf(mode) })),
  })
}

for (const mode of MODES)
  describe(mode.title, () => {
    const made = prepare(mode)
    if (typeof made === 'string') {
      test('in a Linux guest', ({ skip }) => skip(made))
      return
    }
    let guest: GuestRun

    beforeAll(async () => {
      guest = await startGuest(mode, made)
    })

    /** What a scenario printed, which ended well. */
    function facts(name: string): unknown {
      const run = guest.scenarios.get(name)
      const trouble = run?.end === undefined ? guest.console : run.end.stderr
      expect(run?.end, trouble).toMatchObject({ code: 0, signal: null })
      return run!.lines.at(-1)
    }

    test('the guest starts with the kernel that was asked for, and sees both controllers', () => {
      expect(guest.release, guest.console).toBe(made.parts.release)
      expect(facts('smoke')).toMatchObject({
        drives: [
          { serial: 'VM0001', bytes: 256 * MIB },
          { serial: 'VM0002', bytes: 64 * MIB },
        ],
      })
    })

    test('the kernel finds no fault in anything that was done, from the first scenario to the last', () => {
      const said = [...guest.kernel, ...[...guest.scenarios.values()].flatMap(({ kernel }) => kernel)]
      expect(kernelFaults(said)).toEqual([])
      expect(guest.finished, guest.console).toBe(true)
    })
  })
