import {
  ADMIN_OPCODE,
  CommandEffects,
  CommandEffectsLog,
  FeatureEffects,
  FeatureEffectsLog,
  FID,
  LID,
  LogPageSupport,
  NVM_OPCODE,
  SupportedLogPages,
} from '@gpunvme/nvme-spec'
import type { AnyWord32 } from '@gpunvme/nvme-spec/layout'

/** A list of 256 words, with the names of the entries and of the bit that reports support. */
interface EffectsList {
  readonly title: string
  readonly words: Uint32Array
  readonly word: AnyWord32
  readonly support: string
  readonly nameOf: (index: number) => string
}

/**
 * Describes a page that reports support of each command, feature or page: a line for each supported one, with its
 * nonzero fields. Returns undefined for other pages. @param data the whole page.
 */
export function describeEffects(lid: number, data: DataView): string[] | undefined {
  return listsOf(lid, data)?.flatMap((list, at) => [...(at === 0 ? [] : ['']), list.title, ...linesOf(list)])
}

function listsOf(lid: number, data: DataView): EffectsList[] | undefined {
  switch (lid) {
    case LID.SUPPORTED_LOG_PAGES: {
      const words = SupportedLogPages.view(data).LIDS
      const title = 'Log pages of this drive (LIDS)'
      return [{ title, words, word: LogPageSupport, support: 'LSUPP', nameOf: (index) => LID.nameOf(index) }]
    }
    case LID.COMMANDS_SUPPORTED_AND_EFFECTS: {
      const { ACS, IOCS } = CommandEffectsLog.view(data)
      const command = { word: CommandEffects, support: 'CSUPP' }
      return [
        { title: 'Admin commands (ACS)', words: ACS, nameOf: (index) => ADMIN_OPCODE.nameOf(index), ...command },
        { title: 'I/O commands (IOCS)', words: IOCS, nameOf: (index) => NVM_OPCODE.nameOf(index), ...command },
      ]
    }
    case LID.FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS: {
      const words = FeatureEffectsLog.view(data).FIS
      const title = 'Features of this drive (FIS)'
      return [{ title, words, word: FeatureEffects, support: 'FSUPP', nameOf: (index) => FID.nameOf(index) }]
    }
    default:
      return undefined
  }
}

function linesOf({ words, word, support, nameOf }: EffectsList): string[] {
  return Array.from(words).flatMap((raw, index) => {
    if (raw === 0) return []
    const number = `${index.toString(16).padStart(2, '0').toUpperCase()}h`
    const name = nameOf(index)
    const what = name.startsWith('0x') ? 'unknown' : name.toLowerCase().replaceAll('_', ' ')
    return [`  ${number}  ${[what, ...notZero(word, raw, support)].join('  ')}`]
  })
}

/** Returns nonzero fields as 'LBCC=1', without the support bit if it is set. */
function notZero(word: AnyWord32, raw: number, support: string): string[] {
  const values = word.decode(raw) as Readonly<Record<string, number | undefined>>
  const parts = word.describe(raw).split(' ')
  return parts.filter((part) => {
    const [name = ''] = part.split('=')
    return name === support ? values[name] === 0 : values[name] !== 0
  })
}
