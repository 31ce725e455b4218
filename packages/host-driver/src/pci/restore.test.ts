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
/** What is left of a binding when its process is gone: text, the last that was written. */
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

test('another process gives the function back, by the record alone', async () => {
  await bind()
  expect(state()).toEqual(['vfio-pci', 'vfio-pci\n', 'on\n'])
  await restore()
  expect(state()).toEqual(ORIGINAL)
  expect(planRestoring(record(), { sysRoot: sys.root })).toEqual([])
  await restore()
  expect(state()).toEqual(ORIGINAL)
})

/** Ends a process in the middle of its work: what it awaits never comes. */
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
    'a process that was killed $when write $write leaves a record that undoes it',
    async ({ write, when }) => {
      const killed = killedAt(write, when)
      void bind({ driver }, killed.write)
      await killed.died
      // By another path: this process, which cannot be killed, holds on to the function by the first one.
      const again = `${sys.root}-again`
      symlinkSync(sys.root, again)
      await restoreBindingBy(sys.write, record(), { sysRoot: again }).finally(() => rmSync(again))
      expect(state()).toEqual(ORIGINAL)
    },
  )
})

test('a function that is left without a driver is not given back while another process drives it', async () => {
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

test('what is to be done is told without being done, and then nothing else is done', async () => {
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

test('a plan is refused for what binding would be', async () => {
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

test('without an IOMMU a plan for vfio-pci is refused, unless vfio was told to do without one', async () => {
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

describe('what became of the function since', () => {
  test('one that was pulled out needs nothing, nor does another device in its place', async () => {
    await bind()
    sys.file(`${device}/class`, '0x020000\n')
    await restore()
    expect(sys.boundDriver(bdf)).toBe('vfio-pci')
    rmSync(join(sys.root, device), { recursive: true })
    await restore()
    expect(planRestoring(record(), { sysRoot: sys.root })).toEqual([])
  })

  test('vfio-pci that somebody else bound, after a process was killed before it could, stays', async () => {
    const killed = killedAt(1, 'after')
    void bind({}, killed.write)
    await killed.died
    await sys.write(join(sys.root, device, 'driver/unbind'), bdf)
    await sys.write(join(sys.root, 'sys/bus/pci/drivers/vfio-pci/bind'), bdf)
    const names = planRestoring(record(), { sysRoot: sys.root }).map(({ name }) => name)
    expect(names).not.toContain('unbind vfio-pci')
  })

  test('one that another process drives is left as it is until that has ended', async () => {
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

  test('a driver that has left the kernel is said, with what loads it again', async () => {
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

  test('is taken as it is when it is sound', () => {
    expect(parseBindingRecord({ ...sound, more: 1 })).toEqual(sound)
    expect(parseBindingRecord({ ...sound, previous: null, driver: null, powerControl: null })).toBeTruthy()
  })

  test.each([
    ['nothing', null, 'not an object'],
    ['a later version', { ...sound, version: 2 }, 'version 2, expected 1'],
    ['an address that leads elsewhere', { ...sound, bdf: '../../../etc' }, 'expected a PCI address'],
    ['a driver of the kernel', { ...sound, driver: 'nvme' }, 'driver: expected'],
    [
      'a driver that leads elsewhere',
      { ...sound, previous: '../../../../tmp' },
      'previous: expected a driver name, got',
    ],
    ['a driver above', { ...sound, previous: '..' }, 'previous: expected a driver name, got'],
    ['an override of two lines', { ...sound, override: 'a\nb' }, 'override: expected one line'],
    ['an override without end', { ...sound, override: 'a'.repeat(121) }, 'override: expected one line'],
    ['a policy that is none', { ...sound, powerControl: 'off' }, 'powerControl'],
    ['no word on probing', { ...sound, isProbed: 'no' }, 'isProbed'],
    ['steps without end', { ...sound, begun: Array<string>(9).fill('a') }, 'begun'],
    ['steps that are none', { ...sound, begun: [1] }, 'begun'],
  ])('is refused where it has %s', async (_, value, problem) => {
    expect(() => parseBindingRecord(value)).toThrow(problem)
    expect(() => parseBindingRecord(value)).toThrow('Invalid binding record')
    await expect(restoreBinding(value as BindingRecord, { sysRoot: sys.root })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_BINDING_RECORD',
      category: 'infeasible',
    })
    expect(state()).toEqual(ORIGINAL)
  })
})
