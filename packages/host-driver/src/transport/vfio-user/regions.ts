import { VFIO_REGION, VfioRegionInfo, VfioUserRegionAccess } from '@gpunvme/nvme-spec/vfio-user'
import type { ConfigSpace, NativeRegion, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { hasCode, type DriverError } from '../../error.js'
import { checkConfigAccess } from '../../pci/config-space.js'
import type { AddressRange } from '../address-space.js'
import type { MappedRegisters } from '../region-bar.js'
import { mapWindow } from '../region-window.js'
import { regionOf, type VfioRegion } from '../vfio-answers.js'
import { closeAll, type Channel } from './channel.js'

const { bytes: HEAD } = VfioUserRegionAccess

/** Room for a region with more areas than usual. */
const MAX_REGION_BYTES = 4096

/** A region, and the file from which its parts can be mapped. */
export interface TargetRegion extends VfioRegion {
  /** Absent if nothing can be mapped. The caller closes it. */
  readonly fd?: number
}

/** Queries a region. @throws as `Channel.ask`; an invalid answer is a violation. */
export function regionInfo(channel: Channel, index: number): TargetRegion {
  const name = 'DEVICE_GET_REGION_INFO'
  const asked = VfioRegionInfo.create({ ARGSZ: MAX_REGION_BYTES, INDEX: index })
  const expected = { minBytes: VfioRegionInfo.bytes, maxBytes: MAX_REGION_BYTES, descriptors: true }
  const { data, descriptors } = channel.ask(name, asked.data, expected)
  const [fd, ...others] = descriptors
  closeAll(others)
  const kept = fd === undefined ? [] : [fd]
  const region = channel.decode(name, () => regionOf(data), kept)
  const { lengthBytes, fileOffset, mappable } = region
  const isIn = ({ start, lengthBytes: length }: (typeof mappable)[number]) =>
    start % 4096 === 0 && length % 4096 === 0 && start + length <= lengthBytes
  if (!Number.isSafeInteger(lengthBytes) || !mappable.every(isIn) || !Number.isSafeInteger(fileOffset + lengthBytes))
    channel.breach(name, `region ${index}: expected mappable areas to be whole pages inside it`, kept)
  // Without a file there is nothing to map, whatever the target says.
  if (fd !== undefined && mappable.length > 0) return { ...region, fd }
  closeAll(kept)
  return { ...region, mappable: [] }
}

/** Reads bytes of a region into `into`. @throws as `Channel.ask` */
export function readRegion(channel: Channel, region: number, offset: number, into: Uint8Array): void {
  const asked = access(region, offset, into.length, HEAD)
  const { data } = channel.ask('REGION_READ', asked, HEAD + into.length)
  checkRepeated(channel, 'REGION_READ', asked, data)
  into.set(new Uint8Array(data.buffer, HEAD))
}

/** Writes bytes to a region; they are stored when it returns. @throws as `Channel.ask` */
export function writeRegion(channel: Channel, region: number, offset: number, bytes: Uint8Array): void {
  const asked = access(region, offset, bytes.length, HEAD + bytes.length)
  asked.set(bytes, HEAD)
  const { data } = channel.ask('REGION_WRITE', asked, HEAD)
  checkRepeated(channel, 'REGION_WRITE', asked, data)
}

/**
 * Maps BAR0: access by messages, and by stores if the target lets its client map it. The connection to a target that refuses access
 * to one of its registers is ended: a device on the bus cannot refuse.
 * @throws DriverError (VFIO_USER_PROTOCOL) if an area of its file cannot be mapped.
 */
export function mapBar(channel: Channel, host: VfioUserHost, bar: TargetRegion): MappedRegisters {
  const { fd, fileOffset } = bar
  const map = ({ start, lengthBytes }: AddressRange): NativeRegion => {
    const offset = fileOffset + start
    try {
      return host.mapForeign(fd!, offset, lengthBytes, 'read-write')
    } catch (error) {
      // The target chose the file and the range: the file may end before the range, or be of a kind that mmap rejects.
      const problem = `expected a file with ${lengthBytes} mappable bytes at offset ${offset}`
      return channel.breach('DEVICE_GET_REGION_INFO', `${problem}: ${(error as Error).message}`, [], error)
    }
  }
  return mapWindow(bar, map, {
    read(offset, into) {
      unlessGone(channel, () => readRegion(channel, VFIO_REGION.BAR0, offset, into))
    },
    write(offset, bytes) {
      unlessGone(channel, () => writeRegion(channel, VFIO_REGION.BAR0, offset, bytes))
    },
  })
}

/** Configuration space, as far as the target has it. The rest, and that of a target that is gone, reads all ones. */
export function targetConfigSpace(channel: Channel, lengthBytes: number): ConfigSpace {
  const whileThere = (access: () => void) => {
    try {
      if (channel.departure === undefined) access()
    } catch (error) {
      if (error !== channel.departure) throw error
    }
  }
  return {
    read(offset, widthBytes) {
      checkConfigAccess(offset, widthBytes)
      const bytes = Buffer.alloc(widthBytes, 0xff)
      if (offset + widthBytes <= lengthBytes)
        whileThere(() => {
          readRegion(channel, VFIO_REGION.CONFIG, offset, bytes)
        })
      return bytes.readUIntLE(0, widthBytes)
    },
    write(offset, widthBytes, value) {
      checkConfigAccess(offset, widthBytes, value)
      const bytes = Buffer.alloc(widthBytes)
      bytes.writeUIntLE(value, 0, widthBytes)
      if (offset + widthBytes <= lengthBytes)
        whileThere(() => {
          writeRegion(channel, VFIO_REGION.CONFIG, offset, bytes)
        })
    },
  }
}

function access(region: number, offset: number, count: number, lengthBytes: number): Uint8Array<ArrayBuffer> {
  const data = new DataView(new ArrayBuffer(lengthBytes))
  VfioUserRegionAccess.encode(data, 0, { OFFSET: BigInt(offset), REGION: region, COUNT: count })
  return new Uint8Array(data.buffer)
}

/** Checks that an answer repeats the request: data of another register must not be taken for it. */
function checkRepeated(channel: Channel, name: string, asked: Uint8Array, data: DataView<ArrayBuffer>): void {
  for (let at = 0; at < HEAD; at++) {
    if (data.getUint8(at) === asked[at]) continue
    const [want, got] = [asked.buffer, data.buffer].map((each) =>
      VfioUserRegionAccess.describe(new DataView(each as ArrayBuffer)),
    )
    channel.breach(name, `expected the answer to ${want!.join(' ')}, got one to ${got!.join(' ')}`)
  }
}

function unlessGone(channel: Channel, access: () => void): void {
  if (channel.departure !== undefined) return
  try {
    access()
  } catch (error) {
    if (error === channel.departure) return
    if (!hasCode(error, 'ERR_GPUNVME_VFIO_USER_REFUSED')) throw error
    endBy(channel, error)
  }
}

/** Ends the connection without throwing: an access to a register cannot report an error. */
function endBy(channel: Channel, refused: DriverError): void {
  try {
    channel.breach('an access to BAR0', `expected success, got an error: ${refused.headline}`, [], refused)
  } catch (error) {
    if (error !== channel.departure) throw error
  }
}
