import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { ReservationNotificationLog } from './log-reservation.js'

describe('Reservation Notification (LID 80h, Base 2.1 §5.1.12.1.32)', () => {
  it('has its fields at the bytes of Figure 290', () => {
    expect([ReservationNotificationLog.bytes, ...bytesOf(ReservationNotificationLog)]).toEqual([
      64,
      ['LPC', 0, 8],
      ['RNLPT', 8, 1],
      ['NALP', 9, 1],
      ['NSID', 12, 4],
    ])
    expect(valuesOf(ReservationNotificationLog.fields.RNLPT)).toEqual({
      ...{ EMPTY: 0, REGISTRATION_PREEMPTED: 1, RESERVATION_RELEASED: 2, RESERVATION_PREEMPTED: 3 },
    })
  })

  it('decodes a notification; an empty page prints as nothing', () => {
    const page = sparse(64, { 0: '09 00 00 00 00 00 00 00 02 03', 12: '05' })
    expect(ReservationNotificationLog.decode(page)).toEqual({ LPC: 9n, RNLPT: 2, NALP: 3, NSID: 5 })
    expect(ReservationNotificationLog.describe(page)).toContain('RNLPT=RESERVATION_RELEASED')
    expect(ReservationNotificationLog.describe(sparse(64, {}))).toEqual([])
  })
})
