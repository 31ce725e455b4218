import { CAP, DOORBELL_BASE } from '@gpunvme/nvme-spec'
import type { ArmedPlan, MatchedFaults } from '@gpunvme/nvme-spec/faults'
import type { Bar } from '@gpunvme/nvme-spec/transport'
import { show } from '../check-options.js'
import type { Agenda } from './agenda.js'
import type { FaultyDevice } from './faulty-device.js'

const ALL_ONES = 0xffff_ffff

/** Registers with the faults of a plan. Accesses have 32 bits; one of 64 bits is two, the lower half first. */
export class FaultyBar implements Bar {
  readonly lengthBytes: number
  private readonly inner: Bar
  private readonly device: FaultyDevice
  private readonly plan: ArmedPlan
  private readonly agenda: Agenda
  private stride: number | undefined

  constructor(inner: Bar, device: FaultyDevice, plan: ArmedPlan, agenda: Agenda) {
    this.lengthBytes = inner.lengthBytes
    this.inner = inner
    this.device = device
    this.plan = plan
    this.agenda = agenda
  }

  read32(offset: number): number {
    this.check(offset, 4)
    const matched = this.matchFaults('read', offset)
    if (this.device.isGone) return ALL_ONES
    return matched?.get('read-value')?.value ?? this.device.seen(offset, this.inner.read32(offset))
  }

  write32(offset: number, value: number): void {
    this.check(offset, 4)
    const matched = this.matchFaults('write', offset)
    if (this.device.isGone) return
    if (matched?.has('lose-write')) {
      this.plan.record(matched, 'lose-write')
      return
    }
    const delay = matched?.get('delay-write')
    if (delay) this.plan.record(matched!, 'delay-write')
    this.device.post(delay?.delayNs ?? 0, () => {
      if (this.device.takes(offset, value)) this.inner.write32(offset, value)
    })
  }

  read64(offset: number): bigint {
    this.check(offset, 8)
    return BigInt(this.read32(offset)) | (BigInt(this.read32(offset + 4)) << 32n)
  }

  write64(offset: number, value: bigint): void {
    this.check(offset, 8)
    this.write32(offset, Number(value & 0xffff_ffffn))
    this.write32(offset + 4, Number(value >> 32n))
  }

  private matchFaults(access: 'read' | 'write', offset: number): MatchedFaults | undefined {
    this.agenda.catchUp()
    if (!this.plan.affectsAccesses || this.device.isGone) return undefined
    const matched = this.plan.matchAccess(access, offset, offset < DOORBELL_BASE ? 4 : this.strideBytes())
    if (matched === undefined) return undefined
    this.plan.record(matched, 'read-value')
    this.device.applyFaults(matched)
    return matched
  }

  /** Returns the distance of doorbells, which is read from the device once, without faults. */
  private strideBytes(): number {
    this.stride ??= 2 ** (2 + CAP.DSTRD.of(this.inner.read64(CAP.offset)))
    return this.stride
  }

  /** Checks an access, so that neither a removed device nor a lost write hides a host error. */
  private check(offset: number, widthBytes: number): void {
    if (Number.isInteger(offset) && offset >= 0 && offset % widthBytes === 0 && offset < this.lengthBytes) return
    const Wrong = typeof offset === 'number' ? RangeError : TypeError
    const expected = `a multiple of ${widthBytes} below 0x${this.lengthBytes.toString(16)}`
    throw new Wrong(`register access: expected ${expected}, got ${show(offset)}`)
  }
}
