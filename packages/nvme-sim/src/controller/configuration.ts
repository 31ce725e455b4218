import { CAP, CC } from '@gpunvme/nvme-spec'
import type { Device } from './device.js'

// Fields that a write to CC cannot change: their old bits are restored and a diagnostic is reported.

/** Fields of CC that may change only while CC.EN is 0 (Base 2.1 §3.1.4.5). */
const FIXED_FIELDS = [CC.CSS, CC.MPS, CC.AMS] as const
const FIXED_BITS = FIXED_FIELDS.reduce((bits, { msb, lsb }) => bits | ((1 << (msb + 1)) - (1 << lsb)), 0)

/** Restores fields that must not change while the controller is enabled. */
export function keepFixedFields(device: Device, before: number): void {
  const { registers, configuration: after, diagnostics } = device
  const changed = FIXED_FIELDS.filter((field) => field.of(before) !== field.of(after)).map(({ name }) => `CC.${name}`)
  if (changed.length === 0) return
  diagnostics.report('ignored-setting', `host changed ${changed.join(', ')} while CC.EN = 1: that has no effect`)
  registers.set(CC, ((after & ~FIXED_BITS) | (before & FIXED_BITS)) >>> 0)
}

/** Restores bits of CC that are reserved or not writable in this controller. */
export function keepReservedFields(device: Device, before: number): void {
  const { registers, diagnostics, queues, capabilities } = device
  const { SHN, CRIME, IOSQES, IOCQES } = CC.decode(registers.get32(CC))
  if (CRIME === 1 && (CAP.CRWMS.of(capabilities) & CAP.CRIMS.of(capabilities)) === 0) {
    diagnostics.report(
      'reserved-bits',
      'host set CC.CRIME, which is read-only: CAP.CRMS does not support both ready modes',
    )
    registers.set(CC, CC.encode({ CRIME: 0 }, registers.get32(CC)))
  }
  if (SHN === 3) {
    diagnostics.report('reserved-bits', 'host set CC.SHN to 11b, which is reserved: that has no effect')
    registers.set(CC, CC.encode({ SHN: CC.SHN.NONE }, registers.get32(CC)))
  }
  const hasNewSizes = IOSQES !== CC.IOSQES.of(before) || IOCQES !== CC.IOCQES.of(before)
  if (CC.EN.of(registers.get32(CC)) === 1 && hasNewSizes && queues.hasIoQueues()) {
    diagnostics.report(
      'ignored-setting',
      'host changed CC.IOSQES or CC.IOCQES while I/O queues exist: those keep their entry sizes',
    )
  }
}
