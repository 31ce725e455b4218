import { inHex, sqeFields, struct, u32 } from './layout/index.js'

/** The submission queue entry with undecoded command dwords: as seen before the opcode is known. */
export const SQE = struct(
  'SQE',
  { bytes: 64, doc: 'Submission Queue Entry', spec: 'Base 2.1 §4.1.1' },
  {
    ...sqeFields,
    CDW2: inHex(u32(8, 'Command Dword 2')),
    CDW3: inHex(u32(12, 'Command Dword 3')),
    CDW10: inHex(u32(40, 'Command Dword 10')),
    CDW11: inHex(u32(44, 'Command Dword 11')),
    CDW12: inHex(u32(48, 'Command Dword 12')),
    CDW13: inHex(u32(52, 'Command Dword 13')),
    CDW14: inHex(u32(56, 'Command Dword 14')),
    CDW15: inHex(u32(60, 'Command Dword 15')),
  },
)
