import { bit, bits, count, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Interrupt Coalescing (FID 08h): completions and time per interrupt (THR is in Base 2.1 Figure 445 as well). */
export const InterruptCoalescing = feature(
  'Interrupt Coalescing',
  {
    fid: FID.INTERRUPT_COALESCING,
    doc: 'Completions and time per interrupt',
    spec: 'libnvme 1.3 NVME_FEAT_IRQC_THR_SHIFT',
  },
  {
    CDW11: {
      THR: count(7, 0, 'Aggregation Threshold in completions'),
      TIME: bits(15, 8, 'Aggregation Time in units of 100 microseconds'),
    },
  },
)

/** Interrupt Vector Configuration (FID 09h): coalescing of one vector (Base 2.1 Figure 446). */
export const InterruptVectorConfiguration = feature(
  'Interrupt Vector Configuration',
  { fid: FID.INTERRUPT_VECTOR_CONFIGURATION, doc: 'Coalescing of one vector', spec: 'Base 2.1 §5.1.25.2.3' },
  { CDW11: { IV: bits(15, 0, 'Interrupt Vector'), CD: bit(16, 'Coalescing Disable') } },
)
