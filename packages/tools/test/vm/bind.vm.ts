import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runGuest, type GuestRun } from '../../../cuda-native/test/vm/guest.js'
import { kernelFaults } from '../../../cuda-native/test/vm/kernel-log.js'
import { gpunvmeModule } from '../../../cuda-native/test/vm/kmod-build.js'
import { parts } from '../../../cuda-native/test/vm/modes.js'
import { ModuleFolder } from '../../../cuda-native/test/vm/modules.js'
import type { FirstLightReport } from '../../src/first-light/report.js'
import { problemsOf } from '../schema-check.js'

// bind, unbind and list on the drives of a Linux guest with a real kernel.

const BDF = '0000:00:04.0'
const SERIAL = 'BIND0001'
const MIB = 2 ** 20
/** The kernel's drivers for QEMU's devices, and a file system. */
const EVERY_GUEST = ['nvme', 'virtio_pci', '9pnet_virtio', '9p', 'ext4', 'crc32c_generic']

const made = parts()
const module = typeof made === 'string' ? made : gpunvmeModule(made.release)

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What the guest's program printed for a case. */
interface Facts {
  readonly case: string
  readonly ended: Ended
  readonly listed: Ended
  readonly plan: Ended
  readonly after: object
  readonly before: object
  readonly name: string
  readonly said: string
  readonly report: { readonly report: FirstLightReport; readonly text: string }
}

/** Runs a guest whose program `script` binds and unbinds drives; `judge` defines tests of its cases. */
function describeMachine(
  title: string,
  { script, isTranslated }: { readonly script: string; readonly isTranslated: boolean },
  judge: (of: (name: string) => Facts) => void,
): void {
  if (typeof made === 'string') {
    test(title, ({ skip }) => skip(made))
    return
  }
  describe.concurrent(title, () => {
    let guest: GuestRun

    beforeAll(async () => {
      const vfio = isTranslated ? ['vfio-pci', 'vfio_iommu_type1'] : []
      guest = await runGuest({
        parts: made,
        modules: new ModuleFolder(made.modules).inOrder([...EVERY_GUEST, ...vfio]),
        laterModules: typeof module === 'string' ? [] : [{ name: 'gpunvme', content: module }],
        programs: join(import.meta.dirname, 'binding'),
        scenarios: [{ name: script, script, timeoutMs: 1_200_000 }],
        images: { spare: 64 * MIB, busy: 64 * MIB },
        devices: [
          // The IOMMU precedes the devices that it translates for.
          ...(isTranslated ? ['-device', 'intel-iommu,intremap=on'] : []),
          ...['-device', `nvme,id=spare,serial=${SERIAL},drive=spare,addr=4`],
          ...['-device', 'nvme,id=busy,serial=BIND0002,drive=busy,addr=5'],
        ],
        append: `hugepages=64 ${isTranslated ? 'intel_iommu=on' : ''}`,
        memoryMiB: 1024,
        deadlineMs: 1_500_000,
      })
      process.stdout.write(`${script}: ${(guest.totalMs / 1000).toFixed(1)} s\n`)
    })

    judge((name) => {
      const { lines = [], end } = guest.scenarios.get(script) ?? {}
      const found = (lines as Facts[]).find((line) => line.case === name)
      if (found === undefined) throw new Error(`there is no case ${name}: ${end?.stderr ?? guest.console}`)
      return found
    })

    test('the kernel reports no faults', () => {
      const said = [...guest.kernel, ...[...guest.scenarios.values()].flatMap(({ kernel }) => kernel)]
      expect(kernelFaults(said)).toEqual([])
      expect(guest.scenarios.get(script)?.end, guest.console).toMatchObject({ code: 0, stderr: '' })
      expect(guest.finished, guest.console).toBe(true)
    })
  })
}

const object = ({ code, stdout, stderr }: Ended) => {
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as unknown
}
/** The state of a drive that Linux owns, before anything is bound. */
const LINUX = { driver: 'nvme', override: '(null)', power: 'on', isRemembered: false }

describeMachine('bind on a machine with an IOMMU', { script: 'binding-by-vfio', isTranslated: true }, (of) => {
  test('list names the drives that Linux’s driver owns', () => {
    const { before, listed } = of('list')
    expect(before).toEqual(LINUX)
    expect(object(listed)).toMatchObject({ drives: [{ address: BDF, owner: 'linux', serial: SERIAL }, {}] })
  })

  test('bind --dry-run prints its four steps and changes nothing', () => {
    const { plan, after } = of('dry-run')
    const { steps } = object(plan) as { steps: { name: string }[] }
    expect(steps.map(({ name }) => name)).toEqual([
      'set driver_override',
      'unbind nvme',
      'bind vfio-pci',
      'set power/control',
    ])
    expect(after).toEqual(LINUX)
  })

  test('bind gives the drive to vfio-pci, powered on', () => {
    const { ended, after } = of('bind')
    expect(object(ended)).toMatchObject({ driver: 'vfio-pci', previous: 'nvme', serial: SERIAL, transport: 'vfio' })
    expect(after).toEqual({ driver: 'vfio-pci', override: 'vfio-pci', power: 'on', isRemembered: true })
    expect(object(of('bound').listed)).toMatchObject({ drives: [{ owner: 'ours', transport: 'vfio', serial: SERIAL }] })
  })

  test('identify opens the bound drive', () => {
    expect(object(of('identify').ended)).toMatchObject({ controller: { serial: SERIAL } })
  })

  test('unbind returns the drive to Linux’s driver and restores its state', () => {
    const { ended, after, name } = of('unbind')
    expect(object(ended)).toMatchObject({ drives: [{ result: 'given back', driver: 'nvme' }] })
    expect(after).toEqual(LINUX)
    expect(name).toMatch(/^nvme\d$/)
  })

  test('bind rejects a drive with another serial number', () => {
    expect(of('serial')).toMatchObject({ ended: { code: 4 }, after: LINUX })
  })

  test('bind rejects a mounted drive and names the mount', () => {
    const { ended, after } = of('mounted')
    expect(ended.code).toBe(4)
    expect(ended.stderr).toMatch(/nvme\dn1 is mounted on \/tmp\/mounted/)
    expect(after).toEqual(LINUX)
  })

  test('bind -- COMMAND runs the command on the bound drive, then returns the drive to Linux', () => {
    const { ended, after } = of('command')
    expect(object(ended)).toMatchObject({ controller: { serial: SERIAL } })
    expect(ended.stderr).toContain(`${BDF} was returned to nvme`)
    expect(after).toEqual(LINUX)
  })

  test('first-light compares reads with Linux’s block device, returns the drive, and reads the same extents again', () => {
    const { ended, after, report } = of('first-light')
    expect(ended.code, ended.stdout + ended.stderr).toBe(0)
    expect(after).toEqual(LINUX)
    expect(problemsOf(report.report)).toEqual([])
    const { steps } = report.report
    expect(Object.fromEntries(steps.map(({ step, outcome }) => [step, outcome]))).toEqual({
      ...{ machine: 'passed', reference: 'passed', bind: 'passed', identify: 'passed', 'read-cpu': 'passed' },
      ...{ doorbell: 'skipped', 'read-gpu-doorbell': 'skipped', 'read-cpu-doorbell': 'skipped', tier: 'skipped' },
      ...{ load: 'skipped', restore: 'passed' },
    })
    const compared = { comparedWith: 'linux', extents: 16, bytes: 16 * MIB, uniform: 0, differing: [] }
    for (const name of ['read-cpu', 'restore']) expect(steps.find(({ step }) => step === name)!.reads).toEqual(compared)
    expect(steps.find(({ step }) => step === 'bind')!.binding).toMatchObject({ driver: 'vfio-pci', previous: 'nvme' })
    for (const secret of [SERIAL, '/tmp/']) expect(report.text).not.toContain(secret)
  })

  test('if first-light is killed, its watcher returns the drive, and the report says that the run did not finish', () => {
    const { said, after, report } = of('first-light killed')
    expect(said).toContain(`${BDF} was returned to its driver: gpunvme ended without doing so`)
    expect(after).toEqual(LINUX)
    expect(problemsOf(report.report)).toEqual([])
    expect(report.report.outcome).toBe('running')
    expect(report.report.steps.length).toBeGreaterThanOrEqual(3)
  })

  test('if gpunvme is killed by SIGKILL, its watcher returns the drive to Linux', () => {
    const { said, after } = of('killed')
    expect(said).toContain(`${BDF} was returned to its driver: gpunvme ended without doing so`)
    expect(after).toEqual(LINUX)
  })

  test('after SIGKILL during bind, unbind returns the drive to Linux', () => {
    const { listed, ended, after } = of('killed early')
    expect(object(listed)).toMatchObject({ drives: [{ address: BDF }] })
    expect(ended.code, ended.stderr).toBe(0)
    expect(after).toEqual(LINUX)
  })
})

describeMachine(
  'bind on a machine without an IOMMU',
  { script: 'binding-without-iommu', isTranslated: false },
  (of) => {
    test('bind leaves the drive without a driver, and unbind returns it to Linux', () => {
      const { ended, after } = of('bind')
      expect(object(ended)).toMatchObject({ driver: null, previous: 'nvme', transport: 'sysfs' })
      expect(after).toEqual({ driver: null, override: 'gpunvme-none', power: 'on', isRemembered: true })
      const back = of('unbind')
      expect(object(back.ended)).toMatchObject({ drives: [{ result: 'given back', driver: 'nvme' }] })
      expect(back.after).toEqual(LINUX)
    })

    test('bind to vfio-pci fails while that is not loaded, and suggests modprobe', () => {
      const { ended, after } = of('vfio-pci')
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('modprobe vfio-pci') as string })
      expect(after).toEqual(LINUX)
    })

    test('bind -- COMMAND runs the command through sysfs, then returns the drive to Linux', () => {
      const { ended, after } = of('command')
      expect(object(ended)).toMatchObject({ controller: { serial: SERIAL } })
      expect(after).toEqual(LINUX)
    })

    test('bind chooses the gpunvme module when it is loaded', ({ skip }) => {
      if (typeof module === 'string') return skip(module)
      const { ended, after } = of('module')
      expect(object(ended)).toMatchObject({ controller: { serial: SERIAL } })
      expect(ended.stderr).toContain('is bound to gpunvme while this command runs')
      expect(after).toEqual(LINUX)
    })
  },
)
