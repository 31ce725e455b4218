import { bit, bits, feature, struct, u32 } from '../../layout/index.js'
import { FID } from '../features.js'

/** Data returned by Get Features (Base 2.1 Figure 427). */
export const ControllerDataQueueData = struct(
  'Controller Data Queue data',
  { bytes: 512, doc: 'Head and trigger of a Controller Data Queue', spec: 'Base 2.1 §5.1.25.1.23' },
  { HP: u32(0, 'Head Pointer'), TPT: u32(4, 'Tail Pointer Trigger') },
)

/**
 * Controller Data Queue (FID 21h): how far the host has read (Base 2.1 Figures 425 to 427). The rows of CDW11 are those
 * of libnvme 1.16 `nvme_lm_set_features_ctrl_data_queue`.
 */
export const ControllerDataQueue = feature(
  'Controller Data Queue',
  {
    fid: FID.CONTROLLER_DATA_QUEUE,
    doc: 'Read position in a Controller Data Queue',
    spec: 'Base 2.1 §5.1.25.1.23',
    data: ControllerDataQueueData,
  },
  {
    CDW11: { CDQID: bits(15, 0, 'Controller Data Queue Identifier'), ETPT: bit(31, 'Enable Tail Pointer Trigger') },
    CDW12: { HP: bits(31, 0, 'Head Pointer') },
    CDW13: { TPT: bits(31, 0, 'Tail Pointer Trigger') },
    // The result is data.
    DW0: {},
  },
)
