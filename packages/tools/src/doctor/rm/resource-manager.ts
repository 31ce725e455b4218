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

/** Handles of our choice: any number that the client does not use twice. */
const HANDLE = { DEVICE: 0x0d0c_0001, MEMORY: 0x0d0c_0002 } as const

/** Whether the versions' structures are known: those that were compiled and compared. */
export function isKnownVersion(version: string): boolean {
  const branch = Number.parseInt(version, 10)
  return branch >= 525 && branch <= 595
}

/** As much of the native host as RM is asked by. */
export type RmHost = Pick<HardwareHost, 'ioctl' | 'allocate'>

export interface GpuPlace {
  readonly domain: number
  readonly bus: number
  readonly slot: number
  /** N of /dev/nvidiaN. */
  readonly minor: number
}

/**
 * A client of NVIDIA's resource manager on one GPU, by its ioctls alone and without libcuda. Ends with `close`, and at the
 * latest with the process: RM frees what a client has left.
 */
export class ResourceManager {
  private readonly host: RmHost
  private readonly before535: boolean
  private readonly control: number
  private readonly gpu: number
  private readonly parameters: NativeRegion
  private client = 0

  /**
   * Opens the driver's nodes, which starts the GPU if nobody uses it.
   * @param version of the module that runs: `isKnownVersion` has to say yes.
   * @throws Error with `code` as `fs` does where a node cannot be opened.
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
   * Has RM take registers, mapped at `address`, as memory that the GPU may reach; and lets go of them at once.
   * @throws RmRefusal naming the call that was refused, with its status.
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

  /** Says to the GPU's file which client is its own. */
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

  /** @param bytes of the parameters that stand in `parameters`; 0 for none. */
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

  /** The parameters of the next call, zeroed: memory that has an address. */
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

/** RM said no: to which question, and by which NV_STATUS. */
export class RmRefusal extends Error {
  /** 'client', 'list of GPUs', 'place', 'instance', 'device', 'registers'. */
  readonly what: string
  readonly status: number
  constructor(what: string, status: number) {
    super(`the resource manager refused ${what}: ${statusName(status)}`)
    this.name = 'RmRefusal'
    this.what = what
    this.status = status
  }
}
