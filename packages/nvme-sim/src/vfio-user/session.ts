import {
  decodeVersion,
  encodeVersion,
  VFIO_REGION,
  VFIO_REGION_CAPABILITY,
  VFIO_USER,
  VfioCapability,
  VfioIrqInfo,
  VfioIrqSet,
  VfioRegionInfo,
  VfioSparseArea,
  VfioSparseMmap,
  VfioUserDeviceInfo,
  VfioUserDmaMap,
  VfioUserDmaUnmap,
  VfioUserHeader,
  VfioUserRegionAccess,
} from '@gpunvme/nvme-spec/vfio-user'
import type { Controller } from '../controller/controller.js'
import type { Device } from '../controller/device.js'
import type { ClientInterrupts } from './client-interrupts.js'
import type { ClientMemory, Refusal } from './client-memory.js'
import { IRQ_KINDS, irqInfo, setIrqs } from './irqs.js'
import { EINVAL, ENOTSUP, MAX_DATA_BYTES, MAX_DESCRIPTORS, MAX_REGIONS, MAX_WRITES } from './limits.js'
import type { Message } from './message.js'
import type { Reply } from './reply.js'
import type { ServedBar } from './served-bar.js'
import type { ServedConfig } from './served-config.js'

/** Dependencies of a session. */
export interface SessionParts {
  readonly device: Device
  readonly controller: Controller
  readonly memory: ClientMemory
  readonly interrupts: ClientInterrupts
  readonly bar: ServedBar
  readonly config: ServedConfig
}

const REGIONS = Object.keys(VFIO_REGION).length
const { TYPE, NO_REPLY } = VfioUserHeader.FLAGS
const names = new Map<number, string>(Object.entries(VFIO_USER).map(([name, number]) => [number, name]))

/** The supported protocol version: the minor version adds nothing that a client could miss. */
const [MAJOR, MINOR] = [0, 1]

/** Handles a message. Returns the errno of the reply; 0 for success, with the data in `reply`. */
type Handler = (session: Session, message: Message, reply: Reply) => number

/**
 * One client, from its first message to its last: the effect of each message, and the replies. Independent of sockets.
 */
export class Session {
  /** Why the client must be disconnected, if so. */
  end: string | undefined
  readonly parts: SessionParts
  /** The version was agreed on. */
  isOpen = false

  constructor(parts: SessionParts) {
    this.parts = parts
  }

  /** Handles a message. Returns the whole reply, in the memory of `reply`; undefined if none is requested. */
  handle(message: Message, reply: Reply): Uint8Array | undefined {
    reply.begin()
    const errno = this.carryOut(message, reply)
    if (errno !== 0) reply.descriptor = -1
    return NO_REPLY.of(message.flags) === 1 ? undefined : reply.finish(message, errno)
  }

  /** Reports a diagnostic, and returns the errno for the reply. */
  refuse(message: Message, { errno, why }: Refusal): number {
    const name = names.get(message.command) ?? `command ${message.command}`
    this.parts.device.diagnostics.report('client-message', `client sent ${name}: ${why}`)
    return errno
  }

  /** Rejects a message after which the client's further messages cannot be interpreted, and disconnects the client. */
  reject(message: Message, why: string): number {
    this.end = why
    return this.refuse(message, { errno: EINVAL, why: `${why}; client disconnected` })
  }

  open(): void {
    this.isOpen = true
  }

  private carryOut(message: Message, reply: Reply): number {
    if (TYPE.of(message.flags) !== TYPE.COMMAND) return this.reject(message, 'not a command')
    if (this.isOpen === (message.command === VFIO_USER.VERSION)) {
      const why = this.isOpen ? 'the version was already negotiated' : 'expected VERSION first'
      return this.isOpen ? this.refuse(message, { errno: EINVAL, why }) : this.reject(message, why)
    }
    const entry = handlers[message.command]
    if (entry === undefined) return this.refuse(message, { errno: ENOTSUP, why: 'unsupported command' })
    if (message.lengthBytes < entry.minBytes) {
      const why = `expected at least ${entry.minBytes} bytes of data, got ${message.lengthBytes}`
      return this.refuse(message, { errno: EINVAL, why })
    }
    return entry.handle(this, message, reply)
  }
}

/** By command. */
const handlers: Readonly<Record<number, { readonly minBytes: number; readonly handle: Handler } | undefined>> = {
  [VFIO_USER.VERSION]: { minBytes: 4, handle: agreeOnVersion },
  [VFIO_USER.DMA_MAP]: { minBytes: VfioUserDmaMap.bytes, handle: mapMemory },
  [VFIO_USER.DMA_UNMAP]: { minBytes: VfioUserDmaUnmap.bytes, handle: unmapMemory },
  [VFIO_USER.DEVICE_GET_INFO]: { minBytes: VfioUserDeviceInfo.bytes, handle: tellDevice },
  [VFIO_USER.DEVICE_GET_REGION_INFO]: { minBytes: VfioRegionInfo.bytes, handle: tellRegion },
  [VFIO_USER.DEVICE_GET_IRQ_INFO]: { minBytes: VfioIrqInfo.bytes, handle: tellIrqs },
  [VFIO_USER.DEVICE_SET_IRQS]: { minBytes: VfioIrqSet.bytes, handle: changeIrqs },
  [VFIO_USER.REGION_READ]: { minBytes: VfioUserRegionAccess.bytes, handle: readRegion },
  [VFIO_USER.REGION_WRITE]: { minBytes: VfioUserRegionAccess.bytes, handle: writeRegion },
  [VFIO_USER.REGION_WRITE_MULTI]: { minBytes: 8, handle: writeMany },
  [VFIO_USER.DEVICE_RESET]: { minBytes: 0, handle: reset },
}

function agreeOnVersion(session: Session, message: Message, reply: Reply): number {
  let theirs: ReturnType<typeof decodeVersion>
  try {
    theirs = decodeVersion(message.bytes.subarray(message.at, message.at + message.lengthBytes))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return session.reject(message, error.message)
  }
  if (theirs.major !== MAJOR) return session.reject(message, `expected major version ${MAJOR}, got ${theirs.major}`)
  const capabilities = {
    maxMsgFds: MAX_DESCRIPTORS,
    maxDataXferSize: MAX_DATA_BYTES,
    maxDmaMaps: MAX_REGIONS,
    pgsizes: 4096,
    // QEMU packs doorbells if it has many to send.
    writeMultiple: true,
  }
  const ours = encodeVersion({ major: MAJOR, minor: Math.min(theirs.minor, MINOR), capabilities })
  reply.bytes.set(ours, reply.at)
  reply.lengthBytes = ours.length
  session.open()
  return 0
}

function mapMemory(session: Session, message: Message): number {
  const { memory, device } = session.parts
  const { READ, WRITE } = VfioUserDmaMap.FLAGS
  const flags = message.u32(VfioUserDmaMap.FLAGS.offset)
  if (flags > 3) return session.refuse(message, { errno: EINVAL, why: `unknown flags 0x${flags.toString(16)}` })
  if (message.descriptors.length > 1)
    return session.refuse(message, {
      errno: EINVAL,
      why: `expected at most 1 descriptor, got ${message.descriptors.length}`,
    })
  const mapping = {
    iova: message.u64(VfioUserDmaMap.ADDRESS.offset),
    lengthBytes: message.u64(VfioUserDmaMap.SIZE.offset),
    fileOffset: message.u64(VfioUserDmaMap.OFFSET.offset),
    isReadable: READ.of(flags) === 1,
    isWritable: WRITE.of(flags) === 1,
  }
  const refusal = memory.map(mapping, message.descriptors[0])
  if (refusal !== undefined) return session.refuse(message, refusal)
  device.memoryChanged()
  return 0
}

function unmapMemory(session: Session, message: Message, reply: Reply): number {
  const { memory, device } = session.parts
  const { ALL } = VfioUserDmaUnmap.FLAGS
  const flags = message.u32(VfioUserDmaUnmap.FLAGS.offset)
  const isAll = ALL.of(flags) === 1
  // Writes of the device are not tracked.
  if ((flags & ~(1 << ALL.lsb)) !== 0)
    return session.refuse(message, { errno: ENOTSUP, why: `unsupported flags 0x${flags.toString(16)}` })
  const [iova, size] = [message.u64(VfioUserDmaUnmap.ADDRESS.offset), message.u64(VfioUserDmaUnmap.SIZE.offset)]
  if (isAll && (iova !== 0 || size !== 0))
    return session.refuse(message, { errno: EINVAL, why: 'expected address 0 and size 0 to unmap all memory' })
  if (isAll) memory.clear()
  const refusal = isAll ? undefined : memory.unmap(iova, size)
  if (refusal !== undefined) return session.refuse(message, refusal)
  device.memoryChanged()
  repeat(message, VfioUserDmaUnmap.bytes, reply)
  return 0
}

function tellDevice(_session: Session, _message: Message, reply: Reply): number {
  VfioUserDeviceInfo.encode(reply.view, reply.at, {
    ARGSZ: VfioUserDeviceInfo.bytes,
    FLAGS: { RESET: 1, PCI: 1 },
    NUM_REGIONS: REGIONS,
    NUM_IRQS: IRQ_KINDS,
  })
  reply.lengthBytes = VfioUserDeviceInfo.bytes
  return 0
}

function tellRegion(session: Session, message: Message, reply: Reply): number {
  const { bar, config } = session.parts
  const [room, index] = [message.u32(VfioRegionInfo.ARGSZ.offset), message.u32(VfioRegionInfo.INDEX.offset)]
  if (index >= REGIONS)
    return session.refuse(message, { errno: EINVAL, why: `expected a region below ${REGIONS}, got ${index}` })
  if (room < VfioRegionInfo.bytes)
    return session.refuse(message, {
      errno: EINVAL,
      why: `expected argsz of at least ${VfioRegionInfo.bytes}, got ${room}`,
    })
  const size = index === VFIO_REGION.BAR0 ? bar.lengthBytes : index === VFIO_REGION.CONFIG ? config.lengthBytes : 0
  const doorbells = index === VFIO_REGION.BAR0 ? bar.doorbells : undefined
  const capabilityBytes = VfioCapability.bytes + VfioSparseMmap.bytes + VfioSparseArea.bytes
  const argsz = VfioRegionInfo.bytes + (doorbells === undefined ? 0 : capabilityBytes)
  // A client that provides too little room asks again.
  const isWhole = room >= argsz
  const [isThere, isMapped] = [size > 0 ? 1 : 0, doorbells === undefined ? 0 : 1]
  VfioRegionInfo.encode(reply.view, reply.at, {
    ARGSZ: argsz,
    FLAGS: { READ: isThere, WRITE: isThere, MMAP: isMapped, CAPS: isMapped },
    INDEX: index,
    CAP_OFFSET: doorbells !== undefined && isWhole ? VfioRegionInfo.bytes : 0,
    SIZE: BigInt(size),
    OFFSET: 0n,
  })
  reply.lengthBytes = isWhole ? argsz : VfioRegionInfo.bytes
  if (doorbells === undefined || !isWhole) return 0
  const at = reply.at + VfioRegionInfo.bytes
  VfioCapability.encode(reply.view, at, { ID: VFIO_REGION_CAPABILITY.SPARSE_MMAP, VERSION: 1, NEXT: 0 })
  VfioSparseMmap.encode(reply.view, at + VfioCapability.bytes, { NR_AREAS: 1 })
  VfioSparseArea.encode(reply.view, at + VfioCapability.bytes + VfioSparseMmap.bytes, {
    OFFSET: BigInt(doorbells.offsetBytes),
    SIZE: BigInt(doorbells.lengthBytes),
  })
  reply.descriptor = doorbells.descriptor
  return 0
}

function tellIrqs(session: Session, message: Message, reply: Reply): number {
  const index = message.u32(VfioIrqInfo.INDEX.offset)
  if (index >= IRQ_KINDS)
    return session.refuse(message, {
      errno: EINVAL,
      why: `expected an interrupt type below ${IRQ_KINDS}, got ${index}`,
    })
  const { flags, count } = irqInfo(index, session.parts.interrupts.count)
  VfioIrqInfo.encode(reply.view, reply.at, { ARGSZ: VfioIrqInfo.bytes, FLAGS: flags, INDEX: index, COUNT: count })
  reply.lengthBytes = VfioIrqInfo.bytes
  return 0
}

function changeIrqs(session: Session, message: Message): number {
  const refusal = setIrqs(message, session.parts.interrupts)
  return refusal === undefined ? 0 : session.refuse(message, refusal)
}

function readRegion(session: Session, message: Message, reply: Reply): number {
  const { bar, config } = session.parts
  const offset = message.u64(VfioUserRegionAccess.OFFSET.offset)
  const region = message.u32(VfioUserRegionAccess.REGION.offset)
  const count = message.u32(VfioUserRegionAccess.COUNT.offset)
  const problem = accessProblem(session, region, offset, count)
  if (problem !== undefined) return session.refuse(message, { errno: EINVAL, why: problem })
  const at = reply.at + VfioUserRegionAccess.bytes
  if (region === VFIO_REGION.BAR0) bar.read(offset, count, reply.view, at)
  else config.read(offset, count, reply.view, at)
  repeat(message, VfioUserRegionAccess.bytes, reply)
  reply.lengthBytes += count
  return 0
}

function writeRegion(session: Session, message: Message, reply: Reply): number {
  const { bytes } = VfioUserRegionAccess
  const count = message.u32(VfioUserRegionAccess.COUNT.offset)
  if (message.lengthBytes < bytes + count)
    return session.refuse(message, {
      errno: EINVAL,
      why: `expected ${count} bytes to write, got ${message.lengthBytes - bytes}`,
    })
  const errno = write(session, message, 0)
  if (errno === 0) repeat(message, bytes, reply)
  return errno
}

/** REGION_WRITE_MULTI: a count, then writes of up to 8 bytes each. */
function writeMany(session: Session, message: Message, reply: Reply): number {
  const entryBytes = VfioUserRegionAccess.bytes + 8
  const count = message.u64(0)
  if (count > MAX_WRITES)
    return session.refuse(message, { errno: EINVAL, why: `expected at most ${MAX_WRITES} writes, got ${count}` })
  if (message.lengthBytes - 8 !== count * entryBytes)
    return session.refuse(message, {
      errno: EINVAL,
      why: `expected ${8 + count * entryBytes} bytes for ${count} writes, got ${message.lengthBytes}`,
    })
  for (let i = 0; i < count; i++) {
    const entry = 8 + i * entryBytes
    if (message.u32(entry + VfioUserRegionAccess.COUNT.offset) > 8)
      return session.refuse(message, { errno: EINVAL, why: 'expected at most 8 bytes per write' })
    const errno = write(session, message, entry)
    if (errno !== 0) return errno
  }
  repeat(message, 8, reply)
  return 0
}

/** Executes the write whose target is `entry` bytes into a message, followed by its data. */
function write(session: Session, message: Message, entry: number): number {
  const { bar, config } = session.parts
  const offset = message.u64(entry + VfioUserRegionAccess.OFFSET.offset)
  const region = message.u32(entry + VfioUserRegionAccess.REGION.offset)
  const count = message.u32(entry + VfioUserRegionAccess.COUNT.offset)
  const problem = accessProblem(session, region, offset, count)
  if (problem !== undefined) return session.refuse(message, { errno: EINVAL, why: problem })
  const at = message.at + entry + VfioUserRegionAccess.bytes
  if (region === VFIO_REGION.BAR0) bar.write(offset, count, message.view, at)
  else if (!config.write(offset, count, message.view, at))
    return session.refuse(message, {
      errno: EINVAL,
      why: `${count} bytes at ${hex(offset)} of configuration space: expected 1, 2 or 4 bytes in one dword`,
    })
  return 0
}

/** Returns why an access is invalid; undefined if it is valid. */
function accessProblem({ parts }: Session, region: number, offset: number, count: number): string | undefined {
  const { bar, config } = parts
  const target = region === VFIO_REGION.BAR0 ? bar : region === VFIO_REGION.CONFIG ? config : undefined
  if (target === undefined) return `region ${region} is empty or does not exist`
  if (count === 0 || offset + count > target.lengthBytes)
    return `${count} bytes at ${hex(offset)} of region ${region}: expected a range within ${target.lengthBytes} bytes`
  if (target === bar && !bar.isAccess(offset, count))
    return `${count} bytes at ${hex(offset)} of BAR0: expected 4 aligned bytes, or 8 of a 64-bit register`
  return undefined
}

function reset({ parts }: Session): number {
  parts.controller.resetByHost('function')
  return 0
}

/** The reply begins like the message. */
function repeat({ bytes, at }: Message, lengthBytes: number, reply: Reply): void {
  for (let i = 0; i < lengthBytes; i++) reply.bytes[reply.at + i] = bytes[at + i]!
  reply.lengthBytes = lengthBytes
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
