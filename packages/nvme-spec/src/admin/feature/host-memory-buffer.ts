import { bit, bits, feature, n64, struct, u32 } from '../../layout/index.js'
import { FID } from '../features.js'

/**
 * An entry of the Host Memory Descriptor List: contiguous pages. Offsets are Linux's; the symbols are those in common
 * use, not read in the figure.
 */
export const HostMemoryBufferDescriptor = struct(
  'Host Memory Buffer Descriptor Entry',
  { bytes: 16, doc: 'Contiguous memory pages', spec: 'Linux 6.1 linux/nvme.h nvme_host_mem_buf_desc' },
  {
    BADD: n64(0, 'Buffer Address'),
    BSIZE: u32(8, 'Buffer Size in memory pages'),
  },
)

/** Data returned by Get Features: location of the buffer. */
export const HostMemoryBufferAttributes = struct(
  'Host Memory Buffer Attributes',
  { bytes: 4096, doc: 'Location of the Host Memory Buffer', spec: 'libnvme 1.3 nvme_host_mem_buf_attrs' },
  {
    HSIZE: u32(0, 'Host Memory Buffer Size in memory pages'),
    HMDLAL: u32(4, 'Host Memory Descriptor List Address Lower'),
    HMDLAU: u32(8, 'Host Memory Descriptor List Address Upper'),
    HMDLEC: u32(12, 'Host Memory Descriptor List Entry Count'),
  },
)

/**
 * Host Memory Buffer (FID 0Dh): memory of the host that the controller may use (Base 2.1 Figures 447 to 451). MR is
 * Linux's `NVME_HOST_MEM_RETURN`; HMNARE and HMNAR are where nvme-cli prints them.
 */
export const HostMemoryBuffer = feature(
  'Host Memory Buffer',
  {
    fid: FID.HOST_MEMORY_BUFFER,
    doc: 'Host memory that the controller may use',
    spec: 'Base 2.1 §5.1.25.2.4',
    data: HostMemoryBufferAttributes,
  },
  {
    CDW11: {
      EHM: bit(0, 'Enable Host Memory'),
      MR: bit(1, 'Memory Return'),
      HMNARE: bit(2, 'Host Memory Non-operational Access Restriction Enable'),
    },
    CDW12: { HSIZE: bits(31, 0, 'Host Memory Buffer Size in memory pages') },
    CDW13: { HMDLLA: bits(31, 0, 'Host Memory Descriptor List Lower Address') },
    CDW14: { HMDLUA: bits(31, 0, 'Host Memory Descriptor List Upper Address') },
    CDW15: { HMDLEC: bits(31, 0, 'Host Memory Descriptor List Entry Count') },
    DW0: {
      EHM: bit(0, 'Enable Host Memory'),
      HMNARE: bit(2, 'Host Memory Non-operational Access Restriction Enable'),
      HMNAR: bit(3, 'Host Memory Non-operational Access Restricted'),
    },
  },
)
