import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DriverError } from '../error.js'
import { refusal } from '../../test/fake-hardware-host.js'
import { FakeSysfs } from '../../test/fake-sysfs.js'
import { DeviceHeldError } from '../guard/guard.js'
import { bindDriver, bindDriverBy, LeftUndoneError, type BindOptions } from './bind.js'
import type { BindingRecord } from './binding-record.js'
import { BindError } from './binding-steps.js'

const bdf = '0000:0b:00.0'
const device = `sys/bus/pci/devices/${bdf}`
let sys: FakeSysfs

beforeEach(() => {
  sys = new FakeSysfs()
  sys.driver('vfio-pci')
})
afterEach(() => {
  sys[Symbol.dispose]()
})

const bind = (options: Partial<BindOptions> = {}, write = sys.write) =>
  bindDriverBy(write, { bdf, driver: 'vfio-pci', sysRoot: sys.root, ...options })

/** Returns the state to restore: driver, override and power policy. */
const state = () => [sys.boundDriver(bdf), sys.read(`${device}/driver_override`), sys.read(`${device}/power/control`)]

test('binds a controller to vfio-pci, and restores driver, override and power policy', async () => {
  sys.function(bdf, { driver: 'nvme' })
  const binding = await bind()
  expect(binding.previous).toBe('nvme')
  expect(state()).toEqual(['vfio-pci', 'vfio-pci\n', 'on\n'])
  await binding.restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
  await binding.restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('binds a controller to the module gpunvme, and restores it', async () => {
  sys.driver('gpunvme')
  sys.function(bdf, { driver: 'nvme' })
  const binding = await bind({ driver: 'gpunvme' })
  expect(state()).toEqual(['gpunvme', 'gpunvme\n', 'on\n'])
  await binding.restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('a second bind of a function is refused while the first changes its driver', async () => {
  sys.function(bdf, { driver: 'nvme' })
  const first = bind()
  await expect(bind()).rejects.toThrow(DeviceHeldError)
  await (await first).restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('disposing of a binding restores it', async () => {
  sys.function(bdf, { driver: 'nvme' })
  {
    await using binding = await bind({ driver: null })
    expect(binding.driver).toBeNull()
    expect(sys.boundDriver(bdf)).toBeUndefined()
    // Without the override, the kernel driver would bind at the next rescan.
    await expect(sys.write(join(sys.root, 'sys/bus/pci/drivers/nvme/bind'), bdf)).rejects.toThrow('ENODEV')
  }
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('keeps the power policy of a function whose power/control was on', async () => {
  sys.function(bdf, { driver: 'nvme', files: { 'power/control': 'on\n' } })
  const binding = await bind()
  expect(state()).toEqual(['vfio-pci', 'vfio-pci\n', 'on\n'])
  await binding.restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'on\n'])
})

test('restores a function that stays in D3cold, and suggests a bus rescan', async () => {
  sys.function(bdf, { driver: 'nvme', files: { power_state: 'D3cold\n' } })
  const refused = await bind().catch((error: unknown) => error as DriverError)
  expect(refused).toMatchObject({ code: 'ERR_GPUNVME_FUNCTION_ASLEEP' })
  expect((refused as DriverError).message).toMatch(/power state D3cold\n[^]*echo 1 > \/sys\/bus\/pci\/rescan/)
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('detects a use that began during unbinding although the block devices are gone, and restores the driver', async () => {
  sys.function(bdf, { driver: 'nvme' })
  mkdirSync(join(sys.root, device, 'nvme/nvme0/nvme0n1'), { recursive: true })
  sys.file('sys/block/nvme0n1/dev', '259:0\n')
  mkdirSync(join(sys.root, 'sys/block/nvme0n1/holders'))
  const write = async (path: string, text: string) => {
    await sys.write(path, text)
    if (!path.endsWith('driver/unbind')) return
    rmSync(join(sys.root, device, 'nvme'), { recursive: true })
    rmSync(join(sys.root, 'sys/block/nvme0n1'), { recursive: true })
    sys.file('proc/self/mountinfo', '36 1 259:0 / /data rw,relatime shared:1 - ext4 /dev/nvme0n1 rw\n')
  }
  await expect(bind({}, write)).rejects.toThrow('nvme0n1 is mounted on /data')
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('restores an earlier driver_override', async () => {
  sys.function(bdf, { driver: 'uio_pci_generic' })
  sys.file(`${device}/driver_override`, 'uio_pci_generic\n')
  const binding = await bind()
  await binding.restore()
  expect(state()).toEqual(['uio_pci_generic', 'uio_pci_generic\n', 'auto\n'])
})

test('leaves a function without a driver if it had none', async () => {
  sys.function(bdf)
  const binding = await bind()
  expect(sys.boundDriver(bdf)).toBe('vfio-pci')
  await binding.restore()
  expect(state()).toEqual([undefined, '(null)\n', 'auto\n'])
})

test('changes only the power policy of a function that is already bound', async () => {
  sys.function(bdf, { driver: 'vfio-pci' })
  const binding = await bind()
  expect(state()).toEqual(['vfio-pci', '(null)\n', 'on\n'])
  await binding.restore()
  expect(state()).toEqual(['vfio-pci', '(null)\n', 'auto\n'])
})

test.each([
  ['unbind nvme', (path: string) => path.endsWith('driver/unbind'), 'EACCES', 'run as root'],
  ['set driver_override', (path: string) => path.endsWith('driver_override'), 'EROFS', 'mount sysfs for writing'],
  ['bind vfio-pci', (path: string) => path.endsWith('vfio-pci/bind'), 'EBUSY', 'fuser'],
  ['set power/control', (path: string) => path.endsWith('power/control'), 'EPERM', 'run as root'],
])('undoes earlier steps if the kernel refuses to %s', async (step, fails, code, next) => {
  sys.function(bdf, { driver: 'nvme' })
  let refused = 0
  const write = (path: string, text: string) =>
    fails(path) && refused++ === 0 ? Promise.reject(refusal(code, 'write')) : sys.write(path, text)
  const error = await bind({}, write).catch((thrown: unknown) => thrown as BindError)
  expect(error).toBeInstanceOf(BindError)
  expect(error).toMatchObject({
    step,
    errno: code,
    category: code === 'EACCES' || code === 'EPERM' ? 'privilege' : 'failure',
  })
  expect((error as BindError).message).toMatch(new RegExp(`Cannot ${step} on ${bdf}: ${code}\n.*${next}`))
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test.each([
  ['is disabled', true, 'echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode'],
  ['is not compiled in', false, 'use the transport sysfs'],
])('without an IOMMU, vfio-pci cannot be bound if the no-IOMMU mode of vfio %s', async (_, isThere, next) => {
  sys.function(bdf, { driver: 'nvme' })
  if (isThere) sys.file('sys/module/vfio/parameters/enable_unsafe_noiommu_mode', 'N\n')
  const write = (path: string, text: string) =>
    path.endsWith('vfio-pci/bind') ? Promise.reject(refusal('EINVAL', 'write')) : sys.write(path, text)
  const error = await bind({}, write).catch((thrown: unknown) => thrown as BindError)
  expect(error).toMatchObject({ code: 'ERR_GPUNVME_BIND', step: 'bind vfio-pci', errno: 'EINVAL' })
  expect((error as BindError).message).toContain('intel_iommu=on')
  expect((error as BindError).message).toContain(next)
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('reports a kernel that accepts a bind request but binds nothing', async () => {
  sys.function(bdf, { driver: 'nvme' })
  const write = (path: string, text: string) =>
    path.endsWith('vfio-pci/bind') ? Promise.resolve() : sys.write(path, text)
  await expect(bind({}, write)).rejects.toThrow('Cannot bind vfio-pci on 0000:0b:00.0: the kernel accepted the request')
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('restore tries every step, reports the failed one, and can be repeated', async () => {
  sys.function(bdf, { driver: 'nvme' })
  let isBusy = true
  const write = (path: string, text: string) =>
    path.endsWith('driver/unbind') && sys.boundDriver(bdf) === 'vfio-pci' && isBusy
      ? Promise.reject(refusal('EBUSY', 'write'))
      : sys.write(path, text)
  const binding = await bind({}, write)
  await expect(binding.restore()).rejects.toMatchObject({ step: 'unbind vfio-pci', errno: 'EBUSY' })
  expect(state()).toEqual(['vfio-pci', '(null)\n', 'auto\n'])
  isBusy = false
  await binding.restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('the error lists the steps that could not be undone', async () => {
  sys.function(bdf, { driver: 'nvme' })
  const write = (path: string, text: string) =>
    path.endsWith('/bind') ? Promise.reject(refusal('ENODEV', 'write')) : sys.write(path, text)
  const error = await bind({}, write).catch((thrown: unknown) => thrown as BindError)
  expect((error as BindError).message).toMatch(
    /^Cannot bind vfio-pci on.*: ENODEV\n {2}left undone: bind nvme \(ENODEV\)\n/,
  )
  expect((error as BindError).notUndone.map(({ step }) => step)).toEqual(['bind nvme'])
})

describe('the error lists the steps left undone, and how to finish them, if', () => {
  /** Simulates a kernel that rejects every bind to nvme. */
  const write = (path: string, text: string) =>
    path.endsWith('nvme/bind') ? Promise.reject(refusal('ENODEV', 'write')) : sys.write(path, text)
  const refused = (options: Partial<BindOptions>, kernel = write) =>
    bind(options, kernel).catch((thrown: unknown) => thrown as LeftUndoneError)

  test('another process opened the drive', async () => {
    sys.function(bdf, { driver: 'nvme' })
    const error = await refused({}, async (path, text) => {
      await write(path, text)
      if (!path.endsWith('driver/unbind')) return
      mkdirSync(join(sys.root, 'proc/4242/fd'), { recursive: true })
      symlinkSync(`/sys/devices/pci0000:00/${bdf}/resource0`, join(sys.root, 'proc/4242/fd/7'))
    })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_LEFT_UNDONE', category: 'privilege' })
    expect((error as LeftUndoneError).cause).toBeInstanceOf(DeviceHeldError)
    expect((error as LeftUndoneError).message).toMatch(
      /resource0 is open in process 4242\n {2}left undone: bind nvme \(ENODEV\)\n {2}Try: restoreBinding .*gpunvme unbind 0000:0b:00.0/,
    )
    expect(state()).toEqual([undefined, '(null)\n', 'auto\n'])
  })

  test('the function stays in D3cold', async () => {
    sys.function(bdf, { driver: 'nvme', files: { power_state: 'D3cold\n' } })
    const { category, message } = (await refused({})) as LeftUndoneError
    expect(category).toBe('device')
    expect(message).toMatch(/power state D3cold\n[^]*left undone: bind nvme/)
    expect(message).not.toContain('was undone')
  })

  test('a step could not be recorded', async () => {
    sys.function(bdf, { driver: 'nvme' })
    const onRecord = ({ begun }: BindingRecord) => {
      if (begun.includes('bind vfio-pci')) throw new Error('ENOSPC')
    }
    const error = (await refused({ onRecord })) as LeftUndoneError
    expect(error.message).toMatch(/ENOSPC\n {2}left undone: bind nvme/)
    expect(error.notUndone.map(({ step }) => step)).toEqual(['bind nvme'])
  })
})

test('restore does nothing for a removed function', async () => {
  const path = sys.function(bdf, { driver: 'nvme' })
  const binding = await bind()
  rmSync(path, { recursive: true })
  await expect(binding.restore()).resolves.toBeUndefined()
})

test('restore keeps a driver that another process bound in the meantime', async () => {
  sys.function(bdf, { driver: 'nvme' })
  const writes: string[] = []
  const binding = await bind({}, (path, text) => {
    writes.push(path.slice(join(sys.root, device).length))
    return sys.write(path, text)
  })
  await sys.write(join(sys.root, device, 'driver/unbind'), bdf)
  sys.file(`${device}/driver_override`, '(null)\n')
  await sys.write(join(sys.root, 'sys/bus/pci/drivers/nvme/bind'), bdf)
  const before = writes.length
  await binding.restore()
  expect(writes.slice(before)).toEqual(['/power/control'])
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('restore is refused while another process drives the function', async () => {
  sys.function(bdf, { driver: 'nvme' })
  const binding = await bind({ driver: null })
  mkdirSync(join(sys.root, 'proc/4242/fd'), { recursive: true })
  symlinkSync(`/sys/devices/pci0000:00/${bdf}/resource0`, join(sys.root, 'proc/4242/fd/7'))
  await expect(binding.restore()).rejects.toThrow(DeviceHeldError)
  expect(state()).toEqual([undefined, 'gpunvme-none\n', 'on\n'])
  rmSync(join(sys.root, 'proc/4242'), { recursive: true })
  await binding.restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('sets driver_override before it unbinds the previous driver, so that no driver binds in between', async () => {
  sys.function(bdf, { driver: 'nvme' })
  const writes: string[] = []
  const write = (path: string, text: string) => {
    writes.push(path.slice(join(sys.root, device).length))
    return sys.write(path, text)
  }
  await bind({ driver: null }, write)
  expect(writes).toEqual(['/driver_override', '/driver/unbind', '/power/control'])
})

test('does not restore an override left by a killed process; the kernel probes for a driver', async () => {
  sys.function(bdf)
  sys.file(`${device}/driver_override`, 'gpunvme-none\n')
  const binding = await bind({ driver: null })
  await binding.restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('does not restore an override that would keep the previous driver from binding', async () => {
  sys.function(bdf, { driver: 'nvme' })
  sys.file(`${device}/driver_override`, 'vfio-pci\n') // killed between the override and unbinding
  const binding = await bind()
  await binding.restore()
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('refuses a drive that this machine uses', async () => {
  sys.function(bdf, { driver: 'nvme' })
  mkdirSync(join(sys.root, device, 'nvme/nvme0/nvme0n1'), { recursive: true })
  sys.file('sys/block/nvme0n1/dev', '259:0\n')
  mkdirSync(join(sys.root, 'sys/block/nvme0n1/holders'))
  sys.file('proc/self/mountinfo', '36 1 259:0 / / rw,relatime shared:1 - ext4 /dev/nvme0n1 rw\n')
  await expect(bind()).rejects.toThrow(DeviceHeldError)
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('refuses an IOMMU group with other bound devices before any change; bridges do not count', async () => {
  const group = { number: '12', type: 'DMA' }
  sys.function(bdf, { driver: 'nvme', group })
  const bridge = new Uint8Array(64)
  bridge[0x0e] = 0x01 // Header Layout of a bridge
  for (const [other, driver] of [
    ['0000:0b:00.1', 'xhci_hcd'],
    ['0000:00:01.0', 'pcieport'],
    ['0000:0b:00.2', 'pci-stub'],
  ] as const) {
    sys.function(other, { classCode: '0x0c0330', driver })
    sys.file(`sys/kernel/iommu_groups/12/devices/${other}`, '')
  }
  sys.file('sys/bus/pci/devices/0000:00:01.0/config', bridge)
  const refused = await bind().catch((error: unknown) => error as DriverError)
  expect(refused).toMatchObject({ code: 'ERR_GPUNVME_GROUP_NOT_VIABLE' })
  expect((refused as DriverError).facts).toEqual(['0000:0b:00.1 is bound to xhci_hcd'])
  expect(state()).toEqual(['nvme', '(null)\n', 'auto\n'])
})

test('rejects a driver that is not loaded, with the command that loads it', async () => {
  sys.function(bdf, { driver: 'nvme' })
  await expect(bind({ driver: 'uio_pci_generic' })).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_NOT_LOADED' })
  await expect(bind({ driver: 'uio_pci_generic' })).rejects.toThrow('modprobe uio_pci_generic')
  await expect(bind({ driver: 'gpunvme' })).rejects.toThrow('modprobe gpunvme; kmod/README.md describes')
})

test('rejects an invalid address or driver', async () => {
  sys.function(bdf, { driver: 'nvme' })
  await expect(bind({ bdf: '0000:0b:00.1' })).rejects.toMatchObject({ code: 'ERR_GPUNVME_PCI_FUNCTION_NOT_FOUND' })
  await expect(bind({ bdf: '../../etc' })).rejects.toThrow(RangeError)
  await expect(bind({ driver: 'nvme' as 'vfio-pci' })).rejects.toThrow(TypeError)
})

test('writes to existing sysfs files without creating or truncating them', async () => {
  sys.function(bdf)
  const binding = await bindDriver({ bdf, driver: null, sysRoot: sys.root })
  expect(sys.read(`${device}/driver_override`)).toContain('gpunvme-none')
  await binding.restore()
  expect(sys.read(`${device}/driver_override`)).toBe('\npunvme-none')
})
