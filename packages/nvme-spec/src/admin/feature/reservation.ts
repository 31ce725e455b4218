import { bit, feature } from '../../layout/index.js'
import { FID } from '../features.js'

/** Reservation Notification Mask (FID 82h): notifications of a namespace that are suppressed. */
export const ReservationNotificationMask = feature(
  'Reservation Notification Mask',
  {
    fid: FID.RESERVATION_NOTIFICATION_MASK,
    doc: 'Masked reservation notifications',
    spec: 'libnvme 1.3 nvme_feat_resv_notify_flags',
  },
  {
    CDW11: {
      REGPRE: bit(1, 'Mask Registration Preempted Notification'),
      RESREL: bit(2, 'Mask Reservation Released Notification'),
      RESPRE: bit(3, 'Mask Reservation Preempted Notification'),
    },
  },
)

/** Reservation Persistence (FID 83h): whether reservations of a namespace persist through a power loss. */
export const ReservationPersistence = feature(
  'Reservation Persistence',
  {
    fid: FID.RESERVATION_PERSISTENCE,
    doc: 'Persistence of reservations through power loss',
    spec: 'libnvme 1.3 NVME_FEAT_RP_PTPL_SHIFT',
  },
  { CDW11: { PTPL: bit(0, 'Persist Through Power Loss') } },
)
