import { adminCommand, cdw } from '../layout/command.js'

/**
 * Starts or aborts a device self-test (Base 2.1 §5.1.5, Figures 170 to 173; the rows' symbol and the code of a short
 * test from libnvme 1.3 `nvme_dst_stc`). NSID FFFFFFFFh tests all attached namespaces, 0h none.
 */
export const DeviceSelfTest = adminCommand(
  'Device Self-test',
  { opcode: 0x14, doc: 'Starts or aborts a device self-test', spec: 'Base 2.1 §5.1.5' },
  {
    STC: cdw(10, 3, 0, 'Self-test Code', {
      SHORT: 0x1,
      EXTENDED: 0x2,
      HOST_INITIATED_REFRESH: 0x3,
      VENDOR_SPECIFIC: 0xe,
      ABORT: 0xf,
    }),
  },
)
