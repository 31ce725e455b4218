import type { StatusCode } from '@gpunvme/nvme-spec'
import type { AnyWord32 } from '@gpunvme/nvme-spec/layout'
import type { Device } from '../controller/device.js'

/** A feature whose value is a dword. */
export interface DwordFeature {
  readonly fid: number
  /** The rows of CDW11; undeclared bits are not stored. */
  readonly word: AnyWord32
  /** Scope of its values (Base 2.3 §5.2.26, Figure 403; for FID 05h and 0Ah NVM 1.2 §4.1.3). */
  readonly scope: 'controller' | 'namespace'
  readonly isSaveable: boolean
  /** Value in effect if none was set or saved. */
  readonly default: (device: Device, instance: number) => number
  /** Selects one of several values by CDW11, for a feature of the controller. */
  readonly instanceOf?: (cdw11: number) => number
  /** Returns why the feature, or the value selected by CDW11, does not exist. */
  readonly missing?: (cdw11: number, device: Device, isSet: boolean) => StatusCode | undefined
  /** Returns why Set Features rejects this value. */
  readonly refuse?: (cdw11: number, device: Device, nsid: number) => StatusCode | undefined
  /** Converts the value to Dword 0 of Get Features, if it is not the value as set. */
  readonly shown?: (value: number) => number
  /** Called when a new value takes effect. */
  readonly changed?: (device: Device) => void
}
