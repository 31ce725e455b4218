import { bit, bits, openBits, word32 } from '../layout/index.js'

/**
 * The bits of PRINFO, PRINFOR and PRINFOW (NVM 1.2 §2.1.5, Figure 11): `entry.PRINFO = PRINFO.encode({ PRACT: 1 })`.
 * RTCHK, ATCHK and GRDCHK together are PRCHK.
 */
export const PRINFO = word32(
  'PRINFO',
  { doc: 'Protection Information', spec: 'NVM 1.2 §2.1.5' },
  {
    RTCHK: bit(0, 'Reference Tag Check'),
    ATCHK: bit(1, 'Application Tag Check'),
    GRDCHK: bit(2, 'Guard Check'),
    PRACT: bit(3, 'Protection Information Action'),
  },
)

const access = {
  NONE: 0,
  TYPICAL: 1,
  INFREQUENT: 2,
  FREQUENT_READS: 3,
  FREQUENT_WRITES: 4,
  FREQUENT: 5,
} as const

/** Access Latency, for both DSM and the context attributes of a range. */
const latency = bits(5, 4, 'Access Latency', { NONE: 0, IDLE: 1, NORMAL: 2, LOW: 3 })

/**
 * The bits of DSM of Read and Write (NVM 1.2 §3.3.4, Figure 54; §3.3.6, Figure 71); SPECULATIVE and SOON_OVERWRITTEN
 * are only for Read.
 */
export const DSM = word32(
  'DSM',
  { doc: 'Dataset Management', spec: 'NVM 1.2 §3.3.4' },
  {
    AF: openBits(3, 0, 'Access Frequency', { ...access, ONE_TIME: 6, SPECULATIVE: 7, SOON_OVERWRITTEN: 8 }),
    AL: latency,
    SEQREQ: bit(6, 'Sequential Request'),
    INCPRS: bit(7, 'Incompressible'),
  },
)

/** Command Dword 13 of Read and Write if CETYPE is not 0 (NVM 1.2 §3.3.4, Figure 55; §3.3.6, Figure 72). */
export const CommandExtensionCdw13 = word32(
  'CommandExtension.CDW13',
  { doc: 'Command Dword 13 if CETYPE is not 0', spec: 'NVM 1.2 §3.3.6' },
  {
    CEV: bits(15, 0, 'Command Extension Value'),
    DSPEC: bits(31, 16, 'Directive Specific, for a Write'),
  },
)

/** The rows of the context attributes of a range (NVM 1.2 §3.3.3.2, Figure 47). */
export const contextAttributes = {
  AF: openBits(3, 0, 'Access Frequency', access),
  AL: latency,
  SRR: bit(8, 'Sequential Read Range'),
  SWR: bit(9, 'Sequential Write Range'),
  WPREP: bit(10, 'Write Prepare'),
  CASZE: bits(31, 24, 'Command Access Size in logical blocks'),
}
