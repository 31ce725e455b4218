import { GpuNvmeError } from '@gpunvme/nvme-spec'
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
  SubdeviceParameters,
} from './abi.js'
import { statusName } from './status.js'

/** Handles chosen by the client; any unused numbers. */
const HANDLE = { DEVICE: 0x0d0c_0001, MEMORY: 0x0d0c_0002, SUBDEVICE: 0x0d0c_0003 } as const

/** Whether the structures of a version are known: those that were compiled and compared. */
export function isKnownVersion(version: string): boolean {
  const branch = Number.parseInt(version, 10)
  return branch >= 525 && branch <= 595
}

/** Functions of the native host that `ResourceManager` requires. */
export type RmHost = Pick<HardwareHost, 'ioctl' | 'allocate'>

/** A GPU bound to NVIDIA's driver. */
export interface RmGpu {
  /** PCI address. */
  readonly bdf: string
  /** N of /dev/nvidiaN: 'Device Minor' in /proc/driver/nvidia/gpus/ADDRESS/information. */
  readonly minor: number
}

/**
 * Sends a control to an object of RM, which writes its reply into `parameters`. Returns the status; NV_OK is 0.
 * @throws RangeError for more than 4096 bytes of parameters; Error with `code` if the ioctl fails.
 */
export type RmControl = (command: number, parameters: Uint8Array) => number

/** Size of the parameter buffer: larger than the parameters of any call made here. */
const PARAMETERS_BYTES = 4096

/**
 * A client of NVIDIA's resource manager for one GPU, by ioctls and without libcuda. RM frees its objects on `close`, or
 * at the end of the process. Tested on a stand-in; has not run on a GPU.
 */
export class ResourceManager {
  private readonly host: RmHost
  private readonly before535: boolean
  private readonly controlFd: number
  private readonly gpuFd: number
  private readonly parameters: NativeRegion
  private readonly bdf: string
  private client = 0
  private deviceHandle: number | undefined
  private subdeviceHandle: number | undefined

  /**
   * Opens the driver's nodes, which starts the GPU if it is unused.
   * @param root directory with dev/: '/' on a live machine.
   * @param version of the running module; requires `isKnownVersion`.
   * @throws RangeError for another version; Error with `code` as `fs` does if a node cannot be opened.
   */
  constructor(host: RmHost, root: string, version: string, { bdf, minor }: RmGpu) {
    if (!isKnownVersion(version)) throw new RangeError(`version: expected 525 to 595, got ${version}`)
    this.host = host
    this.bdf = bdf
    this.before535 = Number.parseInt(version, 10) < 535
    this.controlFd = openSync(join(root, 'dev/nvidiactl'), 'r+')
    let gpu: number | undefined
    try {
      gpu = openSync(join(root, `dev/nvidia${minor}`), 'r+')
      this.parameters = host.allocate(PARAMETERS_BYTES, 4096)
    } catch (error) {
      for (const fd of [gpu, this.controlFd]) if (fd !== undefined) closeSync(fd)
      throw error
    }
    this.gpuFd = gpu
  }

  /**
   * Registers `lengthBytes` bytes of registers, mapped at `address`, as memory that the GPU may access; frees them
   * immediately.
   * @throws RmError with the rejected call and its status.
   */
  registerRegisters(address: bigint, lengthBytes: number): void {
    const device = this.device()
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
    this.call(this.gpuFd, ESCAPE.ALLOC_MEMORY, data)
    accept('registers', AllocMemory.view(data).STATUS)
    this.free(device, HANDLE.MEMORY)
  }

  /**
   * Sends a read-only control to the GPU's subdevice. The caller must not send controls that change state.
   * @throws RmError if the objects cannot be created; otherwise as `RmControl`.
   */
  readonly controlSubdevice: RmControl = (command, parameters) => {
    if (parameters.length > PARAMETERS_BYTES)
      throw new RangeError(`parameters: expected at most ${PARAMETERS_BYTES} bytes, got ${parameters.length}`)
    const subdevice = this.subdevice()
    new Uint8Array(this.parameterView(parameters.length).buffer).set(parameters)
    const status = this.control(subdevice, command, parameters.length)
    parameters.set(new Uint8Array(this.parameters.buffer, 0, parameters.length))
    return status
  }

  /** Frees all objects and closes the nodes. @throws Error with `code` if the ioctl fails; the nodes are closed then too. */
  close(): void {
    try {
      if (this.client !== 0) this.free(this.client, this.client)
    } finally {
      this.parameters.unmap()
      closeSync(this.gpuFd)
      closeSync(this.controlFd)
    }
  }

  private device(): number {
    if (this.deviceHandle !== undefined) return this.deviceHandle
    this.registerFile()
    this.client = this.allocate('client', 0, 0, CLASS.ROOT_CLIENT, 0)
    const id = this.idAt(this.bdf)
    const info = this.ask('instance', CONTROL.GET_ID_INFO_V2, IdInfo.bytes, (data) =>
      IdInfo.encode(data, 0, { GPU: id }),
    )
    const { DEVICE } = IdInfo.view(info)
    DeviceParameters.encode(this.parameterView(DeviceParameters.bytes), 0, { DEVICE, CLIENT_SHARE: this.client })
    this.deviceHandle = this.allocate('device', this.client, HANDLE.DEVICE, CLASS.DEVICE, DeviceParameters.bytes)
    return this.deviceHandle
  }

  /** The only subdevice of a device, unless GPUs are linked by SLI. */
  private subdevice(): number {
    if (this.subdeviceHandle !== undefined) return this.subdeviceHandle
    const device = this.device()
    SubdeviceParameters.encode(this.parameterView(SubdeviceParameters.bytes), 0, { SUBDEVICE: 0 })
    const { bytes } = SubdeviceParameters
    this.subdeviceHandle = this.allocate('subdevice', device, HANDLE.SUBDEVICE, CLASS.SUBDEVICE, bytes)
    return this.subdeviceHandle
  }

  /** Associates the GPU's file with the client. */
  private registerFile(): void {
    const data = viewOf(4)
    data.setInt32(0, this.controlFd, true)
    this.call(this.gpuFd, ESCAPE.REGISTER_FD, data)
  }

  private idAt(bdf: string): number {
    const [domain = '', bus = '', slot = ''] = bdf.split(/[:.]/)
    const place = [domain, bus, slot].map((part) => Number.parseInt(part, 16))
    const { IDS } = AttachedIds.view(this.ask('list of GPUs', CONTROL.GET_ATTACHED_IDS, AttachedIds.bytes))
    for (const id of [...IDS].filter((each) => each !== NO_GPU)) {
      const info = this.ask('place', CONTROL.GET_PCI_INFO, PciInfo.bytes, (data) =>
        PciInfo.encode(data, 0, { GPU: id }),
      )
      const { DOMAIN, BUS, SLOT } = PciInfo.view(info)
      if ([DOMAIN, BUS, SLOT].every((part, index) => part === place[index])) return id
    }
    throw new RmError('list of GPUs', 0x57)
  }

  /** Sends a control to the client. */
  private ask(what: string, command: number, bytes: number, fill?: (data: DataView) => void): DataView {
    const answer = this.parameterView(bytes)
    fill?.(answer)
    accept(what, this.control(this.client, command, bytes))
    return answer
  }

  /** Sends a control with the first `bytes` bytes of `parameters`. Returns its status. */
  private control(object: number, command: number, bytes: number): number {
    const data = viewOf(Control.bytes)
    Control.encode(data, 0, {
      CLIENT: this.client,
      OBJECT: object,
      COMMAND: command,
      PARAMETERS: this.parameters.address,
      PARAMETERS_SIZE: bytes,
    })
    this.call(this.controlFd, ESCAPE.CONTROL, data)
    return Control.view(data).STATUS
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
    this.call(this.controlFd, ESCAPE.ALLOC, data)
    const { STATUS, NEW } = declaration.view(data)
    accept(what, STATUS)
    return NEW
  }

  private free(parent: number, handle: number): void {
    const data = viewOf(Free.bytes)
    Free.encode(data, 0, { ROOT: this.client, PARENT: parent, OBJECT: handle })
    this.call(this.controlFd, ESCAPE.FREE, data)
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
  if (status !== 0) throw new RmError(what, status)
}

/** Error of a request that RM rejected, with its NV_STATUS. */
export class RmError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_RM_REFUSED'
  readonly category = 'infeasible'
  /** Rejected request: 'client', 'list of GPUs', 'place', 'instance', 'device', 'subdevice', 'registers'. */
  readonly request: string
  readonly status: number
  constructor(what: string, status: number) {
    super(`The resource manager of NVIDIA's driver rejected the request '${what}': ${statusName(status)}`, {
      next: 'check the kernel log for lines with NVRM: sudo dmesg | grep NVRM',
    })
    this.request = what
    this.status = status
  }
}
