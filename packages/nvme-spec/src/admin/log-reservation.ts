import { oneOf, struct, u32, u64, u8 } from '../layout/index.js'

/**
 * Reservation Notification (LID 80h; Base 2.1 §5.1.12.1.32, Figure 290): the oldest one, or all zero if there is none.
 */
export const ReservationNotificationLog = struct(
  'Reservation Notification',
  { bytes: 64, doc: 'The log page (LID 80h)', spec: 'Base 2.1 §5.1.12.1.32' },
  {
    LPC: u64(0, 'Log Page Count'),
    RNLPT: oneOf(u8(8, 'Reservation Notification Log Page Type'), {
      EMPTY: 0,
      REGISTRATION_PREEMPTED: 1,
      RESERVATION_RELEASED: 2,
      RESERVATION_PREEMPTED: 3,
    }),
    NALP: u8(9, 'Number of Available Log Pages besides this one'),
    NSID: u32(12, 'Namespace ID'),
  },
)
