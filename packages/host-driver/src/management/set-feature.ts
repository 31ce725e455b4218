import { FID, SetFeatures } from '@gpunvme/nvme-spec'
import type { AnyFeature, FeatureDword } from '@gpunvme/nvme-spec/layout'
import { anything, checkOptions, flag, object } from '../check-options.js'
import { checkFeature } from '../admin/features.js'
import { adminOptions, type AdminCommands, type AdminOptions } from '../admin/admin-commands.js'

type DwordsOf<F extends AnyFeature> = {
  readonly [K in Exclude<FeatureDword, 'DW0'>]?: F[K] extends { encode(values: infer V): number } ? V : never
}
type DataOf<F extends AnyFeature> = [NonNullable<F['data']>] extends [never]
  ? never
  : NonNullable<F['data']> extends { create(values?: infer V): unknown }
    ? NonNullable<V>
    : never

/** Dwords of a feature by name, each with the fields of its declaration. */
export type SetFeatureOptions<F extends AnyFeature> = AdminOptions &
  DwordsOf<F> & {
    /** Namespace of the feature. Default: 0. */
    readonly nsid?: number
    /** Keeps the value across power cycles and resets. */
    readonly save?: boolean
    /** Data of the feature, with the fields of its structure. */
    readonly data?: DataOf<F>
  }

/** Features that the driver sets itself and relies on. */
const driversOwn: ReadonlySet<number> = new Set([
  FID.NUMBER_OF_QUEUES,
  FID.ASYNCHRONOUS_EVENT_CONFIGURATION,
  FID.HOST_MEMORY_BUFFER,
])

const dwords = ['CDW11', 'CDW12', 'CDW13', 'CDW14', 'CDW15'] as const

const setOptions = {
  nsid: anything,
  save: flag,
  data: anything,
  CDW11: anything,
  CDW12: anything,
  CDW13: anything,
  CDW14: anything,
  CDW15: anything,
  ...adminOptions,
}

/** Sends Set Features (Base 2.1 §5.1.25). @throws TypeError for a feature reserved for the driver; CommandError. */
export async function setFeature<F extends AnyFeature>(
  admin: AdminCommands,
  feature: F,
  options: SetFeatureOptions<F>,
): Promise<void> {
  checkFeature('feature', feature)
  object('setFeature: options', options)
  checkOptions('setFeature', options, setOptions)
  const { nsid = 0, save = false, data, timeoutNs } = options
  if (driversOwn.has(feature.fid)) {
    throw new TypeError(`feature: ${feature.name} is reserved for the driver`)
  }
  const encoded: { [K in (typeof dwords)[number]]?: number } = {}
  for (const dword of dwords) {
    const value: unknown = options[dword]
    if (value === undefined) continue
    const word = feature[dword]
    if (word === undefined) throw new TypeError(`${feature.name}: expected no ${dword}, which it does not declare`)
    encoded[dword] = word.encode(value as Parameters<typeof word.encode>[0])
  }
  const values = { FID: feature.fid, NSID: nsid, SV: save ? 1 : 0, ...encoded } as const
  const bytes = feature.data && new DataView(new ArrayBuffer(feature.data.bytes))
  if (bytes !== undefined) feature.data!.encode(bytes, 0, data ?? {})
  await admin.repeat((queue) =>
    bytes === undefined
      ? queue.execute(SetFeatures, values, { timeoutNs })
      : queue.executeWithData(SetFeatures, values, new Uint8Array(bytes.buffer), { timeoutNs }),
  )
}
