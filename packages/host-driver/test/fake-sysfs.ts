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

/** What a function of the fixture is like; an NVMe controller in D0, without capabilities, when nothing is said. */
export interface FakeFunction {
  readonly classCode?: string
  readonly driver?: string
  readonly group?: { readonly number: string; readonly type?: string; readonly name?: string }
  readonly files?: Readonly<Record<string, string>>
  readonly config?: Uint8Array
}

/** A directory that looks like /, as far as sys/bus/pci and proc/ are concerned, with as much of a kernel as binding needs. */
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

  /** What this process has open of it. */
  openFiles(): string[] {
    return readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${fd}`)
        return path.startsWith(this.root) ? [path.slice(this.root.length)] : []
      } catch {
        return [] // the descriptor that the folder itself was read by
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

  /** A driver that the kernel has. */
  driver(name: string): void {
    const path = join('sys/bus/pci/drivers', name)
    this.file(`${path}/bind`, '')
    this.file(`${path}/unbind`, '')
  }

  /** What the kernel does when a driver takes a function. */
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

  /** What vfio-pci of Linux 5.19 and later does with the power policy when it gets a function, and when it lets go. */
  private setPower(bdf: string, driver: string | undefined, policy: 'auto' | 'on'): void {
    if (driver === 'vfio-pci') this.file(`sys/bus/pci/devices/${bdf}/power/control`, `${policy}\n`)
  }

  /**
   * What the kernel does with a write to sysfs, as far as binding goes (Linux drivers/base/bus.c): `unbind` lets go;
   * `bind` succeeds for a driver that the override names or, without one, whose table has the device, else ENODEV;
   * `drivers_probe` binds the one that matches, which is nvme without an override.
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
      // Reading it back gives "(null)" once it is cleared, as from the kernel.
      writeFileSync(path, verb === 'driver_override' && bdf === '' ? '(null)\n' : `${bdf}\n`)
    }
    return Promise.resolve()
  }
}

/**
 * 256 bytes of configuration space, typed from PCIe 1.2 Figures 10, 30 and 47: vendor 1b36h, a capability list at 40h
 * with Power Management (01h) and then PCI Express (10h) at 60h.
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
