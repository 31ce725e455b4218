import { bit, bits, struct, u32Array, word32 } from '../layout/index.js'

// In the figures the scopes are bits of a field of their own (CSP, FSP); here they are rows of the whole word. The name
// of the NVM Set Scope is that of Figure 267: Base 2.1 gives NSSCPE to two bits.
const scopes = {
  NSCPE: bit(20, 'Namespace Scope'),
  CSCPE: bit(21, 'Controller Scope'),
  NSETSCPE: bit(22, 'NVM Set Scope'),
  EGSCPE: bit(23, 'Endurance Group Scope'),
  DSCPE: bit(24, 'Domain Scope'),
  NSSCPE: bit(25, 'NVM Subsystem Scope'),
}

const changes = {
  NCC: bit(2, 'Namespace Capability Change'),
  NIC: bit(3, 'Namespace Inventory Change'),
  CCC: bit(4, 'Controller Capability Change'),
}

/** Side effects of a command (Base 2.3 §5.2.12.1.6, Figure 214; bits 31:16 in Base 2.1 Figure 210). */
export const CommandEffects = word32(
  'Commands Supported and Effects data',
  { doc: 'Support and effects of a command', spec: 'Base 2.3 §5.2.12.1.6' },
  {
    CSUPP: bit(0, 'Command Supported'),
    LBCC: bit(1, 'Logical Block Content Change'),
    ...changes,
    CSER: bits(15, 14, 'Command Submission and Execution Relaxations', { NONE: 0, NO_OTHER_ADMIN_COMMAND: 1 }),
    CSE: bits(18, 16, 'Command Submission and Execution', {
      NO_RESTRICTION: 0,
      ALONE_ON_NAMESPACE: 1,
      ALONE_ON_ANY_NAMESPACE: 2,
    }),
    USS: bit(19, 'UUID Selection Supported'),
    ...scopes,
  },
)

/** Commands Supported and Effects (LID 05h; Base 2.3 §5.2.12.1.6, Figure 213): the index is the opcode. */
export const CommandEffectsLog = struct(
  'Commands Supported and Effects',
  { bytes: 4096, doc: 'The log page (LID 05h)', spec: 'Base 2.3 §5.2.12.1.6' },
  {
    ACS: u32Array(0, 256, 'Admin Command Supported, by opcode', CommandEffects.fields),
    IOCS: u32Array(1024, 256, 'I/O Command Supported, by opcode', CommandEffects.fields),
  },
)

/** Side effects of setting a feature (Base 2.1 §5.1.12.1.18, Figure 262). */
export const FeatureEffects = word32(
  'FID Supported and Effects',
  { doc: 'Support and effects of a feature', spec: 'Base 2.1 §5.1.12.1.18' },
  {
    FSUPP: bit(0, 'FID Supported'),
    UDCC: bit(1, 'User Data Content Change'),
    ...changes,
    USS: bit(19, 'UUID Selection Supported'),
    ...scopes,
    CDQSCP: bit(26, 'Controller Data Queue'),
  },
)

/** Feature Identifiers Supported and Effects (LID 12h; Base 2.1 §5.1.12.1.18, Figure 261): the index is the FID. */
export const FeatureEffectsLog = struct(
  'Feature Identifiers Supported and Effects',
  { bytes: 1024, doc: 'Feature Identifiers Supported and Effects (LID 12h)', spec: 'Base 2.1 §5.1.12.1.18' },
  { FIS: u32Array(0, 256, 'Feature Identifier Supported, by FID', FeatureEffects.fields) },
)

/** Side effects of a command of the management interface (Base 2.3 §5.2.12.1.19, Figure 269). */
export const ManagementCommandEffects = word32(
  'NVMe-MI Commands Supported and Effects data',
  { doc: 'Support and effects of a management command', spec: 'Base 2.3 §5.2.12.1.19' },
  { CSUPP: bit(0, 'Command Supported'), UDCC: bit(1, 'User Data Content Change'), ...changes, ...scopes },
)

/** NVMe-MI Commands Supported and Effects (LID 13h; Base 2.1 §5.1.12.1.19, Figure 263): the index is the opcode. */
export const ManagementCommandEffectsLog = struct(
  'NVMe-MI Commands Supported and Effects',
  { bytes: 4096, doc: 'NVMe-MI Commands Supported and Effects (LID 13h)', spec: 'Base 2.1 §5.1.12.1.19' },
  { MICS: u32Array(0, 256, 'Commands by opcode', ManagementCommandEffects.fields) },
)
