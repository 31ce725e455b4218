import { count, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/**
 * Number of Queues (FID 07h): I/O submission and completion queues requested in CDW11 of Set Features, and allocated in
 * DW0 of the completion. All numbers are 0's based; both may differ.
 */
export const NumberOfQueues = feature(
  'Number of Queues',
  {
    fid: FID.NUMBER_OF_QUEUES,
    doc: 'I/O queues requested and allocated',
    spec: 'libnvme 1.3 NVME_FEAT_NRQS_NSQR_SHIFT',
  },
  {
    CDW11: {
      NSQR: count(15, 0, 'Number of I/O Submission Queues Requested'),
      NCQR: count(31, 16, 'Number of I/O Completion Queues Requested'),
    },
    DW0: {
      NSQA: count(15, 0, 'Number of I/O Submission Queues Allocated'),
      NCQA: count(31, 16, 'Number of I/O Completion Queues Allocated'),
    },
  },
)
