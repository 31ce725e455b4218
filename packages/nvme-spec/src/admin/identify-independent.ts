import { bit, bits, struct, u16, u32, u8 } from '../layout/index.js'
import { IDENTIFY_BYTES } from './identify.js'

/**
 * Rows that this structure shares with Identify Namespace of the NVM Command Set. The page with NSFEAT, NMIC and RESCAP
 * could not be read: their bits are those of libnvme 1.3 (`nvme_id_ns_nmic`, `nvme_id_ns_rescap`) and of nvme-cli.
 * DISNS is named in Base 2.1 §8.1.9.3; its position is from a public declaration of Base 2.1.
 */
export const namespaceRows = {
  NMIC: { SHRNS: bit(0, 'Shared Namespace'), DISNS: bit(1, 'Dispersed Namespace') },
  RESCAP: {
    PTPL: bit(0, 'Persist Through Power Loss'),
    WE: bit(1, 'Write Exclusive'),
    EA: bit(2, 'Exclusive Access'),
    WERO: bit(3, 'Write Exclusive - Registrants Only'),
    EARO: bit(4, 'Exclusive Access - Registrants Only'),
    WEAR: bit(5, 'Write Exclusive - All Registrants'),
    EAAR: bit(6, 'Exclusive Access - All Registrants'),
    IEK: bit(7, 'Ignore Existing Key as in 1.3 and later'),
  },
  FPI: { RFNVM: bits(6, 0, 'Remaining Format NVM in percent'), FPIS: bit(7, 'Format Progress Indicator Support') },
  NSATTR: { CWP: bit(0, 'Currently Write Protected') },
  KPIOS: { KPIOENS: bit(0, 'Key Per I/O Enabled in Namespace'), KPIOSNS: bit(1, 'Key Per I/O Supported in Namespace') },
} as const

/** Returned by CNS 08h, for a namespace of any command set (Base 2.1 §5.1.13.2.8, Figure 319). */
export const IdentifyIndependentNamespace = struct(
  'I/O Command Set Independent Identify Namespace',
  { bytes: IDENTIFY_BYTES, doc: 'Namespace data common to all command sets', spec: 'Base 2.1 §5.1.13.2.8' },
  {
    NSFEAT: u8(0, 'Common Namespace Features', {
      UIDREUSE: bit(3, 'UID Reuse'),
      RMEDIA: bit(4, 'Rotational Media'),
      VWCNP: bit(5, 'Volatile Write Cache Not Present'),
    }),
    NMIC: u8(1, 'Namespace Multi-path I/O and Namespace Sharing Capabilities', namespaceRows.NMIC),
    RESCAP: u8(2, 'Reservation Capabilities', namespaceRows.RESCAP),
    FPI: u8(3, 'Format Progress Indicator', namespaceRows.FPI),
    ANAGRPID: u32(4, 'ANA Group Identifier'),
    NSATTR: u8(8, 'Namespace Attributes', namespaceRows.NSATTR),
    NVMSETID: u16(10, 'NVM Set Identifier'),
    ENDGID: u16(12, 'Endurance Group Identifier'),
    NSTAT: u8(14, 'Namespace Status', {
      NRDY: bit(0, 'Namespace Ready'),
      IOI: bits(2, 1, 'I/O Impacted', { NOT_REPORTED: 0, NOT_DEGRADED: 2, DEGRADED: 3 }),
    }),
    KPIOS: u8(15, 'Key Per I/O Status', namespaceRows.KPIOS),
    MAXKT: u16(16, 'Maximum Key Tag'),
    RGRPID: u32(20, 'Reachability Group Identifier'),
  },
)
