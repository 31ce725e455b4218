import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { Entry } from '../conformance/raw-host/entry.js'
import { bytesOf, prps, type Completed, type TestHost } from './host.js'

// Encodes commands of the NVM Command Set for tests.

/** Encodes a command with SLBA in CDW10 and 11, and NLB and the bits of `cdw12` in CDW12. */
export function onBlocks(opcode: number, slba: number, blocks: number, more: Partial<Entry> = {}, cdw12 = 0): Entry {
  const cdw = { 10: slba % 2 ** 32, 11: Math.floor(slba / 2 ** 32), 12: ((blocks - 1) | cdw12) >>> 0, ...more.cdw }
  return { opcode, nsid: 1, ...more, cdw }
}

/** Encodes the data pointer of an entry as PRPs. */
export function at(host: TestHost, memory: DmaMemory, offsetBytes = 0, lengthBytes?: number): Partial<Entry> {
  const [prp1, prp2] = prps(host, memory, offsetBytes, lengthBytes)
  return { prp1, prp2 }
}

/** Encodes a 64-bit value in two dwords of an entry. */
export function qword(dword: number, value: number): Record<number, number> {
  return { [dword]: value % 2 ** 32, [dword + 1]: Math.floor(value / 2 ** 32) }
}

/** Writes blocks of 512 bytes from `slba` on. Each block is filled with one value. */
export async function writeMarked(host: TestHost, slba: number, values: readonly number[]): Promise<Completed> {
  const memory = host.alloc(values.length * 512)
  values.forEach((value, i) => bytesOf(memory, i * 512, 512).fill(value))
  return host.command(1, onBlocks(0x01, slba, values.length, at(host, memory)))
}

/**
 * Reads blocks of 512 bytes. Returns the value that fills each block, or -1 for a mixed block; or the status of an
 * error.
 */
export async function readMarked(host: TestHost, slba: number, count: number): Promise<number[] | string> {
  const memory = host.alloc(count * 512)
  bytesOf(memory).fill(0xa5)
  const { status } = await host.command(1, onBlocks(0x02, slba, count, at(host, memory)))
  if (status !== '0/00') return status
  return Array.from({ length: count }, (_, i) => {
    const block = bytesOf(memory, i * 512, 512)
    return block.every((byte) => byte === block[0]) ? block[0]! : -1
  })
}
