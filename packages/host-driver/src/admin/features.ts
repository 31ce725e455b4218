import { GetFeatures, IdentifyController, SupportedCapabilitiesDw0 } from '@gpunvme/nvme-spec'
import type { AnyFeature } from '@gpunvme/nvme-spec/layout'
import { unsupportedCommand } from '../commands/errors.js'
import { anything, checkOptions, fit, isObject, oneOf } from '../check-options.js'
import { adminOptions, type AdminOptions, type AdminReads } from './admin-commands.js'

/** Fields that one dword of a feature accepts. */
type Encoded<W> = W extends { encode(values: infer V): number } ? V : never
type DecodedOf<W> = W extends { decode(raw: number): infer D } ? D : undefined
type DataOf<F extends AnyFeature> = [NonNullable<F['data']>] extends [never]
  ? undefined
  : NonNullable<F['data']> extends { decode(data: DataView): infer D }
    ? D
    : undefined

/** Options of `Controller.getFeature`. */
export interface GetFeatureOptions<F extends AnyFeature> extends AdminOptions {
  /** Namespace of the feature. Default: 0. */
  readonly nsid?: number
  /** Which value to read; `default` and `saved` need ONCS.SSFS. Default: `current`. */
  readonly select?: 'current' | 'default' | 'saved'
  /** Selects one of several values of a feature: a temperature sensor, an interrupt vector. */
  readonly CDW11?: Encoded<F['CDW11']>
}

/** Value of a feature, decoded by its declaration. */
export interface FeatureValue<F extends AnyFeature> {
  /** Dword 0 of the completion, decoded; undefined if the feature declares no fields for it. */
  readonly DW0: DecodedOf<F['DW0']>
  /** Returned data, decoded; undefined if the feature has none. */
  readonly data: DataOf<F>
  /** Dword 0 of the completion. */
  readonly raw: number
  /** Returned data as bytes; empty if the feature has none. */
  readonly rawData: DataView
}

/** Capabilities of a feature: whether it can be changed or saved, and whether it belongs to a namespace. */
export type FeatureCapabilities = ReturnType<typeof SupportedCapabilitiesDw0.decode>

const { SEL } = GetFeatures
const selections = { current: SEL.CURRENT, default: SEL.DEFAULT, saved: SEL.SAVED, supported: SEL.SUPPORTED }

const getOptions = {
  nsid: anything,
  select: oneOf('current', 'default', 'saved'),
  CDW11: anything,
  ...adminOptions,
}

export const checkFeature = fit('a feature of nvme-spec', (value) =>
  isObject(value) && typeof value['fid'] === 'number')

/** Sends Get Features (Base 2.1 §5.1.11). @param feature declaration of nvme-spec, such as `TemperatureThreshold`. */
export async function getFeature<F extends AnyFeature>(
  admin: AdminReads,
  feature: F,
  options: GetFeatureOptions<F> = {},
): Promise<FeatureValue<F>> {
  checkFeature('feature', feature)
  checkOptions('getFeature', options, getOptions)
  const { nsid = 0, select = 'current', CDW11, timeoutNs } = options
  const cdw11 = CDW11 === undefined ? 0 : feature.CDW11!.encode(CDW11)
  const values = { FID: feature.fid, NSID: nsid, SEL: selectionOf(admin, select), CDW11: cdw11 }
  const { dw0, data } = await admin.repeat((queue) =>
    queue.exchange(GetFeatures, values, { timeoutNs, lengthBytes: feature.data?.bytes ?? 0 }),
  )
  return {
    DW0: feature.DW0?.decode(dw0) as DecodedOf<F['DW0']>,
    data: feature.data?.decode(data) as DataOf<F>,
    raw: dw0,
    rawData: data,
  }
}

/** Returns the capabilities of a feature: Get Features with Supported Capabilities. */
export async function featureCapabilities(
  admin: AdminReads,
  feature: AnyFeature,
  options: AdminOptions & { readonly nsid?: number } = {},
): Promise<FeatureCapabilities> {
  checkFeature('feature', feature)
  checkOptions('featureCapabilities', options, { nsid: anything, ...adminOptions })
  const { nsid = 0, timeoutNs } = options
  const values = { FID: feature.fid, NSID: nsid, SEL: selectionOf(admin, 'supported') }
  const { dw0 } = await admin.repeat((queue) => queue.exchange(GetFeatures, values, { timeoutNs, lengthBytes: 0 }))
  return SupportedCapabilitiesDw0.decode(dw0)
}

function selectionOf({ identity }: AdminReads, select: keyof typeof selections) {
  const { ONCS } = IdentifyController.view(identity.raw)
  if (select !== 'current' && IdentifyController.ONCS.SSFS.of(ONCS) === 0) {
    throw unsupportedCommand('Get Features with Select', 'ONCS.SSFS is 0')
  }
  return selections[select]
}
