import { bit, bits, inHex, openBits, struct, u16, u32, u8 } from '../layout/index.js'

const states = {
  IDLE: 0,
  RESTRICTED_PROCESSING: 1,
  RESTRICTED_FAILURE: 2,
  UNRESTRICTED_PROCESSING: 3,
  UNRESTRICTED_FAILURE: 4,
  MEDIA_VERIFICATION: 5,
  POST_VERIFICATION_DEALLOCATION: 6,
}

/**
 * Sanitize Status (LID 81h; Base 2.1 §5.1.12.1.33, Figure 291). Estimated times are in seconds; FFFFFFFFh means not
 * reported. SPROG is FFFFh if no sanitize operation is in progress.
 */
export const SanitizeStatusLog = struct(
  'Sanitize Status',
  { bytes: 512, doc: 'The log page (LID 81h)', spec: 'Base 2.1 §5.1.12.1.33' },
  {
    SPROG: u16(0, 'Sanitize Progress in 1/65,536'),
    SSTAT: u16(2, 'Sanitize Status', {
      SOS: bits(2, 0, 'Sanitize Operation Status', {
        NEVER_STARTED: 0,
        SANITIZED: 1,
        SANITIZING: 2,
        FAILED: 3,
        SANITIZED_UNEXPECTED_DEALLOCATE: 4,
      }),
      OPC: bits(7, 3, 'Overwrite Passes Completed'),
      GDE: bit(8, 'Global Data Erased'),
      MVCNCLD: bit(9, 'Media Verification Canceled'),
    }),
    SCDW10: inHex(u32(4, 'Sanitize Command Dword 10')),
    ETO: u32(8, 'Estimated Time For Overwrite'),
    ETBE: u32(12, 'Estimated Time For Block Erase'),
    ETCE: u32(16, 'Estimated Time For Crypto Erase'),
    ETODMM: u32(20, 'as ETO, With No-Deallocate Media Modification'),
    ETBENMM: u32(24, 'as ETBE, With No-Deallocate Media Modification'),
    ETCENMM: u32(28, 'as ETCE, With No-Deallocate Media Modification'),
    ETPVDS: u32(32, 'Estimated Time For Post-Verification Deallocation State'),
    SSI: u8(36, 'Sanitize State Information', {
      SANS: openBits(3, 0, 'Sanitize State', states),
      FAILS: openBits(7, 4, 'Failure State', states),
    }),
  },
)
