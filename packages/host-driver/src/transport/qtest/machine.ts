import { readFileSync } from 'node:fs'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { controllerId, VRAM_SLOT, type MachineFiles } from './arguments.js'
import type { Channel } from './channel.js'
import { configSpace } from './config-space.js'
import { machineMemory, memoryArea } from './memory.js'
import { nvmeFunction, type NvmeFunction } from './nvme-function.js'
import { FIRST_SLOT, MIB, type MachineOptions } from './options.js'
import { BarWindow, placeBars, restoreBars } from './places.js'
import type { QemuExit, QemuProcess } from './process.js'
import type { Qmp, QemuVersion } from './qmp.js'
import type { SharedFile } from './shared-file.js'

// Address ranges for BARs: above RAM and below the interrupt controllers; and far above 4 GiB, where GPUs have their
// memory.
const SMALL_BARS = 0xe000_0000
const LARGE_BARS = 2 ** 39
/** BAR of ivshmem-plain with its memory; registers of the other kind are in BAR 0. */
const IVSHMEM_MEMORY_BAR = 2
// The chipset ejects a slot when its bit is written here, after the bus was selected: bus 0 is 0.
const EJECT_PORT = 0xae08
const EJECT_BUS_PORT = 0xae10

/** One controller of a QEMU machine. */
export interface QemuController {
  readonly transport: Transport
  readonly serial: string
  /** Name in QEMU's monitor. */
  readonly id: string
  /** Its namespaces in the requested order, with the files that hold their blocks. */
  readonly namespaces: readonly { readonly nsid: number; readonly image: string }[]
  /** Removes it from the machine, even during transfers: the transport's registers read all ones from then on. */
  remove(): Promise<void>
}

/** Memory behind the BAR that replaces a GPU's, from the side of the device that owns it. */
export interface QemuVram {
  /** Address of its first byte for the controllers. */
  readonly iova: number
  readonly lengthBytes: number
  /** Returns a copy of a range. @throws RangeError outside of the memory. */
  read(offsetBytes: number, lengthBytes: number): Uint8Array
  /** Writes a range. @throws RangeError outside of the memory. */
  write(offsetBytes: number, bytes: Uint8Array): void
}

/** A running QEMU with its NVMe controllers, without a guest. */
export interface Qemu {
  readonly version: QemuVersion
  /** Process ID. */
  readonly pid: number
  /** Its controllers, in the order of `QemuOptions.controllers`. */
  readonly controllers: readonly QemuController[]
  /** Undefined without `vramBytes`. */
  readonly vram?: QemuVram
  /**
   * Host mistakes that QEMU reports: its `pci_nvme_ub_*` and `pci_nvme_err_*` traces. Empty if there were none; remains
   * readable after QEMU has ended.
   */
  readonly misuse: string
  /** Why QEMU has ended; undefined while it runs. */
  readonly exit: QemuExit | undefined
  /** Runs a command of QEMU's monitor, for example to inject a health warning. @throws DriverError (QEMU_MONITOR) if it fails. */
  qmp(command: string, args?: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Ends QEMU and removes all of its files. Its transports can no longer be used. */
  close(): Promise<void>
  /** Same as `close`: for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What `startQemu` has when QEMU responds. */
export interface Parts {
  readonly machine: MachineOptions
  readonly files: MachineFiles
  readonly ram: SharedFile
  readonly vram: SharedFile | undefined
  readonly channel: Channel
  readonly child: QemuProcess
  readonly qmp: Qmp
  readonly version: QemuVersion
  /** Closes and removes everything that was created. */
  readonly cleanUp: () => void
}

/** Does the work of firmware, and returns the resulting machine. */
export function assemble({ machine, files, ram, vram, channel, child, qmp, version, cleanUp }: Parts): Qemu {
  const small = new BarWindow(SMALL_BARS)
  const large = new BarWindow(LARGE_BARS)
  const fakeGpu = vram && fakeGpuMemory(vram, channel, small, large)
  const ramArea = memoryArea(ram, 0, MIB, true)
  const vramArea = fakeGpu && memoryArea(fakeGpu.file, fakeGpu.iova, 0, machine.vramView)
  const functions: NvmeFunction[] = []
  const shared = {
    ...{ channel, ram: ramArea, dma: machineMemory(ramArea, vramArea), hasVram: vram !== undefined, small, large },
    async reset() {
      await qmp.untilEvent(
        'RESET',
        () => true,
        () => qmp.execute('system_reset'),
      )
      fakeGpu?.restore()
      for (const each of functions) each.restore()
    },
  }
  for (const index of machine.controllers.keys())
    functions.push(nvmeFunction(shared, `qtest:${index}`, FIRST_SLOT + index))

  const remove = async (index: number) => {
    functions[index]!.leave()
    const id = controllerId(index)
    await qmp.execute('device_del', { id })
    await qmp.untilEvent(
      'DEVICE_DELETED',
      (data) => (data as { device?: string }).device === id,
      () => {
        channel.ask(`outl ${EJECT_BUS_PORT} 0`)
        channel.ask(`outl ${EJECT_PORT} ${2 ** (FIRST_SLOT + index)}`)
      },
    )
  }
  const readMisuse = () => readFileSync(files.trace, 'utf8')
  let lastMisuse: string | undefined
  let closing: Promise<void> | undefined
  const close = async () => {
    channel.close()
    await child.end()
    lastMisuse = readMisuse()
    cleanUp()
  }
  return {
    version,
    pid: child.pid!,
    controllers: machine.controllers.map(({ serial, namespaces }, index) => ({
      transport: functions[index]!.transport,
      serial,
      id: controllerId(index),
      namespaces: namespaces.map(({ nsid, image }) => ({ nsid, image: image ?? files.image(index, nsid) })),
      remove: () => remove(index),
    })),
    ...(fakeGpu && { vram: fakeGpu.vram }),
    get misuse() {
      return lastMisuse ?? readMisuse()
    },
    get exit() {
      return child.exit
    },
    qmp: (command, args) => qmp.execute(command, args),
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  }
}

/** The function whose BAR replaces a GPU's memory: QEMU's device for shared memory. */
function fakeGpuMemory(file: SharedFile, channel: Channel, small: BarWindow, large: BarWindow) {
  const config = configSpace(channel, VRAM_SLOT, () => channel.lost)
  const bars = placeBars(config, small, large)
  const iova = bars.find(({ bar }) => bar === IVSHMEM_MEMORY_BAR)!.address
  const check = (offsetBytes: number, lengthBytes: number) => {
    if (offsetBytes >= 0 && lengthBytes >= 0 && offsetBytes + lengthBytes <= file.lengthBytes) return
    throw new RangeError(
      `vram of ${file.lengthBytes} bytes: expected a range inside it, got ${offsetBytes} + ${lengthBytes}`,
    )
  }
  const vram: QemuVram = {
    iova,
    lengthBytes: file.lengthBytes,
    read(offsetBytes, lengthBytes) {
      check(offsetBytes, lengthBytes)
      const bytes = new Uint8Array(lengthBytes)
      file.read(offsetBytes, bytes)
      return bytes
    },
    write(offsetBytes, bytes) {
      check(offsetBytes, bytes.length)
      file.write(offsetBytes, bytes)
    },
  }
  return { file, iova, vram, restore: () => restoreBars(config, bars) }
}
