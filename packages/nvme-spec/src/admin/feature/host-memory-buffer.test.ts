import { describe, expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import { HostMemoryBuffer, HostMemoryBufferAttributes, HostMemoryBufferDescriptor } from './host-memory-buffer.js'

describe('Host Memory Buffer (Base 2.1 §5.1.25.2.4)', () => {
  it('Command Dwords 11 to 15 are those of Figures 447 to 451', () => {
    expect(rowsOf(HostMemoryBuffer.CDW11)).toEqual([
      ['EHM', 0, 0],
      // Linux 6.1, linux/nvme.h, NVME_HOST_MEM_RETURN; nvme-cli 2.
      ['MR', 1, 1],
      ['HMNARE', 2, 2],
    ])
    expect(rowsOf(HostMemoryBuffer.CDW12)).toEqual([['HSIZE', 31, 0]])
    expect(rowsOf(HostMemoryBuffer.CDW13)).toEqual([['HMDLLA', 31, 0]])
    expect(rowsOf(HostMemoryBuffer.CDW14)).toEqual([['HMDLUA', 31, 0]])
    expect(rowsOf(HostMemoryBuffer.CDW15)).toEqual([['HMDLEC', 31, 0]])
  })

  it('Dword 0 says whether it is enabled, and whether access is restricted (as nvme-cli 2 prints it)', () => {
    expect(rowsOf(HostMemoryBuffer.DW0)).toEqual([
      ['EHM', 0, 0],
      ['HMNARE', 2, 2],
      ['HMNAR', 3, 3],
    ])
  })

  it('HostMemoryBufferDescriptor: addr and size of nvme_host_mem_buf_desc (Linux 6.1, linux/nvme.h)', () => {
    expect(HostMemoryBufferDescriptor.bytes).toBe(16)
    expect(bytesOf(HostMemoryBufferDescriptor)).toEqual([
      ['BADD', 0, 8],
      ['BSIZE', 8, 4],
    ])
  })

  it('HostMemoryBufferAttributes: the members of nvme_host_mem_buf_attrs (libnvme 1.3), in 4096 bytes', () => {
    expect(HostMemoryBufferAttributes.bytes).toBe(4096)
    expect(bytesOf(HostMemoryBufferAttributes)).toEqual([
      ['HSIZE', 0, 4],
      ['HMDLAL', 4, 4],
      ['HMDLAU', 8, 4],
      ['HMDLEC', 12, 4],
    ])
    expect(HostMemoryBuffer.data).toBe(HostMemoryBufferAttributes)
  })
})
