import type { CommandError } from '@gpunvme/host-driver'
import { FeatureEffects, FeatureEffectsLog, HostIdentifier, IdentifyController, LID } from '@gpunvme/nvme-spec'
import { explainWord } from '@gpunvme/nvme-spec/explain'
import type { AnyFeature } from '@gpunvme/nvme-spec/layout'
import { UsageError } from '../command-line/tools-error.js'
import { decodeStructure, type DecodedJson, type Found } from '../decode/decode-structure.js'
import { isUnsupported, NotSupportedError } from './answer.js'
import { claim, isClaimed } from './claims.js'
import { FEATURES, listedFeature, type ListedFeature } from './feature-list.js'
import type { AdminView } from './view.js'

/** Selected value of a feature, or its capabilities. */
export type Selection = 'current' | 'default' | 'saved' | 'supported'

export interface FeatureQuestion {
  readonly select: Selection
  /** Undefined if the drive has no namespace. */
  readonly nsid: number | undefined
  /** Command Dword 11, for features with several values. */
  readonly cdw11: number | undefined
}

/** A feature as JSON: its capabilities, or its value. */
interface FeatureJson {
  /** Capabilities, by their names in the specification. */
  readonly supported?: unknown
  /** Dword 0 of the completion. */
  readonly raw?: number
  /** Its fields. */
  readonly value?: unknown
  /** Data of the reply. */
  readonly data?: DecodedJson
}

/** Value of a feature, as text and decoded. */
export interface FeatureAnswer {
  readonly listed: ListedFeature
  /** Dword 0 of the completion, decoded: 'PS=0 WH=0'. */
  readonly text: string
  /** Decoded data of the reply. */
  readonly data: Found | undefined
  readonly object: FeatureJson
}

/**
 * Requests the value of a feature.
 * @throws NotSupportedError if the drive does not support it; DriverError (UNSUPPORTED_COMMAND) for another than the
 * current value on a drive that keeps no others (ONCS.SSFS); CommandError.
 */
export async function readFeature(
  view: AdminView,
  listed: ListedFeature,
  question: FeatureQuestion,
): Promise<FeatureAnswer> {
  try {
    return await (question.select === 'supported'
      ? capabilities(view, listed, question)
      : value(view, listed, question))
  } catch (error) {
    if (isUnsupported(error)) throw notSupported(listed.feature, error)
    throw error
  }
}

async function capabilities({ reader }: AdminView, listed: ListedFeature, { nsid }: FeatureQuestion) {
  const found = await reader.featureCapabilities(listed.feature, namespaceOf(listed, nsid))
  const words = [
    found.CHANGEABLE === 1 ? 'changeable' : 'not changeable',
    found.SAVEABLE === 1 ? 'saveable' : 'not saveable',
    ...(found.NS_SPECIFIC === 1 ? ['per namespace'] : []),
  ]
  return { listed, text: words.join(', '), data: undefined, object: { supported: found } }
}

async function value({ reader }: AdminView, listed: ListedFeature, question: FeatureQuestion): Promise<FeatureAnswer> {
  const { feature } = listed
  const { select, nsid, cdw11 = usualCdw11(feature, reader.identity.raw) } = question
  const answer = await reader.getFeature(feature, {
    ...namespaceOf(listed, nsid),
    ...(select !== 'current' && select !== 'supported' && { select }),
    ...(cdw11 !== 0 && { CDW11: wordOf(feature).decode(cdw11) }),
  })
  const data = feature.data && decodeStructure(feature.data, answer.rawData)
  const rows = feature.DW0?.fields ?? {}
  return {
    listed,
    text:
      Object.keys(rows).length > 0 ? withUnits(feature.DW0!, answer.raw) : data === undefined ? hex(answer.raw) : '',
    data,
    object: {
      raw: answer.raw,
      ...(feature.DW0 && { value: feature.DW0.decode(answer.raw) }),
      ...(data && { data: data.object }),
    },
  }
}

/** Describes a word, and adds quantities with their units: 'TMPTH=343 (70 °C) NSQA=1 (2)'. */
function withUnits(word: NonNullable<AnyFeature['DW0']>, raw: number): string {
  const quantities = new Map(explainWord(word, raw).map(({ path, meaning }) => [path, meaning]))
  return word
    .describe(raw)
    .split(' ')
    .map((field) => {
      const meaning =
        quantities.get(`${word.name}.${field.slice(0, field.indexOf('='))}`)?.replace(", 0's based", '') ?? ''
      // Other meanings are names, which `describe` has, or say that a bit is set.
      return /\d/.test(meaning) ? `${field} (${meaning})` : field
    })
    .join(' ')
}

/** @throws UsageError */
function wordOf({ name, CDW11 }: AnyFeature) {
  if (CDW11 === undefined) throw new UsageError(`--cdw11: ${name} has a single value`, { next: 'omit it' })
  return CDW11
}

function namespaceOf({ ofNamespace = false }: ListedFeature, nsid: number | undefined) {
  return ofNamespace && nsid !== undefined ? { nsid } : {}
}

/** A drive with 128-bit host identifiers returns no other length. */
function usualCdw11(feature: AnyFeature, identity: DataView): number {
  const { CTRATT } = IdentifyController.view(identity)
  return feature.fid === HostIdentifier.fid && IdentifyController.CTRATT.HIDS.of(CTRATT) === 1 ? 1 : 0
}

function notSupported(feature: AnyFeature, error: CommandError): NotSupportedError {
  return new NotSupportedError(
    feature.name === hex(feature.fid) ? `feature ${feature.name}` : `${feature.name} (${hex(feature.fid)})`,
    error,
    {
      command: ['nvme', 'features', '--drive', 'ADDRESS'],
      note: 'which lists the supported features',
    },
  )
}

function hex(word: number): string {
  return `0x${word.toString(16).padStart(2, '0')}`
}

/** The features of a drive: those to request, and why the others are skipped. */
export interface Inventory {
  readonly present: readonly ListedFeature[]
  readonly absent: readonly { readonly listed: ListedFeature; readonly reason: string }[]
}

/** Uses the drive's own list if it has one (LID 12h), otherwise Identify Controller. */
export async function inventory({ reader }: AdminView): Promise<Inventory> {
  const identity = IdentifyController.decode(reader.identity.raw)
  if (isClaimed(identity, claim('LPA.MLPS'))) {
    const page = await reader.logPage(LID.FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS, {
      lengthBytes: FeatureEffectsLog.bytes,
    })
    const supported = Array.from(FeatureEffectsLog.view(page).FIS, (effects) => FeatureEffects.FSUPP.of(effects) === 1)
    return {
      present: supported.flatMap((isThere, fid) => (isThere ? [listedFeature(fid)] : [])),
      absent: FEATURES.filter(({ feature }) => supported[feature.fid] !== true).map((listed) => ({
        listed,
        reason: 'not listed in log page 12h',
      })),
    }
  }
  const why = (listed: ListedFeature) => reasonAgainst(listed, identity)
  return {
    present: FEATURES.filter((listed) => why(listed) === undefined),
    absent: FEATURES.flatMap((listed) => {
      const reason = why(listed)
      return reason === undefined ? [] : [{ listed, reason }]
    }),
  }
}

function reasonAgainst(listed: ListedFeature, identity: object): string | undefined {
  if (listed.claim === 'every') return undefined
  if (listed.claim === 'optional') return 'not requested: support is not reported'
  return isClaimed(identity, listed.claim) ? undefined : `${listed.claim.path} is 0`
}
