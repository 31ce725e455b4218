import {
  bit,
  bytes,
  cdw,
  cdwBit,
  cdwCount,
  cdwOpen,
  codes,
  inHex,
  nvmCommand,
  oneOf,
  someOf,
  struct,
  u16,
  u32,
  u64,
  u8,
  merge,
} from '../layout/index.js'

/** Reservation Types (Base 2.2 §7.5, Figure 572). */
export const RESERVATION_TYPE = codes(
  'RESERVATION_TYPE',
  { doc: 'Reservation Types', spec: 'Base 2.2 §7.5' },
  {
    WRITE_EXCLUSIVE: 1,
    EXCLUSIVE_ACCESS: 2,
    WRITE_EXCLUSIVE_REGISTRANTS_ONLY: 3,
    EXCLUSIVE_ACCESS_REGISTRANTS_ONLY: 4,
    WRITE_EXCLUSIVE_ALL_REGISTRANTS: 5,
    EXCLUSIVE_ACCESS_ALL_REGISTRANTS: 6,
  },
)

const keyFields = {
  IEKEY: cdwBit(10, 3, 'Ignore Existing Key'),
  DISNSRS: cdwBit(10, 4, 'Dispersed Namespace Reservation Support'),
}

const typeFields = merge(keyFields, { RTYPE: cdwOpen(10, 15, 8, 'Reservation Type', RESERVATION_TYPE.values) })

/** Registers, unregisters or replaces a reservation key (Base 2.2 §7.6, Figures 573 and 574). */
export const ReservationRegister = nvmCommand(
  'Reservation Register',
  { opcode: 0x0d, doc: 'Registers or replaces a reservation key', spec: 'Base 2.2 §7.6' },
  merge(keyFields, {
    RREGA: cdwOpen(10, 2, 0, 'Reservation Register Action', { REGISTER: 0, UNREGISTER: 1, REPLACE: 2 }),
    CPTPL: cdw(10, 31, 30, 'Change Persist Through Power Loss State', { NO_CHANGE: 0, CLEAR: 2, SET: 3 }),
  }),
)

/** The data of Reservation Register (Base 2.2 §7.6, Figure 575). */
export const ReservationRegisterData = struct(
  'Reservation Register Data',
  { bytes: 16, doc: 'The keys of Reservation Register', spec: 'Base 2.2 §7.6' },
  { CRKEY: inHex(u64(0, 'Current Reservation Key')), NRKEY: inHex(u64(8, 'New Reservation Key')) },
)

/** Reports registrants and the reservation of a namespace (Base 2.2 §7.8, Figures 579 to 581). */
export const ReservationReport = nvmCommand(
  'Reservation Report',
  { opcode: 0x0e, doc: 'Reports registrants and reservation', spec: 'Base 2.2 §7.8' },
  {
    NUMD: cdwCount(10, 31, 0, 'Number of Dwords'),
    EDS: cdwBit(11, 0, 'Extended Data Structure'),
    DISNSRS: cdwBit(11, 1, 'Dispersed Namespace Reservation Support'),
  },
)

/** Acquires or preempts a reservation (Base 2.2 §7.5, Figures 569 and 570). */
export const ReservationAcquire = nvmCommand(
  'Reservation Acquire',
  { opcode: 0x11, doc: 'Acquires or preempts a reservation', spec: 'Base 2.2 §7.5' },
  merge(typeFields, {
    RACQA: cdwOpen(10, 2, 0, 'Reservation Acquire Action', { ACQUIRE: 0, PREEMPT: 1, PREEMPT_AND_ABORT: 2 }),
  }),
)

/** The data of Reservation Acquire (Base 2.2 §7.5, Figure 571). */
export const ReservationAcquireData = struct(
  'Reservation Acquire Data',
  { bytes: 16, doc: 'The keys of Reservation Acquire', spec: 'Base 2.2 §7.5' },
  { CRKEY: inHex(u64(0, 'Current Reservation Key')), PRKEY: inHex(u64(8, 'Preempt Reservation Key')) },
)

/** Releases or clears a reservation (Base 2.2 §7.7, Figures 576 and 577). */
export const ReservationRelease = nvmCommand(
  'Reservation Release',
  { opcode: 0x15, doc: 'Releases or clears a reservation', spec: 'Base 2.2 §7.7' },
  merge(typeFields, { RRELA: cdwOpen(10, 2, 0, 'Reservation Release Action', { RELEASE: 0, CLEAR: 1 }) }),
)

/** The data of Reservation Release (Base 2.2 §7.7, Figure 578). */
export const ReservationReleaseData = struct(
  'Reservation Release Data',
  { bytes: 8, doc: 'The key of Reservation Release', spec: 'Base 2.2 §7.7' },
  { CRKEY: inHex(u64(0, 'Current Reservation Key')) },
)

const statusFields = {
  GEN: u32(0, 'Generation'),
  RTYPE: someOf(u8(4, 'Reservation Type'), merge({ NONE: 0 }, RESERVATION_TYPE.values)),
  REGSTRNT: u16(5, 'Number of Registrants'),
  PTPLS: oneOf(u8(9, 'Persist Through Power Loss State'), { RELEASED: 0, PERSISTENT: 1 }),
}

/** Header of the Reservation Status, before REGSTRNT `Registrant` structures (Base 2.2 §7.8, Figure 582). */
export const ReservationStatus = struct(
  'Reservation Status',
  { bytes: 24, doc: 'Header of Reservation Report', spec: 'Base 2.2 §7.8' },
  statusFields,
)

/** Header before REGSTRNT `RegistrantExtended` structures, if EDS is set (Base 2.2 §7.8, Figure 583). */
export const ReservationStatusExtended = struct(
  'Reservation Status Extended',
  { bytes: 64, doc: 'Header of Reservation Report with EDS', spec: 'Base 2.2 §7.8' },
  statusFields,
)

const registrantFields = {
  CNTLID: u16(0, 'Controller ID; FFFFh: none, FFFDh: elsewhere'),
  RCSTS: u8(2, 'Reservation Status', { AHHR: bit(0, 'Association with Host Holding Reservation') }),
}

/** A registrant with a 64-bit Host Identifier (Base 2.2 §7.8, Figure 584). */
export const Registrant = struct(
  'Registrant',
  { bytes: 24, doc: 'A registrant of a namespace', spec: 'Base 2.2 §7.8' },
  merge(registrantFields, { HOSTID: inHex(u64(8, 'Host Identifier')), RKEY: inHex(u64(16, 'Reservation Key')) }),
)

/** A registrant with a 128-bit Host Identifier (Base 2.2 §7.8, Figure 585). */
export const RegistrantExtended = struct(
  'Registrant Extended',
  { bytes: 64, doc: 'A registrant of a namespace, with EDS', spec: 'Base 2.2 §7.8' },
  merge(registrantFields, { RKEY: inHex(u64(8, 'Reservation Key')), HOSTID: bytes(16, 16, 'Host Identifier') }),
)
