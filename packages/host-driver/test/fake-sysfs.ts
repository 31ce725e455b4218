import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Properties of a PCI function. Default: an NVMe controller in D0. */
export interface FakeFunction {
  readonly classCode?: string
  readonly driver?: string
  readonly group?: { readonly number: string; readonly type?: string; readonly name?: string }
  readonly files?: Readonly<Record<string, string>>
  readonly config?: Uint8Array
}

/** A folder with the parts of /sys and /proc that the package uses, and a simulation of the kernel's driver binding. */
export class FakeSysfs implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'gpunvme-sysfs-'))

  constructor() {
    this.file('proc/self/mountinfo', '36 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n')
    this.file('proc/swaps', 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n')
    this.file('sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages', '64\n')
    this.file('sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages', '48\n')
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true })
  }

  file(path: string, content: string | Uint8Array): string {
    const full = join(this.root, path)
    mkdirSync(join(full, '..'), { recursive: true })
    writeFileSync(full, content)
    return full
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8')
  }

  /** Returns the files of the folder that this process has open. */
  openFiles(): string[] {
    return readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${fd}`)
        return path.startsWith(this.root) ? [path.slice(this.root.length)] : []
      } catch {
        return [] // the descriptor that was used to read /proc/self/fd
      }
    })
  }

  function(bdf: string, { classCode = '0x010802', driver, group, files = {}, config }: FakeFunction = {}): string {
    const path = join('sys/bus/pci/devices', bdf)
    this.file(`${path}/class`, `${classCode}\n`)
    this.file(`${path}/config`, config ?? configSpace())
    this.file(`${path}/driver_override`, '(null)\n')
    this.file(`${path}/power/control`, 'auto\n')
    for (const [name, text] of Object.entries(files)) this.file(`${path}/${name}`, text)
    if (driver !== undefined) this.attach(bdf, driver)
    if (group !== undefined) {
      const folder = join('sys/kernel/iommu_groups', group.number)
      this.file(`${folder}/devices/${bdf}`, '')
      if (group.type !== undefined) this.file(`${folder}/type`, `${group.type}\n`)
      if (group.name !== undefined) this.file(`${folder}/name`, `${group.name}\n`)
      symlinkSync(`../../../../../${folder}`, join(this.root, path, 'iommu_group'))
    }
    return join(this.root, path)
  }

  /** Adds a loaded driver. */
  driver(name: string): void {
    const path = join('sys/bus/pci/drivers', name)
    this.file(`${path}/bind`, '')
    this.file(`${path}/unbind`, '')
  }

  /** Binds a function to a driver. */
  attach(bdf: string, name: string): void {
    this.driver(name)
    symlinkSync(`../../drivers/${name}`, join(this.root, 'sys/bus/pci/devices', bdf, 'driver'))
  }

  boundDriver(bdf: string): string | undefined {
    try {
      return basename(readlinkSync(join(this.root, 'sys/bus/pci/devices', bdf, 'driver')))
    } catch {
      return undefined
    }
  }

  /** Sets the power policy as vfio-pci does since Linux 5.19 when it binds or unbinds a function. */
  private setPower(bdf: string, driver: string | undefined, policy: 'auto' | 'on'): void {
    if (driver === 'vfio-pci') this.file(`sys/bus/pci/devices/${bdf}/power/control`, `${policy}\n`)
  }

  /**
   * Simulates a write to sysfs that affects binding (Linux drivers/base/bus.c). `unbind` releases the function. `bind`
   * succeeds for the driver in driver_override or, without one, for a driver whose table contains the device; otherwise
   * it fails with ENODEV. `drivers_probe` binds the matching driver, which is nvme without an override.
   */
  readonly write = (path: string, text: string): Promise<void> => {
    const verb = basename(path)
    const bdf = text.trim()
    const device = join(this.root, 'sys/bus/pci/devices', bdf)
    if (verb === 'unbind') {
      this.setPower(bdf, this.boundDriver(bdf), 'on')
      rmSync(join(device, 'driver'))
    } else if (verb === 'drivers_probe') {
      const override = readFileSync(join(device, 'driver_override'), 'utf8').trim()
      if (override === '(null)' && this.boundDriver(bdf) === undefined) this.attach(bdf, 'nvme')
    } else if (verb === 'bind') {
      const driver = basename(join(path, '..'))
      const override = readFileSync(join(device, 'driver_override'), 'utf8').trim()
      const matches = override === '(null)' ? driver === 'nvme' : driver === override
      if (!matches || this.boundDriver(bdf) !== undefined)
        return Promise.reject(Object.assign(new Error('ENODEV: no such device, write'), { code: 'ENODEV' }))
      this.attach(bdf, driver)
      this.setPower(bdf, driver, 'auto')
    } else {
      // The kernel shows a cleared driver_override as "(null)".
      writeFileSync(path, verb === 'driver_override' && bdf === '' ? '(null)\n' : `${bdf}\n`)
    }
    return Promise.resolve()
  }
}

/**
 * Creates 256 bytes of configuration space as in PCIe 1.2 Figures 10, 30 and 47: vendor 1b36h, and a capability list
 * with Power Management (01h) at 40h and PCI Express (10h) at 60h.
 */
export function configSpace({ powerState = 0, flr = true, noSoftReset = true, command = 0 } = {}): Uint8Array {
  const bytes = new Uint8Array(256)
  const view = new DataView(bytes.buffer)
  view.setUint32(0x00, 0x0010_1b36, true)
  view.setUint16(0x04, command, true)
  view.setUint16(0x06, 0x0010, true) // STS.CL
  view.setUint32(0x08, 0x0108_0202, true)
  view.setUint32(0x10, 0xfebd_0004, true) // a 64-bit BAR in memory space
  view.setUint8(0x34, 0x40)
  view.setUint16(0x40, 0x6001, true)
  view.setUint16(0x44, (noSoftReset ? 0x0008 : 0) | powerState, true)
  view.setUint16(0x60, 0x0010, true)
  view.setUint32(0x64, flr ? 0x1000_0000 : 0, true)
  return bytes
}
