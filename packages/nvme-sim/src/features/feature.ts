import type { StatusCode } from '@gpunvme/nvme-spec'
import type { AnyWord32 } from '@gpunvme/nvme-spec/layout'
import type { Device } from '../controller/device.js'

/** A feature whose value is a dword, as this controller has it. */
export interface DwordFeature {
  readonly fid: number
  /** The rows of CDW11; bits that none of them declares are not kept. */
  readonly word: AnyWord32
  /** Of what there is one value each (Base 2.3 §5.2.26, Figure 403; of FID 05h and 0Ah NVM 1.2 §4.1.3). */
  readonly scope: 'controller' | 'namespace'
  readonly isSaveable: boolean
  /** What is in force where nothing was set or saved. */
  readonly default: (device: Device, instance: number) => number
  /** Which of its values CDW11 names, for a feature of the controller that has several. */
  readonly instanceOf?: (cdw11: number) => number
  /** Why there is no such feature here, or not the value of it that CDW11 names. */
  readonly missing?: (cdw11: number, device: Device, isSet: boolean) => StatusCode | undefined
  /** Why Set Features cannot have this. */
  readonly refuse?: (cdw11: number, device: Device, nsid: number) => StatusCode | undefined
  /** Dword 0 of Get Features, where it is not the value as it was set. */
  readonly shown?: (value: number) => number
  /** A new value has come into force. */
  readonly changed?: (device: Device) => void
}
