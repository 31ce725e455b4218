import {
  Arbitration,
  AsynchronousEventConfiguration,
  HostBehavior,
  InterruptCoalescing,
  InterruptVectorConfiguration,
  TemperatureThreshold,
  VolatileWriteCache,
} from '@gpunvme/nvme-spec'
import type { Device } from '../controller/device.js'
import { dwordFeatures } from './table.js'
import { ControllerTime } from './timestamp.js'

/**
 * The values of all features: current, saved and default (Base 2.3 §4.4). Values that commands need are decoded once,
 * on change.
 */
export class Features {
  /** Arbitration settings; weights are 0's based. */
  arbitration!: ReturnType<typeof Arbitration.CDW11.decode>
  /** Coalescing of I/O queue interrupts; THR is 0's based, TIME in units of 100 microseconds. */
  interruptCoalescing!: ReturnType<typeof InterruptCoalescing.CDW11.decode>
  /** Enabled SMART warnings and notices. */
  events!: ReturnType<typeof AsynchronousEventConfiguration.CDW11.decode>
  /** Whether writes may stay in a cache that a power loss empties. */
  volatileWriteCache!: boolean
  /** Behavior supported by the host: 512 bytes, all zero until set. */
  readonly hostBehavior = HostBehavior.create()
  readonly time: ControllerTime
  /** Number of Queues was set: the allocation does not change until a reset (Base 2.3 §5.2.26.2.1). */
  areQueuesAllocated = false
  private readonly device: Device
  /**
   * Current values by feature identifier and instance; a missing entry falls back to the saved value, then the default.
   */
  private readonly current = new Map<number, number>()
  private readonly saved = new Map<number, number>()

  constructor(device: Device) {
    this.device = device
    this.time = new ControllerTime(device.clock)
    this.decode()
  }

  /** Coalescing of an interrupt vector; `CD` is 1 if disabled. */
  interruptVector(vector: number): ReturnType<typeof InterruptVectorConfiguration.CDW11.decode> {
    return InterruptVectorConfiguration.CDW11.decode(this.get(InterruptVectorConfiguration.fid, vector))
  }

  /** A threshold of the composite temperature, in kelvins; `type` is OVER or UNDER of THSEL. */
  temperatureThreshold(type: number): number {
    return TemperatureThreshold.CDW11.TMPTH.of(this.get(TemperatureThreshold.fid, type))
  }

  /** Returns the current value. `instance` is an NSID, or selects one of several values of a feature. */
  get(fid: number, instance = 0): number {
    return this.current.get(keyOf(fid, instance)) ?? this.getSaved(fid, instance)
  }

  /** Returns the saved value, or the default if none was saved. */
  getSaved(fid: number, instance = 0): number {
    return this.saved.get(keyOf(fid, instance)) ?? this.getDefault(fid, instance)
  }

  getDefault(fid: number, instance = 0): number {
    return dwordFeatures.get(fid)!.default(this.device, instance)
  }

  set(fid: number, instance: number, value: number, isSaved: boolean): void {
    this.current.set(keyOf(fid, instance), value)
    if (isSaved) this.saved.set(keyOf(fid, instance), value)
    this.decode()
  }

  /** Controller Level Reset: unsaved values are lost (Base 2.3 §4.4, Figure 125). */
  reset(): void {
    this.current.clear()
    new Uint8Array(this.hostBehavior.data.buffer).fill(0)
    this.time.reset()
    this.areQueuesAllocated = false
    this.decode()
  }

  /** A namespace was deleted: a later one with its NSID begins with default values. */
  forgetNamespace(nsid: number): void {
    for (const { fid, scope } of dwordFeatures.values()) {
      if (scope !== 'namespace') continue
      this.current.delete(keyOf(fid, nsid))
      this.saved.delete(keyOf(fid, nsid))
    }
  }

  private decode(): void {
    this.arbitration = Arbitration.CDW11.decode(this.get(Arbitration.fid))
    this.interruptCoalescing = InterruptCoalescing.CDW11.decode(this.get(InterruptCoalescing.fid))
    this.events = AsynchronousEventConfiguration.CDW11.decode(this.get(AsynchronousEventConfiguration.fid))
    this.volatileWriteCache =
      this.device.profile.identify.VWC !== 0 && VolatileWriteCache.CDW11.WCE.of(this.get(VolatileWriteCache.fid)) === 1
  }
}

function keyOf(fid: number, instance: number): number {
  return fid * 2 ** 32 + instance
}
