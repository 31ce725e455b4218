import { describe, expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { ReservationNotificationMask, ReservationPersistence } from './reservation.js'

describe('features of reservations (libnvme 1.3)', () => {
  it('Reservation Notification Mask: the bits of nvme_feat_resv_notify_flags', () => {
    expect(rowsOf(ReservationNotificationMask.CDW11)).toEqual([
      ['REGPRE', 1, 1],
      ['RESREL', 2, 2],
      ['RESPRE', 3, 3],
    ])
  })

  it('Reservation Persistence: PTPL is bit 0 (NVME_FEAT_RP_PTPL_SHIFT)', () => {
    expect(rowsOf(ReservationPersistence.CDW11)).toEqual([['PTPL', 0, 0]])
  })
})
