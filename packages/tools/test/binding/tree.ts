import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { scratch } from '../gpunvme.js'

export const BDF = '0000:0b:00.0'
export const SERIAL = 'S64DMX0T123456'
export const MODEL = 'Example NVMe SSD 1TB'
export const BOOT_ID = '7c1f0a52-5c0d-4f0a-9a3c-0d3f2b6f5a11'

/** A folder tree in place of /, with one drive nvme0 bound to Linux's driver. fake-kernel.mjs simulates its kernel. */
export class Tree {
  readonly root = scratch()

  constructor() {
    this.file('proc/self/mountinfo', '36 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n')
    this.file('proc/swaps', 'Filename\tType\tSize\tUsed\tPriority\n')
    this.file('proc/sys/kernel/random/boot_id', `${BOOT_ID}\n`)
    this.file('sys/bus/pci/drivers_probe', '')
    for (const driver of ['nvme', 'vfio-pci']) this.driver(driver)
    this.function(BDF, '0x010802', 'nvme')
    this.group(BDF, '12')
    this.file(`${this.device()}/nvme/nvme0/serial`, `${SERIAL}      \n`)
    this.file(`${this.device()}/nvme/nvme0/model`, `${MODEL}                    \n`)
    this.file('sys/class/nvme/nvme0/address', `${BDF}\n`)
    this.file('sys/class/nvme/nvme0/transport', 'pcie\n')
  }

  /** Environment that loads the fake kernel of this tree in a process. */
  get env(): NodeJS.ProcessEnv {
    const kernel = pathToFileURL(join(import.meta.dirname, 'fake-kernel.mjs')).href
    return { FAKE_KERNEL_ROOT: this.root, NODE_OPTIONS: `--import ${kernel}` }
  }

  file(path: string, content: string | Uint8Array): void {
    mkdirSync(join(this.root, path, '..'), { recursive: true })
    writeFileSync(join(this.root, path), content)
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true })
  }

  driver(name: string): void {
    this.file(`sys/bus/pci/drivers/${name}/bind`, '')
    this.file(`sys/bus/pci/drivers/${name}/unbind`, '')
  }

  function(bdf: string, classCode: string, driver?: string): void {
    const path = this.device(bdf)
    this.file(`${path}/class`, `${classCode}\n`)
    this.file(`${path}/config`, new Uint8Array(64))
    this.file(`${path}/driver_override`, '(null)\n')
    this.file(`${path}/power/control`, 'on\n')
    if (driver === undefined) return
    symlinkSync(`../../drivers/${driver}`, join(this.root, path, 'driver'))
    // The link needs an existing folder.
    mkdirSync(join(this.root, 'sys/bus/pci/drivers', driver), { recursive: true })
  }

  group(bdf: string, number: string): void {
    this.file(`sys/kernel/iommu_groups/${number}/devices/${bdf}`, '')
    this.file(`sys/kernel/iommu_groups/${number}/type`, 'DMA\n')
    symlinkSync(`../../../../kernel/iommu_groups/${number}`, join(this.root, this.device(bdf), 'iommu_group'))
  }

  /** Gives the drive a namespace with one partition, and udev's records of both. */
  partition(format: string): void {
    mkdirSync(join(this.root, this.device(), 'nvme/nvme0/nvme0n1'), { recursive: true })
    this.file('sys/block/nvme0n1/dev', '259:0\n')
    this.file('sys/block/nvme0n1/size', `${2 ** 31}\n`)
    this.file('sys/block/nvme0n1/nvme0n1p1/dev', '259:1\n')
    this.file('sys/block/nvme0n1/nvme0n1p1/size', `${2 ** 30}\n`)
    this.file('run/udev/data/b259:0', 'E:ID_PART_TABLE_TYPE=gpt\n')
    this.file('run/udev/data/b259:1', `E:ID_FS_TYPE=${format}\n`)
  }

  /** Mounts the drive's only partition. */
  mount(where: string): void {
    this.partition('ext4')
    this.file('proc/self/mountinfo', `36 1 259:1 / ${where} rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw\n`)
  }

  device(bdf = BDF): string {
    return join('sys/bus/pci/devices', bdf)
  }

  /** Returns what binding changes: driver, override and power policy. */
  state(bdf = BDF): readonly (string | undefined)[] {
    const text = (name: string) => readFileSync(join(this.root, this.device(bdf), name), 'utf8').trim()
    return [this.bound(bdf), text('driver_override'), text('power/control')]
  }

  bound(bdf = BDF): string | undefined {
    try {
      return basename(readlinkSync(join(this.root, this.device(bdf), 'driver')))
    } catch {
      return undefined // no driver, no link
    }
  }
}

/** State of a drive that Linux's driver owns. */
export const ORIGINAL = ['nvme', '(null)', 'on']
export const BOUND = ['vfio-pci', 'vfio-pci', 'on']
