import { SIGNATURE_NAMES } from '@gpunvme/host-driver'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { nearest } from './nearest.js'
import { collect, common } from './options.js'

/** Name of data of unknown format for --overwrite. */
export const UNKNOWN_DATA = 'unknown data'
/** Name of models for --overwrite. */
export const MODELS = 'models'

/** Kinds by their names in lower case. */
const KINDS = new Map([MODELS, UNKNOWN_DATA, ...SIGNATURE_NAMES].map((name) => [name.toLowerCase(), name]))

/** Adds options for verbs that write to a drive: confirmation, and permitted losses. */
export function addWriteOptions(command: Command): void {
  const overwrite = 'allow loss of data of this kind, as named by a refusal; may be repeated'
  command
    .addOption(common(new Option('--serial <serial>', 'required serial number of the drive')))
    .addOption(common(new Option('--yes', 'with --serial: write to a real drive without confirmation')))
    .addOption(common(new Option('--overwrite <kind>', overwrite)).argParser(collectKinds))
}

function collectKinds(typed: string, previous?: readonly string[]): string[] {
  const word = typed.toLowerCase()
  const kind = KINDS.get(word)
  if (kind === undefined) {
    const near = nearest(word, [...KINDS.keys()]).map((each) => KINDS.get(each))
    const meant = near.length === 0 ? '' : `. Did you mean ${near.join(' or ')}?`
    throw new InvalidArgumentError(
      `Expected a kind of data that a refusal can name, such as GPT or ${UNKNOWN_DATA}${meant}`,
    )
  }
  return collect(kind, previous)
}
