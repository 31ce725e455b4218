import { fstatSync, readSync } from 'node:fs'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { NVME_IOCTL_ADMIN_CMD, PassthroughCommand } from '../src/admin/passthrough.js'

/** Executes a command: writes `data`, and returns its status (0 for success) and DW0. */
export type Answer = (
  opcode: number,
  cdw10: number,
  data: Uint8Array,
  nsid: number,
) => { status?: number; dw0?: number }

/** Returns the error that native code throws for a failed system call. */
export function refusal(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: refused, ${syscall}`), { code, syscall })
}

/** Simulates a kernel: passes admin commands to `answer`, and maps files as copies of their contents. */
export class FakeKernel implements HardwareHost {
  answer: Answer = () => ({})
  /** All commands, 72 bytes each. */
  readonly commands: Uint8Array[] = []
  /** Regions that are mapped. */
  readonly live = new Set<NativeRegion>()
  /** RLIMIT_MEMLOCK. */
  memlockBytes = Infinity
  /** Error code with which `map` fails. */
  mapRefusal: string | undefined

  allocate(lengthBytes: number): NativeRegion {
    if (this.memlockBytes < lengthBytes) throw refusal('EAGAIN', 'mlock2')
    return this.region(new ArrayBuffer(lengthBytes))
  }

  map(fd: number, offsetBytes: number, lengthBytes: number, access: 'read' | 'read-write'): NativeRegion {
    if (this.mapRefusal !== undefined) throw refusal(this.mapRefusal, 'mmap')
    if (access !== 'read') throw new Error('mapped for writing')
    const buffer = new ArrayBuffer(lengthBytes)
    if (fstatSync(fd).isFile()) readSync(fd, new Uint8Array(buffer), 0, lengthBytes, offsetBytes)
    return this.region(buffer)
  }

  ioctl(_fd: number, request: number, argument: Uint8Array): number {
    if (request !== NVME_IOCTL_ADMIN_CMD) throw refusal('ENOTTY', 'ioctl')
    this.commands.push(argument.slice())
    const command = PassthroughCommand.view(new DataView(argument.buffer, argument.byteOffset, argument.byteLength))
    const region = [...this.live].find(({ address }) => address === command.ADDR)
    const data = new Uint8Array(region!.buffer, 0, command.DATA_LEN)
    const { status = 0, dw0 = 0 } = this.answer(command.OPCODE, command.CDW10, data, command.NSID)
    command.RESULT = dw0
    return status
  }

  private region(memory: ArrayBuffer): NativeRegion {
    const view = new DataView(memory)
    const region: NativeRegion = {
      address: 0x7f00_0000_1000n + BigInt(this.live.size) * 0x1000n,
      lengthBytes: memory.byteLength,
      buffer: memory,
      load32: (offset) => view.getUint32(offset, true),
      load64: (offset) => view.getBigUint64(offset, true),
      store32: () => unused(),
      store64: () => unused(),
      unmap: () => void this.live.delete(region),
    }
    this.live.add(region)
    return region
  }

  ioctlNumber = unused
  adopt = unused
  eventfd = unused
  drainEventfd = unused
  waitReadable = unused
  memlockLimitBytes = () => this.memlockBytes
  view = unused
  yield = unused
}

function unused(): never {
  throw new Error('not supported by FakeKernel')
}
