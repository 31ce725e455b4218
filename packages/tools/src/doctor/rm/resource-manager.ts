import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import {
  Alloc,
  Alloc525,
  AllocMemory,
  AttachedIds,
  CLASS,
  Control,
  CONTROL,
  DeviceParameters,
  ESCAPE,
  Free,
  IdInfo,
  NO_GPU,
  PciInfo,
  REGISTERS,
  requestOf,
} from './abi.js'
import { statusName } from './status.js'

/** Handles chosen by the client; any unused numbers. */
const HANDLE = { DEVICE: 0x0d0c_0001, MEMORY: 0x0d0c_0002 } as const

/** Whether the structures of a version are known: those that were compiled and compared. */
export function isKnownVersion(version: string): boolean {
  const branch = Number.parseInt(version, 10)
  return branch >= 525 && branch <= 595
}

/** Functions of the native host that RM requires. */
export type RmHost = Pick<HardwareHost, 'ioctl' | 'allocate'>

export interface GpuPlace {
  readonly domain: number
  readonly bus: number
  readonly slot: number
  /** N of /dev/nvidiaN. */
  readonly minor: number
}

/**
 * A client of NVIDIA's resource manager for one GPU, by ioctls and without libcuda. RM frees its objects on `close`, or
 * at the end of the process.
 */
export class ResourceManager {
  private readonly host: RmHost
  private readonly before535: boolean
  private readonly control: number
  private readonly gpu: number
  private readonly parameters: NativeRegion
  private client = 0

  /**
   * Opens the driver's nodes, which starts the GPU if it is unused.
   * @param version of the running module; requires `isKnownVersion`.
   * @throws Error with `code` as `fs` does if a node cannot be opened.
   */
  constructor(host: RmHost, root: string, version: string, { minor }: GpuPlace) {
    if (!isKnownVersion(version)) throw new RangeError(`version: expected 525 to 595, got ${version}`)
    this.host = host
    this.before535 = Number.parseInt(version, 10) < 535
    this.control = openSync(join(root, 'dev/nvidiactl'), 'r+')
    let gpu: number | undefined
    try {
      gpu = openSync(join(root, `dev/nvidia${minor}`), 'r+')
      this.parameters = host.allocate(4096, 4096)
    } catch (error) {
      for (const fd of [gpu, this.control]) if (fd !== undefined) closeSync(fd)
      throw error
    }
    this.gpu = gpu
  }

  /**
   * Registers `lengthBytes` bytes of registers, mapped at `address`, as memory that the GPU may access; frees them
   * immediately.
   * @throws RmRefusal with the rejected call and its status.
   */
  registerRegisters(place: GpuPlace, address: bigint, lengthBytes: number): void {
    this.registerFile()
    this.client = this.allocate('client', 0, 0, CLASS.ROOT_CLIENT, 0)
    const device = this.deviceAt(place)
    const data = viewOf(AllocMemory.bytes)
    AllocMemory.encode(data, 0, {
      ROOT: this.client,
      PARENT: device,
      NEW: HANDLE.MEMORY,
      CLASS: CLASS.OS_DESCRIPTOR,
      FLAGS: REGISTERS,
      MEMORY: address,
      LIMIT: BigInt(lengthBytes - 1),
      FD: NO_GPU,
    })
    this.call(this.gpu, ESCAPE.ALLOC_MEMORY, data)
    accept('registers', AllocMemory.view(data).STATUS)
    this.free(device, HANDLE.MEMORY)
  }

  close(): void {
    try {
      if (this.client !== 0) this.free(this.client, this.client)
    } finally {
      this.parameters.unmap()
      closeSync(this.gpu)
      closeSync(this.control)
    }
  }

  /** Associates the GPU's file with the client. */
  private registerFile(): void {
    const data = viewOf(4)
    data.setInt32(0, this.control, true)
    this.call(this.gpu, ESCAPE.REGISTER_FD, data)
  }

  private deviceAt(place: GpuPlace): number {
    const id = this.idAt(place)
    const info = this.ask('instance', CONTROL.GET_ID_INFO_V2, IdInfo.bytes, (data) =>
      IdInfo.encode(data, 0, { GPU: id }),
    )
    const { DEVICE } = IdInfo.view(info)
    DeviceParameters.encode(this.parameterView(DeviceParameters.bytes), 0, { DEVICE, CLIENT_SHARE: this.client })
    return this.allocate('device', this.client, HANDLE.DEVICE, CLASS.DEVICE, DeviceParameters.bytes)
  }

  private idAt({ domain, bus, slot }: GpuPlace): number {
    const { IDS } = AttachedIds.view(this.ask('list of GPUs', CONTROL.GET_ATTACHED_IDS, AttachedIds.bytes))
    for (const id of [...IDS].filter((each) => each !== NO_GPU)) {
      const info = this.ask('place', CONTROL.GET_PCI_INFO, PciInfo.bytes, (data) =>
        PciInfo.encode(data, 0, { GPU: id }),
      )
      const found = PciInfo.view(info)
      if (found.DOMAIN === domain && found.BUS === bus && found.SLOT === slot) return id
    }
    throw new RmRefusal('list of GPUs', 0x57)
  }

  private ask(what: string, command: number, bytes: number, fill?: (data: DataView) => void): DataView {
    const answer = this.parameterView(bytes)
    fill?.(answer)
    const data = viewOf(Control.bytes)
    Control.encode(data, 0, {
      CLIENT: this.client,
      OBJECT: this.client,
      COMMAND: command,
      PARAMETERS: this.parameters.address,
      PARAMETERS_SIZE: bytes,
    })
    this.call(this.control, ESCAPE.CONTROL, data)
    accept(what, Control.view(data).STATUS)
    return answer
  }

  /** @param bytes Length of the arguments in `parameters`; 0 for none. */
  private allocate(what: string, parent: number, handle: number, kind: number, bytes: number): number {
    const declaration = this.before535 ? Alloc525 : Alloc
    const data = viewOf(declaration.bytes)
    declaration.encode(data, 0, {
      ROOT: this.client,
      PARENT: parent,
      NEW: handle,
      CLASS: kind,
      PARAMETERS: bytes === 0 ? 0n : this.parameters.address,
    })
    this.call(this.control, ESCAPE.ALLOC, data)
    const { STATUS, NEW } = declaration.view(data)
    accept(what, STATUS)
    return NEW
  }

  private free(parent: number, handle: number): void {
    const data = viewOf(Free.bytes)
    Free.encode(data, 0, { ROOT: this.client, PARENT: parent, OBJECT: handle })
    this.call(this.control, ESCAPE.FREE, data)
  }

  private call(fd: number, escape: number, data: DataView): void {
    this.host.ioctl(fd, requestOf(escape, data.byteLength), new Uint8Array(data.buffer))
  }

  /** Returns the parameter block of the next call, zeroed, in memory with a known address. */
  private parameterView(bytes: number): DataView {
    new Uint8Array(this.parameters.buffer).fill(0)
    return new DataView(this.parameters.buffer, 0, bytes)
  }
}

function viewOf(bytes: number): DataView {
  return new DataView(new ArrayBuffer(bytes))
}

function accept(what: string, status: number): void {
  if (status !== 0) throw new RmRefusal(what, status)
}

/** Error of a request that RM rejected, with its NV_STATUS. */
export class RmRefusal extends Error {
  /** Rejected request: 'client', 'list of GPUs', 'place', 'instance', 'device', 'registers'. */
  readonly what: string
  readonly status: number
  constructor(what: string, status: number) {
    super(`the resource manager rejected ${what}: ${statusName(status)}`)
    this.name = 'RmRefusal'
    this.what = what
    this.status = status
  }
}
