import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { DmaSegment, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../error.js'

/** Page size of /proc/self/pagemap, on x86-64 and on arm64 with 4 KiB pages. */
const BASE_PAGE_BYTES = 4096

/**
 * Returns the physical addresses of locked memory, from /proc/self/pagemap (proc_pid_pagemap(5)). Checks every base
 * page: it must be in memory with a known frame, the first of each page of `pageBytes` aligned to it, and the rest
 * directly after it. Adjacent pages form one segment. Use only memory that the kernel does not migrate, such as huge
 * pages: with an old address, the drive would overwrite other memory.
 * @param sysRoot directory with proc/.
 * @throws DriverError (PAGEMAP): physical addresses are unavailable, or not those of locked huge pages.
 */
export function physicalSegments(sysRoot: string, region: NativeRegion, pageBytes: number): DmaSegment[] {
  const { address, lengthBytes } = region
  const start = Number(address)
  if (start % pageBytes !== 0)
    throw untranslatable(`memory at 0x${start.toString(16)} is not aligned to ${pageBytes} bytes`)
  const entries = readEntries(
    join(sysRoot, 'proc/self/pagemap'),
    start / BASE_PAGE_BYTES,
    lengthBytes / BASE_PAGE_BYTES,
  )
  const segments: { offsetBytes: number; iova: number; lengthBytes: number }[] = []
  const perPage = pageBytes / BASE_PAGE_BYTES
  let first = 0
  for (let index = 0; index * BASE_PAGE_BYTES < lengthBytes; index++) {
    const frame = frameOf(entries, index)
    const within = index % perPage
    if (within === 0) {
      if (frame % perPage !== 0)
        throw untranslatable(`page ${index} is at frame ${frame}, which is not aligned to ${pageBytes} bytes`)
      first = frame
      const last = segments.at(-1)
      const iova = frame * BASE_PAGE_BYTES
      if (last !== undefined && last.iova + last.lengthBytes === iova) last.lengthBytes += pageBytes
      else segments.push({ offsetBytes: index * BASE_PAGE_BYTES, iova, lengthBytes: pageBytes })
    } else if (frame !== first + within) {
      throw untranslatable(`page ${index} is at frame ${frame}, expected ${first + within}`)
    }
  }
  return segments
}

/** Bits 54:0 of an entry are the page frame number if bit 63, page present, is set. */
function frameOf(entries: DataView, index: number): number {
  const low = entries.getUint32(index * 8, true)
  const high = entries.getUint32(index * 8 + 4, true)
  if (high >>> 31 !== 1) throw untranslatable(`page ${index} is not present, though it was locked`)
  const frame = (high & 0x7f_ffff) * 2 ** 32 + low
  if (frame === 0) throw untranslatable('frame numbers are hidden without CAP_SYS_ADMIN', true)
  if (!Number.isSafeInteger((frame + 1) * BASE_PAGE_BYTES))
    throw untranslatable(`page ${index} is at frame ${frame}, beyond 2^53 bytes`)
  return frame
}

function readEntries(path: string, firstPage: number, pages: number): DataView {
  const bytes = Buffer.alloc(pages * 8)
  let fd
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    throw untranslatable(`it cannot be opened (${String((error as NodeJS.ErrnoException).code)})`, true, error)
  }
  try {
    for (let done = 0; done < bytes.length;) {
      const got = readSync(fd, bytes, done, bytes.length - done, firstPage * 8 + done)
      if (got === 0) throw untranslatable(`it ends before page 0x${(firstPage + done / 8).toString(16)}`)
      done += got
    }
  } finally {
    closeSync(fd)
  }
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function untranslatable(problem: string, isPrivilege = false, cause?: unknown): DriverError {
  const headline = `Cannot translate memory through /proc/self/pagemap: ${problem}`
  return new DriverError('ERR_GPUNVME_PAGEMAP', isPrivilege ? 'privilege' : 'failure', headline, {
    next: isPrivilege
      ? 'run as root, or give the process CAP_SYS_ADMIN'
      : 'use the transport vfio with an IOMMU, which needs no physical addresses',
    cause,
  })
}
