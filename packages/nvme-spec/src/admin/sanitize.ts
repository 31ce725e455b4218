import { adminCommand, cdw, cdwBit } from '../layout/command.js'

/**
 * Starts a sanitize operation of the whole NVM subsystem, or exits one of its states (Base 2.1 §5.1.22, Figure 372).
 */
export const Sanitize = adminCommand(
  'Sanitize',
  { opcode: 0x84, doc: 'Erases all user data of the NVM subsystem', spec: 'Base 2.1 §5.1.22' },
  {
    SANACT: cdw(10, 2, 0, 'Sanitize Action', {
      EXIT_FAILURE_MODE: 1,
      BLOCK_ERASE: 2,
      OVERWRITE: 3,
      CRYPTO_ERASE: 4,
      EXIT_MEDIA_VERIFICATION: 5,
    }),
    AUSE: cdwBit(10, 3, 'Allow Unrestricted Sanitize Exit'),
    OWPASS: cdw(10, 7, 4, 'Overwrite Pass Count; 0 means 16 passes'),
    OIPBP: cdwBit(10, 8, 'Overwrite Invert Pattern Between Passes'),
    NDAS: cdwBit(10, 9, 'No-Deallocate After Sanitize'),
    EMVS: cdwBit(10, 10, 'Enter Media Verification State'),
    OVRPAT: cdw(11, 31, 0, 'Overwrite Pattern'),
  },
)
