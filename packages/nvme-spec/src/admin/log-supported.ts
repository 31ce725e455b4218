import { bit, bits, struct, u32Array, word32 } from '../layout/index.js'

/** Support of one log page (Base 2.1 §5.1.12.1.1, Figure 204). */
export const LogPageSupport = word32(
  'LID Supported and Effects',
  { doc: 'Support of one log page', spec: 'Base 2.1 §5.1.12.1.1' },
  {
    LSUPP: bit(0, 'LID Supported'),
    IOS: bit(1, 'Index Offset Supported'),
    LIDSP: bits(31, 16, 'LID Specific Parameter'),
  },
)

/** Supported Log Pages (LID 00h; Base 2.1 §5.1.12.1.1, Figure 203): the index in LIDS is the log page identifier. */
export const SupportedLogPages = struct(
  'Supported Log Pages',
  { bytes: 1024, doc: 'Supported log pages (LID 00h)', spec: 'Base 2.1 §5.1.12.1.1' },
  { LIDS: u32Array(0, 256, 'Log Page Identifier Supported, by LID', LogPageSupport.fields) },
)
