import { fstatSync } from 'node:fs'
import type { VfioUserHost } from '@gpunvme/nvme-spec/transport'
import type { MemoryAccess, ReachableMemory } from '../memory/reachable.js'
import { FileWindows } from './file-windows.js'
import { EACCES, EEXIST, EINVAL, ENOENT, ENOMEM, ENOSPC, errnoOf, isSystemError, MAX_REGIONS } from './limits.js'

const PAGE_BYTES = 4096
/** Maximum number of mapped windows of a client: 4 TiB of memory. */
const MAX_WINDOWS = 4096
/** Number of files that stay mapped without a region. */
const MAX_IDLE = 4
/** Number of cached views, a power of two: creating one costs a quarter of copying a page. */
const KEPT_VIEWS = 64

const NOT_MEMORY = 'unsupported descriptor: expected a memfd, or a file of tmpfs or hugetlbfs'

/** A range of the client's addresses. */
interface Region {
  readonly iova: number
  readonly endIova: number
  readonly isReadable: boolean
  readonly isWritable: boolean
  /** Undefined if there is no mappable file. */
  readonly file: FileWindows | undefined
  readonly fileOffset: number
}

/** The contents of DMA_MAP. */
export interface Mapping {
  readonly iova: number
  readonly lengthBytes: number
  readonly fileOffset: number
  readonly isReadable: boolean
  readonly isWritable: boolean
}

/** Reason of a rejection: the errno for the client, and a sentence for its author. */
export interface Refusal {
  readonly errno: number
  readonly why: string
}

/**
 * The client's memory as accessible to the controller: only what DMA_MAP has mapped. Bytes obtained before `map`,
 * `unmap` or `clear` must be looked up again afterwards.
 */
export class ClientMemory implements ReachableMemory {
  private readonly host: Pick<VfioUserHost, 'mapForeign'>
  /** In order of address, without overlaps. */
  private regions: Region[] = []
  private readonly files = new Map<string, FileWindows>()
  /** Files without a region: a guest's memory is unmapped and mapped again many times during boot. */
  private readonly idle: FileWindows[] = []
  /** Total windows of all files. */
  private windows = 0
  private last: Region | undefined
  private readonly views = new Array<Uint8Array | undefined>(KEPT_VIEWS).fill(undefined)
  private readonly viewIovas = new Float64Array(KEPT_VIEWS)
  private readonly viewWrites = new Uint8Array(KEPT_VIEWS)

  constructor(host: Pick<VfioUserHost, 'mapForeign'>) {
    this.host = host
  }

  /** Number of regions. */
  get count(): number {
    return this.regions.length
  }

  /**
   * Adds a region in the file `fd`, which may be closed afterwards. Without a file the region is recorded but not
   * accessible.
   */
  map(mapping: Mapping, fd: number | undefined): Refusal | undefined {
    const { iova, lengthBytes, fileOffset, isReadable, isWritable } = mapping
    const endIova = iova + lengthBytes
    if (lengthBytes === 0) return { errno: EINVAL, why: 'expected a size above 0, got 0' }
    if (!Number.isSafeInteger(endIova) || !Number.isSafeInteger(fileOffset + lengthBytes))
      return { errno: EINVAL, why: 'the range ends beyond 2^53' }
    if (iova % PAGE_BYTES !== 0 || lengthBytes % PAGE_BYTES !== 0 || fileOffset % PAGE_BYTES !== 0)
      return { errno: EINVAL, why: `expected address, size and file offset to be multiples of ${PAGE_BYTES}` }
    const index = this.firstEndingAfter(iova)
    const next = this.regions[index]
    if (next !== undefined && next.iova < endIova)
      return { errno: EEXIST, why: `${hex(next.iova)} to ${hex(next.endIova - 1)} is already mapped` }
    if (this.regions.length >= MAX_REGIONS) return { errno: ENOSPC, why: `expected at most ${MAX_REGIONS} regions` }
    const file = fd === undefined ? undefined : this.open(mapping, fd)
    if (file !== undefined && 'errno' in file) return file
    if (file !== undefined) file.regions++
    this.regions.splice(index, 0, { iova, endIova, isReadable, isWritable, file, fileOffset })
    this.forgetViews()
    return undefined
  }

  /** Removes the regions in a range, which must not split one. */
  unmap(iova: number, lengthBytes: number): Refusal | undefined {
    const endIova = iova + lengthBytes
    if (!Number.isSafeInteger(endIova)) return { errno: EINVAL, why: 'the range ends beyond 2^53' }
    const first = this.firstEndingAfter(iova)
    let end = first
    while (end < this.regions.length && this.regions[end]!.iova < endIova) end++
    if (end === first) return { errno: ENOENT, why: 'the range is not mapped' }
    if (this.regions[first]!.iova < iova || this.regions[end - 1]!.endIova > endIova)
      return { errno: EINVAL, why: 'the range would split a mapped region' }
    for (const region of this.regions.splice(first, end - first)) this.release(region)
    this.forgetViews()
    return undefined
  }

  /** Removes all regions. */
  clear(): void {
    this.regions = []
    this.forgetViews()
    for (const file of this.files.values()) file.unmap()
    this.files.clear()
    this.idle.length = 0
    this.windows = 0
  }

  bytes(iova: number, lengthBytes: number, access: MemoryAccess = 'read'): Uint8Array | undefined {
    const slot = Math.floor(iova / PAGE_BYTES) & (KEPT_VIEWS - 1)
    const isWrite = access === 'write' ? 1 : 0
    const kept = this.views[slot]
    if (
      kept !== undefined &&
      kept.length === lengthBytes &&
      this.viewIovas[slot] === iova &&
      this.viewWrites[slot] === isWrite
    ) {
      return kept
    }
    const region = this.at(iova)
    const endIova = iova + lengthBytes
    if (region === undefined || this.goesOnTo(region, endIova, access) < endIova) return undefined
    const bytes = region.file!.bytes(region.fileOffset + iova - region.iova, lengthBytes)
    if (bytes === undefined) return undefined
    this.viewIovas[slot] = iova
    this.viewWrites[slot] = isWrite
    return (this.views[slot] = bytes)
  }

  pieces(iova: number, lengthBytes: number, access: MemoryAccess = 'read'): readonly Uint8Array[] | undefined {
    const pieces: Uint8Array[] = []
    for (let done = 0; done < lengthBytes;) {
      const reached = this.reach(iova + done, lengthBytes - done, access)
      const piece = reached > 0 ? this.bytes(iova + done, reached, access) : undefined
      if (piece === undefined) return undefined
      pieces.push(piece)
      done += reached
    }
    return pieces
  }

  has(iova: number, lengthBytes: number, access: MemoryAccess = 'read'): boolean {
    for (let done = 0; done < lengthBytes;) {
      const reached = this.reach(iova + done, lengthBytes - done, access)
      if (reached === 0) return false
      done += reached
    }
    return true
  }

  explainUnmapped(iova: number, lengthBytes: number, access: MemoryAccess = 'read'): string {
    let found: string | undefined
    let at = iova
    do {
      const behind = at > iova ? ` after the first ${at - iova} bytes` : ''
      const region = this.at(at)
      if (region === undefined) return `not mapped by the client${behind}`
      if (region.file === undefined) return `mapped by the client without a descriptor${behind}`
      if (!isOpenTo(region, access))
        found ??= `mapped by the client as ${access === 'write' ? 'read' : 'write'}-only${behind}`
      at = region.endIova
    } while (at < iova + lengthBytes)
    return found ?? 'not mapped at the time of the access'
  }

  /** Returns how many of these bytes are accessible in one piece; 0 if the first byte is not. */
  private reach(iova: number, lengthBytes: number, access: MemoryAccess): number {
    const region = this.at(iova)
    if (region === undefined) return 0
    const endIova = this.goesOnTo(region, iova + lengthBytes, access)
    return endIova < 0 ? 0 : region.file!.reach(region.fileOffset + iova - region.iova, endIova - iova)
  }

  /**
   * Returns the end, at most `endIova`, of the accessible bytes that are contiguous in the file, starting with a
   * region; or -1.
   */
  private goesOnTo(first: Region, endIova: number, access: MemoryAccess): number {
    if (!isOpenTo(first, access)) return -1
    let region = first
    while (region.endIova < endIova) {
      const next = this.at(region.endIova)
      const fileOffset = region.fileOffset + region.endIova - region.iova
      if (next === undefined || next.file !== region.file || next.fileOffset !== fileOffset) return region.endIova
      if (!isOpenTo(next, access)) return region.endIova
      region = next
    }
    return endIova
  }

  /** Returns the region that contains this address. */
  private at(iova: number): Region | undefined {
    const { last } = this
    if (last !== undefined && iova >= last.iova && iova < last.endIova) return last
    const region = this.regions[this.firstEndingAfter(iova)]
    if (region === undefined || !(iova >= region.iova)) return undefined
    return (this.last = region)
  }

  /** Returns the index of the first region that ends after `iova`. */
  private firstEndingAfter(iova: number): number {
    let [low, high] = [0, this.regions.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.regions[middle]!.endIova > iova) high = middle
      else low = middle + 1
    }
    return low
  }

  /** Maps the part of a file that a region needs; undefined if the file can only be read, such as a ROM. */
  private open({ lengthBytes, fileOffset, isWritable }: Mapping, fd: number): FileWindows | Refusal | undefined {
    try {
      const { dev, ino, size, mode } = fstatSync(fd, { bigint: true })
      if ((mode & TYPE_BITS) !== REGULAR_FILE) return { errno: EINVAL, why: NOT_MEMORY }
      const endByte = fileOffset + lengthBytes
      if (size < endByte) return { errno: EINVAL, why: `the file has ${size} bytes, expected at least ${endByte}` }
      const key = `${dev} ${ino}`
      const file = this.files.get(key) ?? new FileWindows(key, this.host)
      if (!this.makeRoom(FileWindows.needed(fileOffset, endByte), file))
        return { errno: ENOMEM, why: 'too much memory for one client' }
      const before = file.count
      file.map(fd, fileOffset, endByte, Number(size))
      this.windows += file.count - before
      this.files.set(key, file)
      const idle = this.idle.indexOf(file)
      if (idle >= 0) this.idle.splice(idle, 1)
      return file
    } catch (error) {
      // The client has truncated its file since it was checked.
      if (error instanceof RangeError) return { errno: EINVAL, why: error.message }
      if (!isSystemError(error)) throw error
      const errno = errnoOf(error)
      return errno === EACCES && !isWritable ? undefined : { errno, why: error.message }
    }
  }

  /** Whether this many more windows are allowed; drops idle files other than `file` to make room. */
  private makeRoom(windows: number, file: FileWindows): boolean {
    for (let i = this.idle.length - 1; i >= 0 && this.windows + windows > MAX_WINDOWS; i--) {
      if (this.idle[i] !== file) this.drop(i)
    }
    return this.windows + windows <= MAX_WINDOWS
  }

  private release({ file }: Region): void {
    if (file === undefined || --file.regions > 0) return
    this.idle.push(file)
    if (this.idle.length > MAX_IDLE) this.drop(0)
  }

  /** Unmaps an idle file. */
  private drop(index: number): void {
    const [file] = this.idle.splice(index, 1)
    this.windows -= file!.count
    this.files.delete(file!.key)
    file!.unmap()
  }

  private forgetViews(): void {
    this.last = undefined
    this.views.fill(undefined)
  }
}

function isOpenTo({ file, isReadable, isWritable }: Region, access: MemoryAccess): boolean {
  return file !== undefined && (access === 'write' ? isWritable : isReadable)
}

/** From a file's mode (inode(7)). */
const TYPE_BITS = 0o170000n
const REGULAR_FILE = 0o100000n

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
