import { beforeAll, describe, expect, test } from 'vitest'
import { runGuest, type GuestRun } from './guest.js'
import { judge } from './judge.js'
import { kernelFaults } from './kernel-log.js'
import { devicesOf, IOMMU, modulesOf, parts, type Boot } from './modes.js'
import { IMAGES, nameIn, scenariosOf } from './scenarios.js'

/** Defines the tests of guests. The scenarios of a guest's modes run one after another; the guests run concurrently. */
export function describeBoots(boots: readonly Boot[]): void {
  const made = parts()

  for (const boot of boots) {
    const names = boot.modes.map(({ name }) => name).join(' and ')
    if (typeof made === 'string') {
      test(`a Linux guest for ${names}`, ({ skip }) => skip(made))
      continue
    }
    const found = boot.modes.map((mode) => ({ mode, modules: modulesOf(made, mode) }))
    const missing = new Map(
      found.flatMap(({ mode, modules }) => (typeof modules === 'string' ? [[mode, modules]] : [])),
    )
    const [modules = [], ...later] = found.flatMap((each) => (typeof each.modules === 'string' ? [] : [each.modules]))

    describe.concurrent(`a Linux guest for ${names}`, () => {
      let guest: GuestRun

      beforeAll(async () => {
        guest = await runGuest({
          parts: made,
          modules,
          laterModules: later.flat().filter(({ name }) => !modules.some((early) => early.name === name)),
          devices: devicesOf(boot),
          images: IMAGES,
          append: `hugepages=96 ${IOMMU[boot.iommu]}`,
          memoryMiB: 1024,
          deadlineMs: 1_800_000,
          scenarios: boot.modes.filter((mode) => !missing.has(mode)).flatMap(scenariosOf),
        })
        const times = [...guest.scenarios].map(([name, { end }]) => `${name} ${seconds(end?.ms)}`)
        const total = `${seconds(guest.totalMs)}: boot ${seconds(guest.bootMs)}, ${times.join(', ')}`
        process.stdout.write(`a guest for ${names}, ${total}\n`)
        if (!guest.finished) process.stdout.write(`the guest ended early: ${guest.console.slice(-4000)}\n`)
      })

      test('boots the requested kernel', () => {
        expect(guest.release, guest.console).toBe(made.release)
      })

      for (const mode of boot.modes) {
        describe(mode.title, () => {
          const why = missing.get(mode)
          if (why !== undefined) {
            test('in a Linux guest', ({ skip }) => skip(why))
            return
          }
          judge(mode, (script) => {
            const run = guest.scenarios.get(nameIn(mode, script))
            const trouble = run?.end === undefined ? guest.console : run.end.stderr
            expect(run?.end, trouble).toMatchObject({ code: 0, signal: null })
            return run!
          })
        })
      }

      test('the kernel reports no faults', () => {
        const said = [...guest.kernel, ...[...guest.scenarios.values()].flatMap(({ kernel }) => kernel)]
        expect(kernelFaults(said)).toEqual([])
        expect(guest.finished, guest.console).toBe(true)
      })
    })
  }
}

function seconds(ms = NaN): string {
  return `${(ms / 1000).toFixed(1)} s`
}
