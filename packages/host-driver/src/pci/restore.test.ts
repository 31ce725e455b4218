import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { refusal } from '../../test/fake-hardware-host.js'
import { FakeSysfs } from '../../test/fake-sysfs.js'
import { DeviceHeldError } from '../guard/guard.js'
import { bindDriverBy, planBinding, type BindOptions } from './bind.js'
import { parseBindingRecord, type BindingRecord, type UserSpaceDriver } from './binding-record.js'
import type { SysfsWrite } from './binding-steps.js'
import { planRestoring, restoreBinding, restoreBindingBy } from './restore.js'

const bdf = '0000:0b:00.0'
const device = `sys/bus/pci/devices/${bdf}`
let sys: FakeSysfs
/** The last record written, as JSON: all that remains once the process has ended. */
let kept: string | undefined

beforeEach(() => {
  kept = undefined
  sys = new FakeSysfs()
  sys.driver('vfio-pci')
  sys.function(bdf, { driver: 'nvme', group: { number: '12', type: 'DMA' } })
})
afterEach(() => {
  sys[Symbol.dispose]()
})

const keep = (record: BindingRecord) => {
  kept = JSON.stringify(record)
}
const bind = (options: Partial<BindOptions> = {}, write: SysfsWrite = sys.write) =>
  bindDriverBy(write, { bdf, driver: 'vfio-pci', sysRoot: sys.root, onRecord: keep, ...options })
const record = () => parseBindingRecord(JSON.parse(kept ?? 'null'))
const restore = (write: SysfsWrite = sys.write) => restoreBindingBy(write, record(), { sysRoot: sys.root })
const state = () => [sys.boundDriver(bdf), sys.read(`${device}/driver_override`), sys.read(`${device}/power/control`)]
const ORIGINAL = ['nvme', '(null)\n', 'auto\n']

test('another process restores the function from the record alone', async () => {
  await bind()
  expect(state()).toEqual(['vfio-pci', 'vfio-pci\n', 'on\n'])
  await restore()
  expect(state()).toEqual(ORIGINAL)
  expect(planRestoring(record(), { sysRoot: sys.root })).toEqual([])
  await restore()
  expect(state()).toEqual(ORIGINAL)
})

/** Simulates a process that is killed at a write: the write never settles. */
function killedAt(write: number, when: 'before' | 'after'): { write: SysfsWrite; died: Promise<void> } {
  let die = () => {}
  const died = new Promise<void>((resolve) => (die = resolve))
  let writes = 0
  return {
    died,
    write: async (path, text) => {
      const isLast = ++writes === write
      if (!isLast || when === 'after') await sys.write(path, text)
      if (!isLast) return
      die()
      await new Promise<never>(() => {})
    },
  }
}

const KILLS = ([1, 2, 3, 4] as const).flatMap((write) =>
  (['before', 'after'] as const).map((when) => ({ write, when })),
)

describe.each<UserSpaceDriver>(['vfio-pci', null])('bound to %s', (driver) => {
  const kills = KILLS.filter(({ write }) => driver !== null || write < 4)

  test.each(kills)(
    'a process that was killed $when write $write leaves a record that restores the function',
    async ({ write, when }) => {
      const killed = killedAt(write, when)
      void bind({ driver }, killed.write)
      await killed.died
      // Under another root path, since this process still holds the function under the first one.
      const again = `${sys.root}-again`
      symlinkSync(sys.root, again)
      await restoreBindingBy(sys.write, record(), { sysRoot: again }).finally(() => rmSync(again))
      expect(state()).toEqual(ORIGINAL)
    },
  )
})

test('restoring a function without a driver is refused while another process drives it', async () => {
  const killed = killedAt(2, 'after')
  void bind({}, killed.write)
  await killed.died
  const again = `${sys.root}-again`
  symlinkSync(sys.root, again)
  mkdirSync(join(sys.root, 'proc/4242/fd'), { recursive: true })
  symlinkSync(`/sys/devices/pci0000:00/${bdf}/resource0`, join(sys.root, 'proc/4242/fd/7'))
  const restoring = restoreBindingBy(sys.write, record(), { sysRoot: again }).finally(() => rmSync(again))
  await expect(restoring).rejects.toThrow(DeviceHeldError)
  expect(state()).toEqual([undefined, 'vfio-pci\n', 'auto\n'])
})

test('a step that cannot be recorded is not taken, and those before it are undone', async () => {
  const full = new Error('ENOSPC')
  const onRecord = ({ begun }: BindingRecord) => (begun.length < 3 ? Promise.resolve() : Promise.reject(full))
  const writes: string[] = []
  const write: SysfsWrite = (path, text) => {
    writes.push(path.slice(sys.root.length))
    return sys.write(path, text)
  }
  await expect(bind({ onRecord }, write)).rejects.toBe(full)
  expect(writes.filter((path) => path.includes('vfio-pci'))).toEqual([])
  expect(state()).toEqual(ORIGINAL)
})

test('every step is recorded before it is taken', async () => {
  const order: string[] = []
  await bind({ onRecord: ({ begun }) => void order.push(begun.at(-1)!) }, (path, text) => {
    order.push(path.slice(sys.root.length + 1).replace(device, ''))
    return sys.write(path, text)
  })
  expect(order).toEqual([
    'set driver_override',
    '/driver_override',
    'unbind nvme',
    '/driver/unbind',
    'bind vfio-pci',
    'sys/bus/pci/drivers/vfio-pci/bind',
    'set power/control',
    '/power/control',
  ])
})

test('a plan lists the steps without running them, and binding and restoring run exactly these', async () => {
  const options = { bdf, driver: 'vfio-pci', sysRoot: sys.root } as const
  const steps = await planBinding(options)
  expect(steps).toEqual([
    { name: 'set driver_override', path: join(sys.root, device, 'driver_override'), text: 'vfio-pci' },
    { name: 'unbind nvme', path: join(sys.root, device, 'driver/unbind'), text: bdf },
    { name: 'bind vfio-pci', path: join(sys.root, 'sys/bus/pci/drivers/vfio-pci/bind'), text: bdf },
    { name: 'set power/control', path: join(sys.root, device, 'power/control'), text: 'on' },
  ])
  expect(state()).toEqual(ORIGINAL)
  const taken: object[] = []
  const write: SysfsWrite = (path, text) => {
    taken.push({ path, text })
    return sys.write(path, text)
  }
  await bind({}, write)
  expect(taken).toEqual(steps.map(({ path, text }) => ({ path, text })))

  const back = planRestoring(record(), { sysRoot: sys.root })
  expect(back.map(({ name }) => name)).toEqual([
    'unbind vfio-pci',
    'reset driver_override',
    'bind nvme',
    'reset power/control',
  ])
  taken.length = 0
  await restore(write)
  expect(taken).toEqual(back.map(({ path, text }) => ({ path, text })))
})

test('planBinding throws the errors of bindDriver', async () => {
  const plan = (driver: UserSpaceDriver) => planBinding({ bdf, driver, sysRoot: sys.root })
  await expect(plan('gpunvme')).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_NOT_LOADED' })
  sys.function('0000:0b:00.1', { classCode: '0x0c0330', driver: 'xhci_hcd', group: { number: '12' } })
  await expect(plan('vfio-pci')).rejects.toMatchObject({ code: 'ERR_GPUNVME_GROUP_NOT_VIABLE' })
  expect(await plan(null)).toHaveLength(3)
  await expect(plan('nvme' as 'vfio-pci')).rejects.toThrow(TypeError)
  mkdirSync(join(sys.root, 'proc/4242/fd'), { recursive: true })
  symlinkSync(`/sys/devices/pci0000:00/${bdf}/resource0`, join(sys.root, 'proc/4242/fd/7'))
  await expect(plan(null)).rejects.toThrow(DeviceHeldError)
})

test('without an IOMMU, a plan for vfio-pci is rejected unless the no-IOMMU mode of vfio is enabled', async () => {
  const alone = '0000:0c:00.0'
  sys.function(alone, { driver: 'nvme' })
  const plan = () => planBinding({ bdf: alone, driver: 'vfio-pci', sysRoot: sys.root })
  await expect(plan()).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IOMMU' })
  const mode = 'sys/module/vfio/parameters/enable_unsafe_noiommu_mode'
  sys.file(mode, 'N\n')
  await expect(plan()).rejects.toThrow(`echo 1 > /${mode}`)
  sys.file(mode, 'Y\n')
  expect(await plan()).toHaveLength(4)
})

describe('restoring a function that changed in the meantime', () => {
  test('does nothing if it was removed, or if another device has its address', async () => {
    await bind()
    sys.file(`${device}/class`, '0x020000\n')
    await restore()
    expect(sys.boundDriver(bdf)).toBe('vfio-pci')
    rmSync(join(sys.root, device), { recursive: true })
    await restore()
    expect(planRestoring(record(), { sysRoot: sys.root })).toEqual([])
  })

  test('keeps vfio-pci if another process bound it', async () => {
    const killed = killedAt(1, 'after')
    void bind({}, killed.write)
    await killed.died
    await sys.write(join(sys.root, device, 'driver/unbind'), bdf)
    await sys.write(join(sys.root, 'sys/bus/pci/drivers/vfio-pci/bind'), bdf)
    const names = planRestoring(record(), { sysRoot: sys.root }).map(({ name }) => name)
    expect(names).not.toContain('unbind vfio-pci')
  })

  test('is refused while another process drives it', async () => {
    await bind()
    mkdirSync(join(sys.root, 'proc/4242/fd'), { recursive: true })
    symlinkSync('/dev/vfio/12', join(sys.root, 'proc/4242/fd/7'))
    rmSync(join(sys.root, device, 'iommu_group'))
    symlinkSync('../../../kernel/iommu_groups/12', join(sys.root, device, 'iommu_group'))
    const again = `${sys.root}-again`
    symlinkSync(sys.root, again)
    const restoring = restoreBindingBy(sys.write, record(), { sysRoot: again }).finally(() => rmSync(again))
    await expect(restoring).rejects.toThrow(DeviceHeldError)
    expect(state()).toEqual(['vfio-pci', 'vfio-pci\n', 'on\n'])
  })

  test('names the command that loads a driver which is no longer loaded', async () => {
    await bind({ driver: null })
    const gone: SysfsWrite = (path, text) =>
      path.endsWith('nvme/bind') ? Promise.reject(refusal('ENOENT', 'open')) : sys.write(path, text)
    await expect(restore(gone)).rejects.toThrow(/Cannot bind nvme on 0000:0b:00.0: ENOENT\n.*modprobe/)
    expect(sys.read(`${device}/driver_override`)).toBe('(null)\n')
  })
})

describe('a record from a file', () => {
  const sound: BindingRecord = {
    version: 1,
    bdf,
    driver: 'vfio-pci',
    previous: 'nvme',
    override: '',
    isProbed: false,
    powerControl: 'auto',
    begun: ['set driver_override'],
  }

  test('is accepted if it is valid', () => {
    expect(parseBindingRecord({ ...sound, more: 1 })).toEqual(sound)
    expect(parseBindingRecord({ ...sound, previous: null, driver: null, powerControl: null })).toBeTruthy()
  })

  test.each([
    ['no object', null, 'not an object'],
    ['a later version', { ...sound, version: 2 }, 'version 2, expected 1'],
    ['an address with a path', { ...sound, bdf: '../../../etc' }, 'expected a PCI address'],
    ['an unsupported driver', { ...sound, driver: 'nvme' }, 'driver: expected'],
    ['a driver with a path', { ...sound, previous: '../../../../tmp' }, 'previous: expected a driver name, got'],
    ['a driver named ..', { ...sound, previous: '..' }, 'previous: expected a driver name, got'],
    ['an override of two lines', { ...sound, override: 'a\nb' }, 'override: expected one line'],
    ['an override that is too long', { ...sound, override: 'a'.repeat(121) }, 'override: expected one line'],
    ['an invalid policy', { ...sound, powerControl: 'off' }, 'powerControl'],
    ['an isProbed that is not a boolean', { ...sound, isProbed: 'no' }, 'isProbed'],
    ['too many steps', { ...sound, begun: Array<string>(9).fill('a') }, 'begun'],
    ['invalid steps', { ...sound, begun: [1] }, 'begun'],
  ])('is rejected if it has %s', async (_, value, problem) => {
    expect(() => parseBindingRecord(value)).toThrow(problem)
    expect(() => parseBindingRecord(value)).toThrow('Invalid binding record')
    await expect(restoreBinding(value as BindingRecord, { sysRoot: sys.root })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_BINDING_RECORD',
      category: 'infeasible',
    })
    expect(state()).toEqual(ORIGINAL)
  })
})
