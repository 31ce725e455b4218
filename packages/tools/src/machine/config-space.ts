import {
  AccessControlServices,
  AddressTranslationServices,
  AdvancedErrorReporting,
  capabilities,
  DownstreamPortContainment,
  extendedCapabilities,
  payloadBytes,
  PCI_CAPABILITY,
  PCI_CONFIG_BYTES,
  PCI_EXTENDED_CAPABILITY,
  PciConfigError,
  PCIE_CONFIG_BYTES,
  PciExpressCapability,
  PciHeader,
  ResizableBarEntry,
} from '@gpunvme/nvme-spec/pci'
import { isKnown, unknown, type Known } from './known.js'
import type { Acs, AcsBit, Aspm, Errors, FunctionKind, Packets, PciFunction, ResizableBar } from './pci-function.js'

/** Properties of a function that only configuration space reports. */
export type ConfigFacts = Pick<
  PciFunction,
  | 'packets'
  | 'aspm'
  | 'acs'
  | 'resizableBars'
  | 'hasFunctionLevelReset'
  | 'errors'
  | 'containment'
  | 'translation'
  | 'canMasterBus'
> & {
  /** From the PCI Express capability; undefined without it, or if it is not visible. */
  readonly kind: FunctionKind | undefined
  readonly isResponding: boolean
}

/** Decodes the readable part of a configuration space. @param why reason if it is missing. */
export function decodeConfig(bytes: Uint8Array | undefined, why: string): ConfigFacts {
  if (bytes === undefined || bytes.length < PciHeader.bytes) return withoutList(unknown(why), undefined)
  const config = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { VID, CMD } = PciHeader.view(config)
  if (VID === 0xffff)
    return { ...withoutList(unknown('off the bus: reads as all ones'), undefined), isResponding: false }
  const canMasterBus = PciHeader.CMD.BME.of(CMD) === 1
  if (bytes.length < PCI_CONFIG_BYTES)
    return withoutList(unknown('needs root: other users see 64 bytes of configuration space'), canMasterBus)
  try {
    return { ...decodeLists(config), canMasterBus, isResponding: true }
  } catch (error) {
    // Only the headline: the next step is for programs that open the function.
    if (error instanceof PciConfigError) return withoutList(unknown(error.headline), canMasterBus)
    if (error instanceof RangeError) return withoutList(unknown('a capability extends past its end'), canMasterBus)
    throw error
  }
}

function withoutList(reason: { readonly unknown: string }, canMasterBus: boolean | undefined): ConfigFacts {
  return {
    kind: undefined,
    isResponding: true,
    packets: reason,
    aspm: reason,
    acs: reason,
    resizableBars: reason,
    hasFunctionLevelReset: reason,
    errors: reason,
    containment: reason,
    translation: reason,
    canMasterBus: canMasterBus ?? reason,
  }
}

function decodeLists(config: DataView): Omit<ConfigFacts, 'canMasterBus' | 'isResponding'> {
  const express = capabilities(config).find(({ id }) => id === PCI_CAPABILITY.PCI_EXPRESS)?.offset
  const extended = extendedOffsets(config, express !== undefined)
  const at = <T>(id: number, decode: (offset: number) => T): Known<T | undefined> => {
    if (!isKnown(extended)) return extended
    const offset = extended.get(id)
    return offset === undefined ? undefined : decode(offset)
  }
  const { RESIZABLE_BAR, ACCESS_CONTROL_SERVICES, ADVANCED_ERROR_REPORTING } = PCI_EXTENDED_CAPABILITY
  const { ADDRESS_TRANSLATION_SERVICES, DOWNSTREAM_PORT_CONTAINMENT } = PCI_EXTENDED_CAPABILITY
  return {
    ...decodeExpress(config, express),
    acs: at(ACCESS_CONTROL_SERVICES, (offset) => decodeAcs(config, offset)),
    resizableBars: at(RESIZABLE_BAR, (offset) => decodeResizable(config, offset)) ?? [],
    errors: at(ADVANCED_ERROR_REPORTING, (offset) => decodeErrors(config, offset)),
    containment: at(DOWNSTREAM_PORT_CONTAINMENT, (offset) => {
      const { DPCCTL } = DownstreamPortContainment
      const control = DownstreamPortContainment.view(config, offset).DPCCTL
      return { isEnabled: DPCCTL.EN_FATAL.of(control) === 1 || DPCCTL.EN_NONFATAL.of(control) === 1 }
    }),
    translation: at(ADDRESS_TRANSLATION_SERVICES, (offset) => {
      const { ATSCTL } = AddressTranslationServices
      return { isEnabled: ATSCTL.ENABLE.of(AddressTranslationServices.view(config, offset).ATSCTL) === 1 }
    }),
  }
}

/** Offset of each extended capability. Only PCI Express functions have any; without ECAM they are not visible. */
function extendedOffsets(config: DataView, isExpress: boolean): Known<Map<number, number>> {
  if (!isExpress) return new Map()
  if (config.byteLength < PCIE_CONFIG_BYTES) return unknown('the kernel exposes only 256 bytes of it')
  return new Map(extendedCapabilities(config).map(({ id, offset }) => [id, offset]))
}

const KINDS: readonly (readonly [code: number, kind: FunctionKind])[] = [
  [PciExpressCapability.PXCAP.DPT.ENDPOINT, 'endpoint'],
  [PciExpressCapability.PXCAP.DPT.LEGACY_ENDPOINT, 'endpoint'],
  [PciExpressCapability.PXCAP.DPT.ROOT_PORT, 'root-port'],
  [PciExpressCapability.PXCAP.DPT.UPSTREAM, 'switch-upstream'],
  [PciExpressCapability.PXCAP.DPT.DOWNSTREAM, 'switch-downstream'],
  [PciExpressCapability.PXCAP.DPT.PCI_BRIDGE, 'bridge'],
  [PciExpressCapability.PXCAP.DPT.PCIE_BRIDGE, 'bridge'],
  [PciExpressCapability.PXCAP.DPT.RC_ENDPOINT, 'integrated-endpoint'],
  [PciExpressCapability.PXCAP.DPT.RC_EVENT_COLLECTOR, 'integrated-endpoint'],
]

function decodeExpress(
  config: DataView,
  offset: number | undefined,
): Pick<ConfigFacts, 'kind' | 'packets' | 'aspm' | 'hasFunctionLevelReset'> {
  if (offset === undefined)
    return { kind: undefined, packets: undefined, aspm: undefined, hasFunctionLevelReset: false }
  const { PXCAP, PXDCAP, PXDC, PXLCAP, PXLC } = PciExpressCapability
  const view = PciExpressCapability.view(config, offset)
  const code = PXCAP.DPT.of(view.PXCAP)
  const kind = KINDS.find(([known]) => known === code)?.[1]
  const hasLink = kind !== 'integrated-endpoint'
  return {
    kind,
    packets: decodePackets(PXDCAP.MPS.of(view.PXDCAP), PXDC.MPS.of(view.PXDC), PXDC.MRRS.of(view.PXDC)),
    aspm: hasLink ? decodeAspm(PXLCAP.ASPMS.of(view.PXLCAP), PXLC.ASPMC.of(view.PXLC)) : undefined,
    hasFunctionLevelReset: PXDCAP.FLRC.of(view.PXDCAP) === 1,
  }
}

function decodePackets(supported: number, payload: number, readRequest: number): Known<Packets> {
  if (Math.max(supported, payload, readRequest) > 5) return unknown('its packet sizes are reserved values')
  return {
    maxPayloadSupportedBytes: payloadBytes(supported),
    maxPayloadBytes: payloadBytes(payload),
    maxReadRequestBytes: payloadBytes(readRequest),
  }
}

function decodeAspm(supported: number, enabled: number): Aspm {
  const states = (bits: number) => (['L0s', 'L1'] as const).filter((_, index) => ((bits >>> index) & 1) === 1)
  return { supported: states(supported), enabled: states(enabled) }
}

const ACS_BITS = ['SV', 'TB', 'RR', 'CR', 'UF', 'EC', 'DT'] as const satisfies readonly AcsBit[]

function decodeAcs(config: DataView, offset: number): Acs {
  const { ACSCAP, ACSCTL } = AccessControlServices
  const view = AccessControlServices.view(config, offset)
  return {
    supported: ACS_BITS.filter((name) => ACSCAP[name].of(view.ACSCAP) === 1),
    enabled: ACS_BITS.filter((name) => ACSCTL[name].of(view.ACSCTL) === 1),
  }
}

const MIB = 2 ** 20

function decodeResizable(config: DataView, offset: number): ResizableBar[] {
  const { REBARCAP, REBARCTL } = ResizableBarEntry
  const first = ResizableBarEntry.view(config, offset + 4)
  // An entry past the end of configuration space is ignored.
  const room = Math.floor((PCIE_CONFIG_BYTES - offset - 4) / ResizableBarEntry.bytes)
  const count = Math.min(REBARCTL.NBAR.of(first.REBARCTL), room)
  return Array.from({ length: count }, (_, index) => {
    const entry = ResizableBarEntry.view(config, offset + 4 + index * ResizableBarEntry.bytes)
    const sizes = REBARCAP.SIZES.of(entry.REBARCAP)
    return {
      bar: REBARCTL.BAR_IDX.of(entry.REBARCTL),
      sizeBytes: MIB * 2 ** REBARCTL.BAR_SIZE.of(entry.REBARCTL),
      sizesBytes: Array.from({ length: 28 }, (_, bit) => bit).flatMap((bit) =>
        (sizes >>> bit) & 1 ? [MIB * 2 ** bit] : [],
      ),
    }
  })
}

function decodeErrors(config: DataView, offset: number): Errors {
  const { AERUCES, AERCES } = AdvancedErrorReporting.fields
  const view = AdvancedErrorReporting.view(config, offset)
  return { uncorrectable: namesOf(AERUCES.rows, view.AERUCES), correctable: namesOf(AERCES.rows, view.AERCES) }
}

function namesOf(rows: Readonly<Record<string, { readonly lsb: number }>>, value: number): string[] {
  return Object.entries(rows).flatMap(([name, { lsb }]) => ((value >>> lsb) & 1 ? [name] : []))
}
